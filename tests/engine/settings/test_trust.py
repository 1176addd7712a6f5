"""The list of trusted roots: bound to path and owner, private, and safe for processes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import ConfigError
from engine.paths import trust_file
from engine.settings.sources import read_config
from engine.settings.trust import change_of, is_trusted, keeping_trust, revoke, trust, trusted_roots
from engine.settings.values import write_settings
from tests.engine.hook.world import PROJECT
from tests.engine.settings.files import write

TRUST = "import sys; from engine.settings.trust import trust; trust(sys.argv[1], {'HOME': sys.argv[2]})"


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / "root").mkdir()
    return str(tmp_path / "root")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


def test_a_root_is_trusted_through_any_link_that_leads_to_it_until_that_is_taken_back(
    tmp_path: Path, root: str, environ: dict[str, str]
) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    for path in (str(link), root):
        trust(path, environ)
        assert is_trusted(root, environ)
        assert is_trusted(str(link), environ)
    assert [one.path for one in trusted_roots(environ)] == [root]
    assert not is_trusted(str(tmp_path), environ)
    link.unlink()
    (tmp_path / "other").mkdir()
    link.symlink_to("other")
    assert not is_trusted(str(link), environ)
    Path(root).rename(tmp_path / "moved")
    assert [change_of(one) for one in trusted_roots(environ)] == ["its folder is gone"]
    Path(root).symlink_to("other")
    assert not is_trusted(root, environ)
    assert [change_of(one) for one in trusted_roots(environ)] == ["its path is a link now"]
    assert [revoke(root, environ), revoke(root, environ)] == [True, False]


TRUSTED = {"judge": {"enabled": True, "modes": {"auto": {"prompt_file": "judge.txt"}}}, "max_inject": 5}
CHANGED = {
    "another provider": {"judge": {**TRUSTED["judge"], "provider": "openai", "model": "m"}, "max_inject": 5},  # type: ignore[dict-item]
    "a value that is the default": {"judge": {**TRUSTED["judge"], "provider": ""}, "max_inject": 5},  # type: ignore[dict-item]
    "a weaker limit": {**TRUSTED, "max_inject": 6},
    "a key that is gone": {"judge": TRUSTED["judge"]},
    "prompts in the log": {**TRUSTED, "logging": {"prompts": True}},
}
HARMLESS = {
    "other order": dict(reversed(TRUSTED.items())),
    "keys that every root may set": {**TRUSTED, "match_strategy": "title_tags", "output_mode": "tiered", "hints": True},
    "keys of other programs": {**TRUSTED, "verification": {"enabled": True}},
}


@pytest.fixture
def trusted(root: str, environ: dict[str, str]) -> Path:
    """A root with a judge and its instructions, as the user trusted it."""
    (Path(root) / "judge.txt").write_text("Keep what helps.\n{format}", encoding="utf-8")
    write(Path(root), {"retrieval": TRUSTED})
    trust(root, environ)
    return Path(root)


@pytest.mark.parametrize("retrieval", CHANGED.values(), ids=CHANGED)
def test_settings_that_changed_since_are_not_trusted(
    trusted: Path, environ: dict[str, str], retrieval: dict[str, object]
) -> None:
    before = read_config(str(trusted), environ)
    assert before.config.judge.enabled
    write(trusted, {"retrieval": retrieval})
    now = read_config(str(trusted), environ)
    assert not now.config.judge.enabled
    assert now.config.max_inject == 3
    assert "this root is not trusted any more: its settings changed. To allow: memsift trust " in now.notice
    assert [change_of(one) for one in trusted_roots(environ)] == ["its settings changed"]
    trust(str(trusted), environ)
    assert read_config(str(trusted), environ).config.judge.enabled
    write(trusted, {"retrieval": TRUSTED})
    assert not is_trusted(str(trusted), environ)


def test_instructions_for_the_judge_that_changed_since_are_not_trusted(trusted: Path, environ: dict[str, str]) -> None:
    assert "what helps" in read_config(str(trusted), environ).config.judge.modes.auto.prompt
    (trusted / "judge.txt").write_text("Keep all.\n{format}", encoding="utf-8")
    assert not read_config(str(trusted), environ).config.judge.enabled


@pytest.mark.parametrize("retrieval", HARMLESS.values(), ids=HARMLESS)
def test_changes_that_need_no_trust_take_none_away(
    trusted: Path, environ: dict[str, str], retrieval: dict[str, object]
) -> None:
    write(trusted, {"retrieval": retrieval, "delete": {"grace_period_days": 3}})
    assert is_trusted(str(trusted), environ)


def test_a_root_of_another_owner_or_that_an_earlier_version_trusted_is_asked_about_again(
    trusted: Path, environ: dict[str, str]
) -> None:
    file = Path(trust_file(environ))
    listed = json.loads(file.read_text("utf-8"))
    (entry,) = listed["roots"]
    earlier = {name: value for name, value in entry.items() if name != "settings"}
    for changed, reason in (({**entry, "owner": entry["owner"] + 1}, "owner"), (earlier, "settings")):
        file.write_text(json.dumps({**listed, "roots": [changed]}), encoding="utf-8")
        assert not is_trusted(str(trusted), environ)
        assert [change_of(one) for one in trusted_roots(environ)] == [f"its {reason} changed"]
    trust(str(trusted), environ)
    assert is_trusted(str(trusted), environ)


def test_what_the_user_changes_through_memsift_stays_trusted(trusted: Path, environ: dict[str, str]) -> None:
    def change(value: int) -> str:
        return keeping_trust(
            str(trusted), environ, lambda: write_settings(str(trusted), {("judge", "context_turns"): value})
        )

    assert change(2) == str(trusted / "memory-config.json")
    assert is_trusted(str(trusted), environ)
    write(trusted, {"retrieval": CHANGED["a weaker limit"]})
    change(3)
    assert not is_trusted(str(trusted), environ)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"roots": 3}', '{"roots": [{}]}', '{"roots": [{"path": "/", "owner": "me", "since": ""}]}'],
)
def test_with_a_broken_list_nothing_is_trusted_and_the_list_stays(
    root: str, environ: dict[str, str], content: str
) -> None:
    trust(root, environ)
    file = Path(trust_file(environ))
    file.write_text(content, encoding="utf-8")
    for function in (is_trusted, trust, revoke):
        with pytest.raises(ConfigError, match=r"trusted\.json cannot be read .*, so no root is trusted"):
            function(root, environ)
    assert file.read_text("utf-8") == content


def test_processes_that_trust_at_once_lose_nothing(tmp_path: Path, environ: dict[str, str]) -> None:
    roots = [tmp_path / f"root{number}" for number in range(8)]
    for root in roots:
        root.mkdir()
    command = [sys.executable, "-c", TRUST]
    running = [subprocess.Popen([*command, str(root), environ["HOME"]], cwd=PROJECT) for root in roots]
    assert [process.wait(60) for process in running] == [0] * 8
    assert {one.path for one in trusted_roots(environ)} == set(map(str, roots))


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path, root: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be written"):
        trust(root, {"HOME": str(tmp_path / "file")})
