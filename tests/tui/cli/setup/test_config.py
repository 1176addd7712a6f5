"""`memsift config`: the value of each setting, where it comes from, and changing one in its file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from engine.config import CONFIG_FILE, Config
from engine.default_model import MEASURED, THRESHOLDS
from engine.paths import config_file
from engine.settings.roots import user_roots
from engine.settings.sources import read_config
from engine.settings.trust import trust
from tests.engine.builders import memory, write_root
from tests.tui.cli.command_line import memsift, printed, refused
from tui.workspace.app_settings import OWN, read_app_settings

USER = """\
# mine
roots = ["~/notes"]   # of all projects

[retrieval]
max_inject = 5 # five
judge = { enabled = true, model = "m" }

[other]
key = [1,
  2]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def user(private_home: Path) -> Path:  # noqa: ARG001
    path = Path(config_file(os.environ))
    path.parent.mkdir(parents=True)
    return path


def shown(root: Path, **environ: str) -> dict[str, Any]:
    return {row["key"]: row for row in printed(memsift("config", "--root", root, "--format", "json", **environ))}


def test_each_value_names_the_source_that_decides_it(root: Path, user: Path) -> None:
    user.write_text("[retrieval]\nmax_inject = 5\nmin_strength = 1.0\ndeadline = 1.0\n", encoding="utf-8")
    file = root / CONFIG_FILE
    file.write_text('{"retrieval": {"max_inject": 2, "deadline": 9, "hints": true, "min_strength": 0.1}}', "utf-8")
    rows = shown(root, MEMSIFT_NOISE_FLOOR="0.5", MEMSIFT_HINTS="off")
    found = {
        key: (row["value"], row["source"], row["place"], row["trusted"], row["ignored"]) for key, row in rows.items()
    }
    assert found["max_inject"] == (2, "root", str(file), False, None)
    assert found["min_strength"] == (1.0, "user", str(user), None, 0.1)
    assert found["deadline"] == (1.0, "user", str(user), None, 9)
    assert found["hints"] == (False, "variable", "MEMSIFT_HINTS", None, None)
    assert found["noise_floor"] == (0.5, "variable", "MEMSIFT_NOISE_FLOOR", None, None)
    assert found["judge.enabled"] == (False, "default", "", None, None)
    trust(str(root), os.environ)
    rows = shown(root)
    assert [rows["deadline"][name] for name in ("value", "source", "trusted", "ignored")] == [9.0, "root", True, None]
    text = memsift("config", "--root", root, "--format", "text").stdout
    assert len([line for line in text.splitlines() if line.split(maxsplit=1)[0] in rows]) >= len(rows)
    assert "deadline 9.0 root file, trusted" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80


def test_a_threshold_with_a_name_is_shown_with_its_number_and_its_shares(root: Path) -> None:
    memsift("config", "set", "cutoff_threshold", "generous")
    text = " ".join(memsift("config", "--root", root, "--format", "text").stdout.split())
    number = f"{THRESHOLDS['generous']:.3g}"
    served, useful = (round(100 * share) for share in MEASURED["generous"])
    assert f"generous is P(relevant) >= {number}. At most 25 % false fires, {served} % of the prompts in" in text
    assert f"{useful} % useful: measured in other projects." in text
    assert "judge.enabled: about $2 a month" in text
    memsift("config", "set", "cutoff_threshold", "0.4")
    assert memsift("config", "--root", root, "--format", "text").stdout.splitlines()[-1] == "0.4 is P(relevant) >= 0.4."


def test_every_setting_is_listed_and_can_be_got_and_set(root: Path) -> None:
    for key, row in shown(root).items():
        assert json.loads(memsift("config", "get", key, "--root", root).stdout) == row["value"]
        if key == "cutoff_model":
            refused(memsift("config", "set", key, "default"))
        elif row["value"] is not None and not key.startswith("judge.modes"):
            spelled = row["value"] if isinstance(row["value"], str) else json.dumps(row["value"])
            place = "" if key in OWN else "retrieval."
            done = memsift("config", "set", f"{place}{key}", spelled or "none")
            assert (done.exit_code, done.stdout) == (0, f"{config_file(os.environ)}\n"), done.output
    reading = read_config(str(root), os.environ)
    assert reading.mistakes == ()
    assert reading.config.judge.provider == "none"
    assert {row["source"] for row in shown(root).values() if row["key"] == "max_inject"} == {"user"}


def test_comments_and_everything_else_in_the_users_file_stay(user: Path) -> None:
    user.write_text(USER, encoding="utf-8")
    memsift("config", "set", "max_inject", "4")
    memsift("config", "set", "judge.enabled", "off")
    memsift("config", "set", "logging.prompts", "true")
    expected = USER.replace("max_inject = 5", "max_inject = 4").replace("enabled = true", "enabled = false")
    text = user.read_text("utf-8")
    assert text.replace("[retrieval.logging]\nprompts = true\n", "") in (
        expected,
        expected.replace("\n\n[other]", "\n[other]"),
    )
    memsift("config", "unset", "logging.prompts")
    memsift("config", "unset", "max_inject")
    assert "max_inject" not in user.read_text("utf-8")
    assert '["~/notes"]   # of all projects' in user.read_text("utf-8")
    assert read_config("", os.environ).config.max_inject == Config().max_inject


def test_a_missing_file_is_made_and_a_value_that_does_not_count_is_told(root: Path) -> None:
    memsift("config", "set", "max_inject", "4")
    path = Path(config_file(os.environ))
    assert path.read_text("utf-8") == "[retrieval]\nmax_inject = 4\n"
    done = memsift("config", "set", "max_inject", "4", MEMSIFT_MAX_INJECT="2")
    assert "max_inject stays 2: MEMSIFT_MAX_INJECT is stronger" in done.stderr
    assert "stays" not in memsift("config", "set", "max_inject", "4").stderr
    memsift("config", "set", "roots", "~")
    assert (user_roots(os.environ).roots, read_config("", os.environ).config.max_inject) == ((os.environ["HOME"],), 4)
    assert "roots can stand only in your config.toml" in memsift("config", "set", "roots", "~", "--root", root).stderr
    assert "has one value, but 2 were given" in memsift("config", "set", "max_inject", "1", "2").stderr
    assert not (root / CONFIG_FILE).exists()


def test_other_keys_of_the_roots_file_stay_as_they_are_written_and_so_does_its_trust(root: Path) -> None:
    file = root / CONFIG_FILE
    file.write_text('{\n\t"other" : [1,2],\n\t"retrieval": {\n\t\t"max_inject": 3\n\t}\n}\n', encoding="utf-8")
    memsift("config", "set", "max_inject", "2", "--root", root)
    assert file.read_text("utf-8") == '{\n\t"other" : [1,2],\n\t"retrieval": {\n\t\t"max_inject": 2\n\t}\n}\n'
    done = memsift("config", "set", "judge.enabled", "true", "--root", root)
    assert json.loads(file.read_text("utf-8"))["retrieval"]["judge"] == {"enabled": True}
    assert "memsift trust" in done.stderr
    memsift("config", "unset", "judge.enabled", "--root", root)
    assert json.loads(file.read_text("utf-8"))["retrieval"]["max_inject"] == 2
    file.write_text('{"retrieval": {"deadline": 9}}', encoding="utf-8")
    trust(str(root), os.environ)
    assert "trust" not in memsift("config", "set", "max_inject", "5", "--root", root).stderr
    assert memsift("config", "get", "max_inject", "--root", root).stdout == "5\n"


def test_the_users_roots_are_set_got_and_taken_out(user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user.write_text(USER, encoding="utf-8")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert printed(memsift("config", "get", "roots")) == ["~/notes"]
    done = memsift("config", "set", "roots", "one", tmp_path / "two", "one", "~")
    assert (done.exit_code, done.stdout) == (0, f"{user}\n"), done.output
    wanted = [str(tmp_path / "one"), str(tmp_path / "two"), "~"]
    assert printed(memsift("config", "get", "roots")) == wanted
    assert shown(tmp_path)["roots"]["place"] == str(user)
    assert user_roots(os.environ).roots == (*wanted[:2], os.environ["HOME"])
    kept = USER.replace('roots = ["~/notes"]', f"roots = {json.dumps(wanted)}")
    assert user.read_text("utf-8") == kept
    memsift("config", "set", "roots", json.dumps(["~", wanted[0]]))
    assert printed(memsift("config", "get", "roots")) == ["~", wanted[0]]
    memsift("config", "unset", "roots")
    assert (printed(memsift("config", "get", "roots")), user_roots(os.environ).roots) == ([], ())
    assert user.read_text("utf-8") == USER.replace('roots = ["~/notes"]   # of all projects\n', "")


def test_several_roots_have_the_settings_of_the_one_that_decides(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = [write_root(tmp_path / name, [memory(name)]) for name in ("one", "two")]
    for number, root in enumerate(roots, 1):
        (root / CONFIG_FILE).write_text(json.dumps({"retrieval": {"max_inject": number}}), encoding="utf-8")
    user.write_text(f"roots = {json.dumps([*map(str, roots)])}\n", encoding="utf-8")
    project = tmp_path / "project"
    write_root(project / ".claude/memory", [memory("of the project")])
    (project / ".claude/memory" / CONFIG_FILE).write_text('{"retrieval": {"max_inject": 3}}', encoding="utf-8")
    monkeypatch.chdir(project)
    got = memsift("config", "get", "max_inject")
    told = f"memsift: 3 roots are open together here. The settings are those of {roots[0]}."
    assert (got.stdout, got.stderr.splitlines()[-1]) == ("1\n", told)
    assert memsift("config", "get", "max_inject", "--root", roots[1]).stdout == "2\n"


def test_the_settings_of_the_app_are_set_got_and_taken_out(user: Path) -> None:
    def now() -> tuple[bool, dict[str, str]]:
        settings = read_app_settings(os.environ)
        return settings.has_grades, dict(settings.keys)

    memsift("config", "set", "label.grades", "on")
    memsift("config", "set", "keys.label.skip", "K")
    assert now() == (True, {"label.skip": "K"})
    assert printed(memsift("config", "get", "keys.label.skip")) == "K"
    user.write_text(user.read_text("utf-8").replace('"K"', '"K"\n"no.action" = "f2"'), "utf-8")
    for key in ("label.grades", "keys.label.skip", "keys.no.action"):
        memsift("config", "unset", key)
    assert now() == (False, {})


WRONG = {
    "max_inject many": "0 to 20",
    "cutoff on": "tuned",
    "judge.provider oracle": "anthropic",
    "judge.enable true": "Did you mean 'judge.enabled'?",
    "judge true": "no setting 'judge'",
    "roots /no/such/folder": "/no/such/folder",
    "label.grades perhaps": "true or false",
    "rots ~": "Did you mean 'roots'?",
    "keys.label.skp K": "Did you mean 'label.skip'?",
    "keys.label.skip no_such_key": "is no key",
    "keys.label.skip f2": "is the key of go.browse, too",
    "judge.modes.auto.prompt no_placeholders": "prompt",
}


def test_a_wrong_key_or_value_is_refused_and_nothing_is_written() -> None:
    for line, reason in WRONG.items():
        assert reason in refused(memsift("config", "set", *line.split())), line
        assert not Path(config_file(os.environ)).exists(), line


def test_a_broken_file_is_refused_with_its_line(root: Path, user: Path) -> None:
    user.write_text("# a\n[retrieval\nmax_inject = 3\n", encoding="utf-8")
    assert "line 2" in refused(memsift("config", "set", "max_inject", "4"))
    assert user.read_text("utf-8") == "# a\n[retrieval\nmax_inject = 3\n"
    done = memsift("config", "--root", root)
    assert done.exit_code == 0
    assert str(user) in done.stderr
    user.write_text("retrieval = 3\n", encoding="utf-8")
    assert str(user) in refused(memsift("config", "set", "max_inject", "4"))
    assert "leave one out" in memsift("config", "set", "max_inject", "4", "--root", root, "--user").stderr
