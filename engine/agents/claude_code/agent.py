"""Claude Code, the agent whose hook is memsift's usual form: all others are told apart from it."""

from __future__ import annotations

import os

from engine.agents.agent import LOCAL, MANAGED, OWN_LIST, PROJECT, USER, Agent, HookForm
from engine.agents.claude_code.auto_memory import managed_settings

AGENT = Agent(
    name="claude",
    title="Claude Code",
    program="claude",
    tried="2.1.330",
    folder=".claude",
    variable="CLAUDE_CONFIG_DIR",
    settings={
        MANAGED: managed_settings(),
        USER: "settings.json",
        PROJECT: os.path.join(".claude", "settings.json"),
        LOCAL: os.path.join(".claude", "settings.local.json"),
    },
    hook=HookForm(event="UserPromptSubmit"),
    sessions=(os.path.join("projects", "*", "*.jsonl"),),
    memories=(os.path.join("projects", "*", "memory"),),
    loads=("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", OWN_LIST, os.path.join(".claude", "rules", "*.md")),
    climbs=True,
    nests=True,
    reader="engine.agents.claude_code.transcripts",
)
"""The client merges the files of all scopes, in this order, and starts the hooks of all of them at the same time.

It loads AGENTS.md where a CLAUDE.md names it, as most do, or where there is none. It loads the beginning of MEMORY.md
of its auto memory by itself: `auto_memory.client_loads` says of which folder.
"""
