"""Every command: help, wrong calls, roots, loaded modules, and the terminal."""

from pathlib import Path

import click
import pytest

from tests.engine.builders import memory, write_root
from tests.tui.cli.command_line import memsift, printed, refused
from tests.tui.demo import DEMO_ROOT
from tui.cli import main

COMMANDS = tuple(main.list_commands(click.Context(main)))


def test_a_wrong_call_says_how_to_call_it() -> None:
    for arguments in (["nonsense"], ["search"], ["--nonsense"], ["search", "x", "--max-results", "0"]):
        result = memsift(*arguments)
        assert (result.exit_code, result.stdout, "Usage: memsift" in result.stderr) == (2, "", True), arguments


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


def test_a_missing_root_is_named_with_what_to_do_in_a_line_that_cannot_command_the_terminal(tmp_path: Path) -> None:
    line = refused(memsift("search", "x", "--root", tmp_path / "no[/b]where"))
    assert line.startswith("memsift: ")
    assert str(tmp_path / "no[/b]where") in line
    assert "--root" in line
    assert "\x1b" not in refused(memsift("search", "x", "--root", tmp_path / "evil\n\x1b[2Jname"))
    file = tmp_path / "file"
    file.write_text("x")
    assert str(file) in refused(memsift("search", "x", "--root", file))


def test_without_any_root_it_says_how_to_name_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (["search", "x"], ["report"], []):
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


# The label store


def test_a_command_that_reads_refuses_a_missing_label_store_and_makes_none(tmp_path: Path) -> None:
    store = tmp_path / "data" / "label.db"
    for line in (
        "report",
        "gate --min-precision .8",
        "tune --target-precision .8",
        "export",
        "label",
        "label --next 3",
    ):
        command = (*line.split(), "--root", DEMO_ROOT)
        for result in (memsift(*command, "--db", store), memsift(*command, MEMSIFT_DB=str(store))):
            assert f"There is no label store {store}. Check --db and MEMSIFT_DB." in refused(result), line
    assert not store.parent.exists()


# The app and the terminal


def test_the_app_without_a_terminal_is_refused_before_anything_is_opened(private_home: Path) -> None:
    for arguments in (["--root", DEMO_ROOT], ["demo"]):
        assert "terminal" in refused(memsift(*arguments))
    assert list(private_home.rglob("labels.db")) == []
