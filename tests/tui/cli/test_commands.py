"""What all commands share: wrong calls, roots, mistakes in settings, the label store, and the form of their output."""

import json
import os
from pathlib import Path

import click
import pytest

from engine.settings.trust import trust
from tests.engine.builders import memory, write_root
from tests.test_command_reference import COMMANDS as ALL
from tests.tui.cli.command_line import ASK, MAIN, PROJECT, jsonl, memsift, printed, refused
from tests.tui.cli.every_command import PLAIN, plain, prepare
from tests.tui.demo import DEMO_ROOT
from tests.tui.terminal import printed_in


def test_a_wrong_call_says_how_to_call_it() -> None:
    for arguments in (["nonsense"], ["search"], ["--nonsense"], ["search", "x", "--max-results", "0"]):
        result = memsift(*arguments)
        assert (result.exit_code, result.stdout, "Usage: memsift" in result.stderr) == (2, "", True), arguments


# Roots


def test_a_missing_or_empty_root_is_named_with_the_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (["search", "x"], ["report"], []):
        line = refused(memsift(*arguments))
        assert ("--root" in line, "memsift demo" in line) == (True, True)
    line = refused(memsift("search", "x", "--root", tmp_path / "no[/b]where"))
    assert (line[:9], str(tmp_path / "no[/b]where") in line, "--root" in line) == ("memsift: ", True, True)
    assert "\x1b" not in refused(memsift("search", "x", "--root", tmp_path / "evil\n\x1b[2Jname"))
    (tmp_path / "file").write_text("x")
    assert str(tmp_path / "file") in refused(memsift("search", "x", "--root", tmp_path / "file"))
    (tmp_path / "empty").mkdir()
    result = memsift("search", "anything", "--root", tmp_path / "empty")
    assert (printed(result)["total_results"], "holds no memories: " in result.stderr) == (0, True)


def test_skipped_files_are_counted_on_stderr_and_the_rest_is_found(tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys")])
    (root / "decisions" / "a-broken.json").write_text("{", encoding="utf-8")
    (root / "decisions" / "b-bytes.json").write_bytes(b"\xff\xfe\x00")
    (root / "decisions" / "c-deep.json").write_text("[" * 200_000, encoding="utf-8")
    (root / "runbooks").symlink_to(tmp_path)
    result = memsift("search", "signing", "--root", root)
    assert printed(result)["total_results"] == 1
    (line,) = result.stderr.splitlines()
    assert "4 skipped" in line


# Settings


def settings(root: Path, text: str) -> None:
    (root / "memory-config.json").write_text(text, encoding="utf-8")
    trust(str(root), os.environ)


MISTAKES = {
    '{"retrieval": {"max_inject": ': "line 1",
    '{"retrieval": {"max_inject": "many"}}': "'retrieval.max_inject' is 'many'",
    '{"retrieval": {"judge": {"time_out_per_call": 3}}}': "Did you mean 'timeout_per_call'?",
}
"""One of each kind. The rules behind them have their tests in `engine/settings` and `engine/hook`."""


def test_every_command_refuses_a_mistake_in_the_settings_of_a_root_or_in_a_variable(root: Path, tmp_path: Path) -> None:
    prompts = jsonl(tmp_path / "prompts.jsonl", {"id": "p1", "prompt": ASK})
    commands = (["search", ASK], ["replay", "--prompts", prompts], ["report"], ["gate", "--min-precision", "0.5"])
    for content, says in MISTAKES.items():
        settings(root, content)
        for command in commands:
            line = refused(memsift(*command, "--root", root))
            assert line.startswith(f"memsift: {root}/memory-config.json"), command
            assert says in line
    settings(root, "{}")
    for command in commands:
        line = refused(memsift(*command, "--root", root, MEMSIFT_MAX_INJECT="many"))
        assert line.startswith("memsift: MEMSIFT_MAX_INJECT: 'retrieval.max_inject' is 'many'"), command


# The label store


def test_a_command_that_reads_refuses_a_missing_label_store_and_makes_none(tmp_path: Path) -> None:
    store = tmp_path / "data" / "label.db"
    for line in ("report", "gate --min-precision .8", "tune --target-precision .8", "export", "label --next 3"):
        line = refused(memsift(*line.split(), "--root", DEMO_ROOT, "--db", store))
        assert f"There is no label store {store}. Check --db and MEMSIFT_DB." in line
    assert "There is no label store" in refused(memsift("export", MEMSIFT_DB=str(store)))
    assert not store.parent.exists()


def test_the_app_without_a_terminal_is_refused_before_anything_is_opened(private_home: Path) -> None:
    for arguments in (["--root", DEMO_ROOT], ["demo"]):
        assert "terminal" in refused(memsift(*arguments))
    assert list(private_home.rglob("labels.db")) == []


# The form of the output: commands that list give text to a terminal and JSON to a pipe, all others text everywhere

LISTS = {*"activity config history list prompts search show trust".split()}
LISTS |= {"phrases list", "phrases missing", "quality list"}
USUAL = {
    name.partition(" ")[2]: param.default
    for name, command in ALL.items()
    for param in command.params
    if param.name == "form" and isinstance(param.type, click.Choice) and {"text", "json"} <= {*param.type.choices}
}
"""Command with both formats -> the default, if it does not depend on stdout."""


def is_json(text: str) -> bool:
    try:
        return bool([json.loads(line) for line in text.splitlines()] if text[:2] == '{"' else [json.loads(text)])
    except ValueError:
        return False


def test_a_pipe_gets_json_from_lists_and_text_from_judgements_and_a_terminal_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert {name for name, usual in USUAL.items() if usual != "text"} == LISTS
    assert {name for name in LISTS if "--format" in PLAIN[name]} == set()
    memsift("tag", "job-queue-skip-locked", "--root", "root", "--add", "new")
    assert [name for name in LISTS if not is_json(memsift(*plain(name)).stdout)] == []
    assert not is_json(memsift(*plain("gate")).stdout)
    shown = printed_in([*MAIN, *plain("list")], PYTHONPATH=str(PROJECT))
    assert (bool(shown), is_json(shown)) == (True, False)
    assert is_json(printed_in([*MAIN, *plain("show"), "--format", "json"], PYTHONPATH=str(PROJECT)))
