"""Failures of the system around a command: each ends in one line that says what to do, and with exit code 2."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tui.cli.command_line import ASK, MAIN, PROJECT
from tests.tui.cli.every_command import PLAIN, plain, prepare

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([*MAIN, *map(str, arguments)], env=environ, timeout=60, check=False, **streams)


def closing(*numbers: int) -> Callable[[], None]:
    """Close streams of the child before it becomes Python, as `>&-` of a shell does."""
    return lambda: [os.close(number) for number in numbers] and None


def test_a_full_stdout_is_told_in_a_line_and_a_full_stderr_costs_only_its_lines(root: Path) -> None:
    with Path("/dev/full").open("w") as full:
        for command in ("list --root root", "list --help", "--version"):
            done = run(*command.split(), cwd=root.parent, stdout=full)
            assert done.returncode == 2
            assert done.stderr.decode() == (
                "memsift: The output cannot be written (No space left on device), so it is not whole. "
                "Make room, or write to another place.\n"
            )
        assert run("show", "nobody", "--root", root, stderr=full).returncode == 2
        assert run("retire", "cache-rule-1", "--root", root, stderr=full).returncode == 0
    assert b'"retired"' in (root / "decisions/cache-rule-1.json").read_bytes()


@pytest.mark.slow
def test_every_command_tells_that_stdout_is_full_or_prints_nothing(tmp_path: Path) -> None:
    prepare(tmp_path)
    wrong = {}
    for name in PLAIN:
        with Path("/dev/full").open("w") as full:
            done = run(*plain(name), cwd=tmp_path, stdout=full)
        told = done.stderr.decode()
        is_told = done.returncode == 2 and told.count("The output cannot be written") == 1
        if "Exception" in told or (not is_told and run(*plain(name), cwd=tmp_path).stdout):
            wrong[name] = (done.returncode, told)
    assert wrong == {}


@pytest.mark.parametrize("encoding", ["latin-1", "ascii:strict", "utf-8:strict"])
def test_data_is_utf_8_in_every_locale_and_other_input_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    (tmp_path / "a.md").write_text("# The cache → 数据\n\nIt is cold.", "utf-8")
    done = run("list", "--root", tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "The cache → 数据" in done.stdout.decode()
    done = subprocess.run([*MAIN, "retire", "-"], input=b"caf\xe9", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == ("memsift: The input is no UTF-8 text. Convert it first: iconv -f latin1 -t utf-8\n")


def test_closed_streams_are_empty_ones(root: Path) -> None:
    done = run("search", ASK, "--root", root, preexec_fn=closing(1))
    assert (done.returncode, done.stderr) == (0, b"")
    done = run("retire", "-", "--root", root, preexec_fn=closing(0))
    assert done.stderr.decode() == "memsift: No memory was named, so nothing was changed.\n"
    assert run("list", "--root", root, preexec_fn=closing(0, 1, 2)).returncode == 0


def test_a_folder_that_was_removed_is_named_as_the_cause(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = run("list", cwd=gone, preexec_fn=gone.rmdir)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "memsift: The folder in which you are cannot be read (No such file or directory); it may be gone. "
        "Go to another: cd ~\n"
    )
