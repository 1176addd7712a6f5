"""Every command: help, wrong calls, roots, loaded modules, and the terminal."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from engine import __version__
from tests.engine.builders import memory, write_root
from tests.tui.cli.command_line import MAIN, PROJECT, memsift, printed, process, refused
from tests.tui.demo import DEMO, DEMO_ROOT
from tui.cli import main

COMMANDS = tuple(main.list_commands(click.Context(main)))


def test_every_command_explains_itself() -> None:
    for command in ["", *COMMANDS]:
        for option in ["--help", "-h"]:
            result = memsift(*command.split(), option)
            assert result.exit_code == 0, (command, option)
            assert result.stdout.startswith("Usage: memsift"), (command, option)
            assert not result.stdout.splitlines()[2].startswith("Options:"), "the help says nothing about the command"
            assert all(name in result.stdout for name in (COMMANDS if not command else ())), (command, option)


def test_every_option_says_what_it_does() -> None:
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command, name
        options = [option for option in (*main.params, *command.params) if isinstance(option, click.Option)]
        assert [option.name for option in options if not option.help] == [], name


def test_the_version_is_printed() -> None:
    result = memsift("--version")
    assert (result.exit_code, result.stdout) == (0, f"memsift, version {__version__}\n")


@pytest.mark.parametrize("arguments", [["nonsense"], ["search"], ["--nonsense"], ["search", "x", "--max-results", "0"]])
def test_a_wrong_call_says_how_to_call_it(arguments: list[str]) -> None:
    result = memsift(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: memsift" in result.stderr


# Roots


def test_the_root_of_the_project_we_are_in_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_root(tmp_path / "project" / ".claude" / "memory", [memory("signing keys")])
    inside = tmp_path / "project" / "src" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert printed(memsift("search", "signing"))["total_results"] == 1


def test_an_empty_root_has_no_results_and_says_why(tmp_path: Path) -> None:
    result = memsift("search", "anything", "--root", tmp_path)
    assert printed(result)["total_results"] == 0
    assert "holds no memories: " in result.stderr


def test_a_missing_root_is_named_with_what_to_do(tmp_path: Path) -> None:
    line = refused(memsift("search", "x", "--root", tmp_path / "no[/b]where"))
    assert line.startswith("memsift: ")
    assert str(tmp_path / "no[/b]where") in line
    assert "--root" in line


def test_a_root_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    assert str(file) in refused(memsift("search", "x", "--root", file))


@pytest.mark.parametrize("arguments", [["search", "x"], ["report"], []])
def test_without_any_root_it_says_how_to_name_one(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = refused(memsift(*arguments))
    assert "--root" in line
    assert "memsift demo" in line


def test_a_broken_configuration_is_refused_with_its_file(tmp_path: Path) -> None:
    root = write_root(tmp_path / "root", [memory("signing keys")])
    (root / "memory-config.json").write_text('{"retrieval": {"max_inject": ', encoding="utf-8")
    assert "memory-config.json" in refused(memsift("search", "signing", "--root", root))
    (root / "memory-config.json").write_text('{"retrieval": {"max_inject": "many"}}', encoding="utf-8")
    line = refused(memsift("search", "signing", "--root", root))
    assert "retrieval.max_inject" in line
    assert "many" in line


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


def test_an_error_is_one_line_that_cannot_command_the_terminal(tmp_path: Path) -> None:
    line = refused(memsift("search", "x", "--root", tmp_path / "evil\n\x1b[2Jname"))
    assert "\x1b" not in line


# The label store


@pytest.mark.parametrize("by", ["option", "environment"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["report"],
        ["gate", "--min-precision", "0.8"],
        ["tune", "--target-precision", "0.8"],
        ["export"],
        ["label"],
        ["label", "--next", "3"],
    ],
    ids=" ".join,
)
def test_a_command_that_reads_refuses_a_missing_label_store_and_makes_none(
    arguments: list[str], by: str, tmp_path: Path
) -> None:
    store = tmp_path / "data" / "label.db"
    named, environ = (["--db", store], {}) if by == "option" else ([], {"MEMSIFT_DB": str(store)})
    line = refused(memsift(*arguments, "--root", DEMO_ROOT, *named, **environ))
    assert f"There is no label store {store}. Check --db and MEMSIFT_DB." in line
    assert not store.parent.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["replay", "--save", "--prompts", str(DEMO / "prompts.jsonl")],
        ["import", str(DEMO / "qrels.txt"), "--prompts", str(DEMO / "prompts.jsonl")],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_that_writes_makes_the_label_store(arguments: list[str], tmp_path: Path) -> None:
    store = tmp_path / "data" / "labels.db"
    assert memsift(*arguments, "--root", DEMO_ROOT, "--db", store).exit_code == 0
    assert store.is_file()


# The app and the terminal


@pytest.mark.parametrize("arguments", [["--root", DEMO_ROOT], ["demo"]])
def test_the_app_without_a_terminal_is_refused_before_anything_is_opened(
    arguments: list[str], private_home: Path
) -> None:
    done = process(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "terminal" in line
    assert list(private_home.rglob("labels.db")) == []


def test_a_reader_that_stops_early_gets_no_traceback() -> None:
    command = f'{sys.executable} -c "{MAIN[2]}" prompts {DEMO / "prompts.jsonl"} | head -1'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=PROJECT, timeout=60, check=False)
    assert done.stdout.startswith('{"id": "p01"')
    assert done.stderr == ""
