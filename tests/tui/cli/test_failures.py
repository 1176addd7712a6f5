"""Failures of the system around a command: each ends in one line that says what to do, and with exit code 2."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.cli.command_line import ASK, MAIN, PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([*MAIN, *map(str, arguments)], env=environ, timeout=60, check=False, **streams)


def closing(*numbers: int) -> Callable[[], None]:
    """Close streams of the child before it becomes Python, as `>&-` of a shell does."""
    return lambda: [os.close(number) for number in numbers] and None


def test_a_full_stdout_is_told_in_a_line(root: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = run("list", "--root", root, stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "memsift: The output cannot be written (No space left on device), so it is not whole. "
        "Make room, or write to another place.\n"
    )


def test_a_full_stderr_costs_only_its_lines(root: Path) -> None:
    with Path("/dev/full").open("w") as full:
        assert run("show", "nobody", "--root", root, stderr=full).returncode == 2
        done = run("retire", "cache-rule-1", "--root", root, stderr=full)
    assert done.returncode == 0
    assert b'"retired"' in (root / "decisions/cache-rule-1.json").read_bytes()


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
