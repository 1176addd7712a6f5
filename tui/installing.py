"""The hook in Claude Code's settings: the command line that starts it fastest."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from engine import hook

TIMEOUT_S = 5
"""After which the client goes on without an answer. The hook's own deadline is shorter, unless a judge is enabled."""


def hook_command(executable: str = sys.executable) -> str:
    """The hook with this interpreter, for a shell. It behaves as `memsift-hook` does, which loads `site` first."""
    launcher = Path(hook.__file__).resolve().with_name("launch.py")
    return shlex.join([executable, "-I", "-S", str(launcher)])


def hook_settings(executable: str = sys.executable) -> dict[str, object]:
    """What belongs into a settings.json: the `hooks` section, with this hook alone in it."""
    entry = {"type": "command", "command": hook_command(executable), "timeout": TIMEOUT_S}
    return {"hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}}
