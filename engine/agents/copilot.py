"""GitHub's Copilot CLI. Each file in its folders of hooks is read, so memsift has a file of its own.

The request has `sessionId`, and neither the name of the event nor a transcript. The answer stands at the top level:
Claude Code's nested form is ignored. The model sees it between `<system_reminder>` tags after the prompt.
A project's settings can switch hooks off; version 1.0.102 ran them although the user's settings did.
Entries stand in the list of the event itself, without groups. `COPILOT_HOME` moves the folder of its files.
"""

from __future__ import annotations

import os

from engine.agents.agent import (
    DISABLE_ALL,
    LOCAL_SWITCHES,
    PROJECT,
    PROJECT_SWITCHES,
    SESSIONS_READER,
    USER,
    Agent,
    HookForm,
    HookSwitch,
)

FILE = "memsift.json"
HOOKS = os.path.join(".github", "hooks")
"""The folder of a project whose files Copilot reads."""

AGENT = Agent(
    name="copilot",
    title="Copilot CLI",
    program="copilot",
    folder=".copilot",
    variable="COPILOT_HOME",
    settings={
        USER: os.path.join("hooks", FILE),
        PROJECT: os.path.join(HOOKS, FILE),
        PROJECT_SWITCHES: os.path.join(".github", "copilot", "settings.json"),
        LOCAL_SWITCHES: os.path.join(".github", "copilot", "settings.local.json"),
    },
    switches=(HookSwitch(DISABLE_ALL),),
    hook=HookForm(
        event="userPromptSubmitted",
        command_key="bash",
        timeout_key="timeoutSec",
        is_grouped=False,
        around={"version": 1},
        fields={"session_id": "sessionId"},
        is_nested=False,
    ),
    sessions=(os.path.join("session-state", "*", "events.jsonl"),),
    loads=(
        *("AGENTS.md", "CLAUDE.md", "GEMINI.md", os.path.join(".claude", "rules", "*.md")),
        *(os.path.join(".github", name) for name in ("copilot-instructions.md", os.path.join("instructions", "*.md"))),
    ),
    nests=True,
    reader=SESSIONS_READER,
    is_named_by_session=True,
)
