"""How commands end: Ctrl-C, a reader that stops, and errors that nobody expected."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from engine import __version__
from tests.tui.cli.command_line import MAIN, PROJECT, memsift
from tests.tui.cli.every_command import PLAIN, plain, prepare
from tui.cli import main

INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
from importlib.abc import MetaPathFinder
class Finder(MetaPathFinder):
    def find_spec(self, name, *_):
        if name == os.environ["AT"]:
            {act}
sys.meta_path.insert(0, Finder())
from memsift import main
main()
"""
"""memsift, with something that happens when the module in the variable AT is imported."""

CTRL_C = [sys.executable, "-c", INTERRUPTED.format(act="signal.raise_signal(signal.SIGINT)")]
FAULT = [sys.executable, "-c", INTERRUPTED.format(act="raise ZeroDivisionError('no[/b] zero')")]


def run(code: list[str], *arguments: str, at: str = "", cwd: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'tui/start'}", "AT": at}
    command = [*code, *arguments]
    return subprocess.run(
        command, env=environ, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )


CTRL_C_AT = {
    "list": "tui.cli.listing",
    "quality check --root root": "engine.quality.checks.safety",
    "doctor": "labels.store",
    "search cache --root root --explain": "engine.explaining.explain",
}


def test_ctrl_c_ends_with_130_and_no_traceback_and_an_early_one_without_a_word(tmp_path: Path) -> None:
    prepare(tmp_path)
    for command, at in CTRL_C_AT.items():
        done = run(CTRL_C, *command.split(), at=at, cwd=tmp_path)
        assert (done.returncode, done.stderr.splitlines()[-1:]) == (130, ["memsift: Stopped."]), command
        assert "Traceback" not in done.stderr
    done = run(CTRL_C, "list", at="click")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def without_reader(*arguments: str, cwd: Path) -> tuple[int, str]:
    """The exit code and stderr of a command whose stdout nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(
            [*MAIN, *arguments], env=environ, cwd=cwd, stdin=subprocess.DEVNULL, stdout=closed, stderr=-1, timeout=60
        )
    return done.returncode, done.stderr.decode()


def test_a_closed_pipe_ends_a_command_without_a_word(tmp_path: Path) -> None:
    prepare(tmp_path)
    for command in ("list --root root", "replay --root root --prompts prompts.jsonl", "--help", "-V"):
        code, told = without_reader(*command.split(), cwd=tmp_path)
        assert (code, "Traceback" in told, "written" in told) == (141, False, False), command


@pytest.mark.slow
def test_every_command_that_prints_ends_quietly_at_a_closed_pipe(tmp_path: Path) -> None:
    prepare(tmp_path)
    wrong = {}
    for name in PLAIN:
        code, told = without_reader(*plain(name), cwd=tmp_path)
        is_quiet = code == 141 and not {"Traceback", "Exception", "cannot be written"} & {*told.split()}
        if not is_quiet and run(MAIN, *plain(name), cwd=tmp_path).stdout:
            wrong[name] = (code, told)
    assert wrong == {}


def test_an_unexpected_error_is_a_line_and_with_debug_a_traceback() -> None:
    line = "memsift: A fault of memsift: ZeroDivisionError: no[/b] zero. The place is shown by memsift --debug COMMAND."
    done = run(FAULT, "list", at="tui.cli.listing")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{line}\n")
    done = run(FAULT, "--debug", "list", at="tui.cli.listing")
    assert done.returncode == 2
    assert done.stderr.startswith("Traceback (most recent call last)")
    assert done.stderr.splitlines()[-2:] == ["ZeroDivisionError: no[/b] zero", line]


def test_a_misspelt_command_gets_the_nearest_one() -> None:
    for typed, meant in (("serch", "search"), ("lst", "list"), ("quality chekc", "check"), ("config gte", "get")):
        done = memsift(*typed.split())
        assert done.exit_code == 2
        assert f"No such command '{typed.split()[-1]}'. Did you mean '{meant}'?" in done.stderr
        assert done.stderr.count("Did you mean") == 1


def test_the_version_has_a_short_option() -> None:
    assert memsift("-V").stdout == memsift("--version").stdout == f"memsift, version {__version__}\n"
    assert "--debug" in {name for param in main.params if isinstance(param, click.Option) for name in param.opts}
