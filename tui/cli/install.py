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
"""After which the client goes on without an answer. The hook's own deadline is shorter, unless a judge is enabled."""


@click.command()
@click.option("--print", "is_print", is_flag=True, help="Print the settings that start the hook fastest.")
def install(is_print: bool) -> None:
    """Set the hook up in Claude Code: print the `hooks` section of a settings.json."""
    if not is_print:
        raise MemsiftError("There is only --print yet. Put what it prints into .claude/settings.json yourself.")
    click.echo(json.dumps(hook_settings(), indent=2))


def hook_command(executable: str | None = None) -> str:
    """The hook with this interpreter, for a shell. It behaves as `memsift-hook` does, which loads `site` first."""
    launcher = Path(process.__file__).resolve().with_name("launch.py")
    return shlex.join([executable or bare_interpreter(), "-I", "-S", str(launcher)])


def bare_interpreter() -> str:
    """This interpreter outside of its virtual environment: the hook needs no package, and starts 0.5 ms earlier."""
    base = getattr(sys, "_base_executable", None)
    return base if base and Path(base).exists() else sys.executable


def hook_settings() -> dict[str, object]:
    """What belongs into a settings.json: the `hooks` section, with this hook alone in it."""
    entry = {"type": "command", "command": hook_command(), "timeout": TIMEOUT_S}
    return {"hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}}
