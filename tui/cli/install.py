"""`memsift install`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click

from engine.errors import MemsiftError
from engine.hook import process

TIMEOUT_S = 5
"""The client stops waiting after this time. Without a judge, the hook's own deadline is shorter."""


@click.command()
@click.option("--print", "is_print", is_flag=True, help="Print the `hooks` section of a settings.json.")
def install(is_print: bool) -> None:
    """Print the hook's settings for Claude Code.

    With them, Claude Code runs the hook on every prompt. Put them into .claude/settings.json. The printed command
    starts faster than `memsift-hook`, which does the same.
    """
    if not is_print:
        raise MemsiftError(
            "Use --print, and put its output into .claude/settings.json. memsift does not change that file itself."
        )
    click.echo(json.dumps(hook_settings(), indent=2))


def hook_command(executable: str | None = None) -> str:
    """The shell command that runs the hook with *executable*, or with this interpreter."""
    launcher = Path(process.__file__).resolve().with_name("launch.py")
    return shlex.join([executable or bare_interpreter(), "-I", "-S", str(launcher)])


def bare_interpreter() -> str:
    """The interpreter that the virtual environment was made from: the hook needs no package, and starts faster."""
    base = getattr(sys, "_base_executable", None)
    return base if base and Path(base).exists() else sys.executable


def hook_settings() -> dict[str, object]:
    """The `hooks` section of a settings.json, with this hook only."""
    entry = {"type": "command", "command": hook_command(), "timeout": TIMEOUT_S}
    return {"hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}}
