"""memsift's hook as an entry of an agent's settings: its command, its timeout, and programs that would slow it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from math import ceil
from typing import TYPE_CHECKING, Any

from engine.agents.registry import DEFAULT, OPTION
from engine.paths import hook_start_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.agents.agent import Agent
    from engine.config import Config

LEAST_TIMEOUT_S, SHARED_TIMEOUT_S = 5, 30
MARGIN_S = 3
"""Time for work that no deadline covers: on a busy machine, the shell and Python start slowly.

Settings that others use too have a long timeout: the hook itself keeps to its own deadlines.
"""

PACKAGES = os.path.abspath(os.path.join(os.path.realpath(__file__), *[os.pardir] * 3))
"""The folder that holds the package `engine`."""
LAUNCHER = os.path.join("engine", "hook", "launch.py")
PLUGIN_FOLDER = os.path.join("engine", "plugin")
SCRIPT = "memsift-hook"
BEHIND_S = re.compile(r"""-S\s+((?:'[^']*+'|"[^"\\]*+"|\\.|[^\s\\'"();&|<>])++)""")
"""The word of the shell behind Python's option -S, as memsift's commands of all versions have it."""

RUNS_SCRIPT = re.compile(rf"(?<![\w.-]){SCRIPT}(\.sh)?(?![\w.\\/-])")
"""The script, by its name or path. The plugin of older versions had it as a shell script."""

OF_CLAUDE_MEMORY = re.compile(r"(?<![\w-])memory_retrieve(\.py)?(?![\w.-])")
"""The command of claude-memory's own hook, which would inject beside memsift's."""


ALWAYS_0 = "trap 'exit 0' EXIT; "
"""Stands before all else: a shell that cannot fork ends with 2, and an agent blocks the prompt then."""

FIND = (
    'p= l= f="${XDG_STATE_HOME:-$HOME/.local/state}/memsift/hook-start"; '
    '[ -f "$f" ] && { IFS= read -r p && IFS= read -r l; } <"$f"; '
    'if [ -x "$p" ] && [ -r "$l" ]; then set -- "$p" -I -S "$l"; else '
    'for d in "$HOME/.local/bin" /opt/homebrew/bin /usr/local/bin "$HOME"/Library/Python/*/bin; '
    'do PATH="$PATH:$d"; done; '
    f'set -- {SCRIPT}; fi; command -v "$1" >/dev/null && '
)
"""Finds memsift on any machine: by the interpreter and launcher that `memsift install` recorded there, else by the name
of the script, on the PATH and where pipx, uv, Homebrew and pip put it. Without memsift it stays silent.
"""


def hook_command(agent: Agent) -> str:
    """The shell command that runs the hook of this installation for *agent*.

    It exits with 0 whatever happens to the interpreter or the launcher: Python exits with 2 where it finds no launcher.
    The answer is printed only if the hook exited with 0, so it is whole.
    """
    return _printing(shlex.join([bare_interpreter(), "-I", "-S", launcher(), *_arguments(agent)]))


def _printing(start: str, before: str = "") -> str:
    return f'{ALWAYS_0}{before}out=$({start}) && printf %s "$out"; exit 0'


def shared_entry(agent: Agent) -> dict[str, Any]:
    """The hook's entry in settings that others use too, and in the plugin."""
    return _entry(agent, _printing(" ".join(['"$@"', *_arguments(agent)]), FIND), SHARED_TIMEOUT_S)


def _arguments(agent: Agent) -> tuple[str, ...]:
    """The arguments that tell the hook which agent speaks. The first of all agents is the one that needs none."""
    return () if agent.name == DEFAULT else (OPTION, agent.name)


def _entry(agent: Agent, command: str, timeout_s: int) -> dict[str, Any]:
    form = agent.hook
    timeout = timeout_s * form.units_per_second
    if form.text:
        return {form.command_key: form.text(command, timeout)}
    return {**form.entry, form.command_key: command, form.timeout_key: timeout}


def launcher() -> str:
    """The path of the script that starts the hook."""
    return os.path.join(PACKAGES, LAUNCHER)


def bare_interpreter() -> str:
    """The interpreter that the virtual environment was made from: the hook needs no package, and starts faster."""
    base = getattr(sys, "_base_executable", None)
    return base if base and os.path.exists(base) else sys.executable


def hook_entry(agent: Agent, config: Config) -> dict[str, Any]:
    """The hook's entry, with a timeout for the deadlines of *config*, which is of the root that it will search."""
    return _entry(agent, hook_command(agent), max(LEAST_TIMEOUT_S, ceil(config.allowed_seconds + MARGIN_S)))


def is_ours(command: str) -> bool:
    """Whether a command of a hook starts memsift's, of this version or an older one."""
    return bool(launcher_in(command) or RUNS_SCRIPT.search(command))


def launcher_in(command: str) -> str:
    """The path of memsift's launcher that a command of a hook starts; empty if it starts none.

    It ends with LAUNCHER: in the wheel it lies below `memsift`, in older versions beside all packages.
    """
    words = (shlex.split(found[1])[0] for found in BEHIND_S.finditer(command))
    return next((path for path in words if f"/{path}".endswith(f"/{LAUNCHER}")), "")


def slow_start(commands: Iterable[str], interpreter: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each program that makes the hook start slowly: the interpreter, the script memsift-hook.

    *commands* are those of memsift's hooks in the settings: the script matters only where one of them runs it.
    """
    found = []
    if _head(interpreter).startswith(b"#!"):
        problem = f"{interpreter} is a script that starts Python, so each prompt waits for two programs."
        place = "python -c 'import sys; print(sys.base_prefix)' says where it is"
        found.append(f"{problem} Install memsift with the interpreter itself: {place}.")
    script = shutil.which(SCRIPT, path=environ.get("PATH"))
    recorded = hook_start_file(environ)  # with it, the shared command does not run the script
    name, is_there = os.path.basename(recorded), os.path.exists(recorded)
    needs_script = any(SCRIPT in command and not (is_there and name in command) for command in commands)
    if script and b"import re" in _head(script) and needs_script:
        found.append(
            f"{script} was written by a pip older than 25.2, whose scripts start slower. Run pip install -U pip, and "
            "install memsift again; or run memsift install, whose command does not need this script."
        )
    return tuple(found)


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(400)
    except OSError:
        return b""
