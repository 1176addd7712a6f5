"""Google's Gemini CLI. Its event is `BeforeAgent`, its timeouts are milliseconds, and it escapes what hooks print.

The request has Claude Code's names without `prompt_id`. The answer has Claude Code's form, too. The model sees it
between `<hook_context>` tags after the prompt, with each `<` and `>` as `&lt;` and `&gt;`: memsift's own tags are
written with `‹` and `›`, so that they stay tags, and no title can be taken for one. `GEMINI_CLI_HOME` names a folder
that takes the place of the home folder. Hooks of a project count only in a folder that the person trusts, and Gemini
says at its start which hooks are new. Settings may hold comments.
"""

from __future__ import annotations

import os
import sys

from engine.agents.agent import (
    DEFAULTS,
    MANAGED,
    PROJECT,
    SESSIONS_READER,
    USER,
    Agent,
    HookForm,
    HookSwitch,
)

FOLDER = ".gemini"
SETTINGS, OF_DEFAULTS = "settings.json", "system-defaults.json"
NAME = "memsift"
"""The name of memsift's entry."""


def managed_folder(name: str, name_on_macos: str) -> str:
    """The folder of the administrator's settings, of Gemini CLI and of agents that began as it."""
    return f"/Library/Application Support/{name_on_macos}" if sys.platform == "darwin" else f"/etc/{name}"


MANAGED_FOLDER = managed_folder("gemini-cli", "GeminiCli")

AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    folder=FOLDER,
    variable="GEMINI_CLI_HOME",
    below=FOLDER,
    settings={
        DEFAULTS: os.path.join(MANAGED_FOLDER, OF_DEFAULTS),
        USER: SETTINGS,
        PROJECT: os.path.join(FOLDER, SETTINGS),
        MANAGED: os.path.join(MANAGED_FOLDER, SETTINGS),
    },
    switches=(
        HookSwitch(("hooksConfig", "enabled"), False),
        HookSwitch(("hooksConfig", "disabled"), None, NAME),
    ),
    hook=HookForm(
        event="BeforeAgent",
        entry={"type": "command", "name": NAME},
        units_per_second=1000,
        allows_comments=True,
        escapes=True,
    ),
    sessions=(os.path.join("tmp", "*", "chats", "session-*.jsonl"),),
    loads=("GEMINI.md",),
    nests=True,
    reader=SESSIONS_READER,
)
