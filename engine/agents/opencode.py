"""opencode. It has no hooks that are commands, but loads JavaScript files as plugins: memsift writes one of its own.

The plugin answers `chat.message`: it starts memsift's hook with the typed text, and adds the answer to the message as a
part that the model sees and the person does not. It never fails, and never waits longer than the hook's timeout.
The folder of settings lies where the XDG rules say.
"""

from __future__ import annotations

import json
import os

from engine.agents.agent import PROJECT, USER, Agent, HookForm
from engine.lean.sections import text_beside

FILE = os.path.join("plugin", "memsift.js")
START = "const COMMAND = "


def plugin_text(command: str, timeout_ms: int) -> str:
    """The plugin that runs *command* for at most *timeout_ms* milliseconds."""
    text = text_beside(__file__, "opencode.js")
    return text.replace("$timeout", str(timeout_ms)).replace("$command", json.dumps(command))


def command_in(text: str) -> str:
    """The command that memsift's plugin runs; empty for a plugin of somebody else."""
    line = next((line for line in text.splitlines() if line.startswith(START)), "")
    try:
        return str(json.loads(line.removeprefix(START).rstrip(";")))
    except ValueError:
        return ""


AGENT = Agent(
    name="opencode",
    title="opencode",
    program="opencode",
    folder=os.path.join(".config", "opencode"),
    variable="XDG_CONFIG_HOME",
    below="opencode",
    settings={USER: FILE, PROJECT: os.path.join(".opencode", FILE)},
    hook=HookForm(
        event="chat.message", units_per_second=1000, text=plugin_text, command_in=command_in, is_nested=False
    ),
    loads=("AGENTS.md", "CLAUDE.md"),
    loads_of_others=(os.path.join(".claude", "CLAUDE.md"),),
    nests=True,
    session_folder="",
)
