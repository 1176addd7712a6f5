"""`memsift install`."""

from __future__ import annotations

import os
import shlex
import sys
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.errors import MemsiftError
from engine.hook import process
from engine.hook.deadline import allowed_seconds
from engine.lean.json_text import printed_json
from engine.paths import PROJECT_FOLDER, find_root
from tui.workspace import opening

if TYPE_CHECKING:
    from engine.config import Config

LEAST_TIMEOUT_S = 5
MARGIN_S = 3
"""Time for work that no deadline covers: on a busy machine, the shell and Python start slowly."""


@click.command()
@click.option("--print", "is_print", is_flag=True, help="Print the `hooks` section of a settings.json.")
def install(is_print: bool) -> None:
    """Print the hook's settings for Claude Code.

    With them, Claude Code runs the hook on every prompt. Put them into .claude/settings.json.

    The printed command exits with 0 even after memsift was moved or removed, so it can never block a prompt. The
    script memsift-hook gives the same answers, but it starts slower, and without memsift it shows an error.

    The printed timeout is longer than the deadlines in the configuration of this project. Run the command again after
    you enabled a judge, gave a deadline or the judge more time, or trusted this project's configuration: Claude Code
    would end a hook that takes longer than its timeout.
    """
    if not is_print:
        raise MemsiftError(
            "Use --print, and put its output into .claude/settings.json. memsift does not change that file itself."
        )
    here = os.getcwd()  # noqa: PTH109 - the engine speaks in strings
    root = find_root(here, os.environ).root or f"{here}/{PROJECT_FOLDER}"
    click.echo(printed_json(hook_settings(opening.config_of(root, os.environ)), indent=2))


def hook_command() -> str:
    """The shell command that runs the hook.

    It exits with 0 whatever happens to the interpreter or the launcher: Python exits with 2 where it finds no launcher,
    and Claude Code blocks the prompt then. The answer is printed only if the hook exited with 0, so it is whole.
    """
    launcher = Path(process.__file__).resolve().with_name("launch.py")
    start = shlex.join([bare_interpreter(), "-I", "-S", str(launcher)])
    return f'out=$({start}) && printf %s "$out"; exit 0'


def bare_interpreter() -> str:
    """The interpreter that the virtual environment was made from: the hook needs no package, and starts faster."""
    base = getattr(sys, "_base_executable", None)
    return base if base and Path(base).exists() else sys.executable


def hook_settings(config: Config) -> dict[str, object]:
    """The `hooks` section of a settings.json, with this hook only. *config* is of the root that it will search."""
    timeout = max(LEAST_TIMEOUT_S, ceil(allowed_seconds(config) + MARGIN_S))
    entry = {"type": "command", "command": hook_command(), "timeout": timeout}
    return {"hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}}
