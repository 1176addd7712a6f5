"""The user's own settings: config.toml."""

import os
from pathlib import Path

import pytest

from engine.config import Config, ModeConfig
from engine.errors import ConfigError
from engine.settings.sources import read_config
from tests.engine.settings.files import load, load_config, user_file, write


def test_sources_override_each_other_in_their_order_and_other_tables_do_not_matter(tmp_path: Path) -> None:
    assert load_config(str(tmp_path), user_file(tmp_path, "[theme]\nname = 3\n[keys]\nretrieval = 'x'\n")) == Config()
    environ = user_file(tmp_path, "[retrieval]\nmax_inject = 7\nmax_results = 7\n[retrieval.judge]\nmodel = 'seven'\n")
    config = load_config(str(tmp_path), environ)
    assert (config.max_inject, config.max_results, config.judge.model) == (7, 7, "seven")
    root = write(tmp_path, {"retrieval": {"max_inject": 6, "max_results": 6}})
    config = load_config(root, environ)
    assert (config.max_inject, config.max_results, config.judge.model) == (6, 6, "seven")
    environ |= {"MEMSIFT_MAX_INJECT": "9", "MEMSIFT_JUDGE_MODEL": "eight"}
    assert load_config(root, environ).max_inject == 9
    assert load_config(root, environ).judge.model == "eight"
    assert load_config(root, {**environ, "--judge-model": "nine"}).judge.model == "nine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[retrieval]\nmax_inject = ", r"config.toml is not valid TOML"),
        ("retrieval = 3", r"config.toml: 'retrieval' is 3; expected an object with keys"),
        ("[retrieval]\nmax_inject = 1979-05-27", r"config.toml: 'retrieval.max_inject' is datetime.date"),
        ("[retrieval]\nmax_injects = 3", r"'retrieval.max_injects', set to 3, is unknown.*Did you mean 'max_inject'"),
        (f"retrieval = {'[' * 5000}", r"config.toml is not valid TOML"),
    ],
)
def test_a_mistake_in_the_users_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    environ = user_file(tmp_path, text)
    with pytest.raises(ConfigError, match=message):
        load_config(str(tmp_path), environ)
    assert read_config(str(tmp_path), environ).config == Config()


def test_the_users_file_may_be_a_link_and_name_prompt_files(tmp_path: Path) -> None:
    environ = user_file(tmp_path, "")
    file, elsewhere = tmp_path / ".config/memsift/config.toml", tmp_path / "dotfiles/config.toml"
    elsewhere.parent.mkdir()
    elsewhere.write_text("[retrieval.judge.modes.auto]\nprompt_file = 'mine.txt'\n", encoding="utf-8")
    file.unlink()
    file.symlink_to(elsewhere)
    (file.parent / "mine.txt").write_text("Mine. {format}", encoding="utf-8")
    assert load_config(str(tmp_path), environ).judge.modes.auto == ModeConfig("Mine. {format}", "mine.txt")
    assert load(tmp_path, {"judge": {"modes": {"auto": {"prompt": "Root. {format}"}}}}, environ).judge.modes.auto == (
        ModeConfig("Root. {format}")
    )


@pytest.mark.parametrize("trap", ["/dev/zero", "pipe", "folder"])
def test_in_place_of_the_users_file_only_a_file_is_read(tmp_path: Path, trap: str) -> None:
    environ = user_file(tmp_path, "")
    file = tmp_path / ".config/memsift/config.toml"
    file.unlink()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    file.symlink_to(tmp_path / trap)
    with pytest.raises(ConfigError, match=r"config\.toml is not a file"):
        load_config(str(tmp_path), environ)
