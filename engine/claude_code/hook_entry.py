"""memsift's hook as an entry of Claude Code's settings: its command, its timeout, and programs that would slow it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from math import ceil
from typing import TYPE_CHECKING, Any

from engine.hook.deadline import allowed_seconds
from engine.paths import hook_start_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.config import Config

EVENT = "UserPromptSubmit"
LEAST_TIMEOUT_S = 5
MARGIN_S = 3
"""Time for work that no deadline covers: on a busy machine, the shell and Python start slowly."""

LAUNCHER = os.path.join("engine", "hook", "launch.py")
SCRIPT = "memsift-hook"
PLUGIN_LAUNCHER = "memsift-hook.sh"
OURS = re.compile(rf"engine[/\\]hook[/\\]launch\.py|(?<![\w.-]){SCRIPT}(?![\w.-])|{re.escape(PLUGIN_LAUNCHER)}")
OF_CLAUDE_MEMORY = re.compile(r"memory_retrieve(\.py)?\b")
"""The command of claude-memory's own hook, which would inject beside memsift's."""


def hook_command() -> str:
    """The shell command that runs the hook.

    It exits with 0 whatever happens to the interpreter or the launcher: Python exits with 2 where it finds no launcher,
    and Claude Code blocks the prompt then. The answer is printed only if the hook exited with 0, so it is whole.
    """
    start = shlex.join([bare_interpreter(), "-I", "-S", launcher()])
    return f'out=$({start}) && printf %s "$out"; exit 0'


def launcher() -> str:
    """The path of the script that starts the hook."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), LAUNCHER)


def bare_interpreter() -> str:
    """The interpreter that the virtual environment was made from: the hook needs no package, and starts faster."""
    base = getattr(sys, "_base_executable", None)
    return base if base and os.path.exists(base) else sys.executable


def hook_entry(config: Config) -> dict[str, Any]:
    """The hook's entry, with a timeout for the deadlines of *config*, which is of the root that it will search."""
    timeout = max(LEAST_TIMEOUT_S, ceil(allowed_seconds(config) + MARGIN_S))
    return {"type": "command", "command": hook_command(), "timeout": timeout}


def is_ours(command: str) -> bool:
    """Whether a command of a hook starts memsift's."""
    return bool(OURS.search(command))


def slow_start(commands: Iterable[str], interpreter: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each program that makes the hook start slowly: the interpreter, the script memsift-hook.

    *commands* are those of memsift's hooks in the settings: the script matters only where one of them runs it.
    """
    found = []
    if _head(interpreter).startswith(b"#!"):
        found.append(
            f"{interpreter} is a script that starts Python, so each prompt waits for two programs. Install memsift "
            "with the interpreter itself: python -c 'import sys; print(sys.base_prefix)' says where it is."
        )
    script = shutil.which(SCRIPT, path=environ.get("PATH"))
    if script and b"import re" in _head(script) and any(_runs_script(one, environ) for one in commands):
        found.append(
            f"{script} was written by a pip older than 25.2, whose scripts start slower. Run pip install -U pip, and "
            "install memsift again; or run memsift install, whose command does not need this script."
        )
    return tuple(found)


def _runs_script(command: str, environ: Mapping[str, str]) -> bool:
    """Whether *command* runs memsift-hook. The plugin's launcher does only if no faster start was recorded."""
    if PLUGIN_LAUNCHER in command:
        return not os.path.exists(hook_start_file(environ))
    return SCRIPT in command


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(400)
    except OSError:
        return b""
