"""Claude Code, the agent whose hook is memsift's usual form: all others are told apart from it."""

from __future__ import annotations

import os

from engine.agents.agent import (
    DISABLE_ALL,
    LOCAL,
    MANAGED,
    OWN_LIST,
    PARTS,
    PLUGIN,
    PROJECT,
    USER,
    Agent,
    HookForm,
    HookSwitch,
)
from engine.agents.claude_code.auto_memory import managed_parts, managed_settings

AGENT = Agent(
    name="claude",
    title="Claude Code",
    program="claude",
    folder=".claude",
    variable="CLAUDE_CONFIG_DIR",
    settings={
        USER: "settings.json",
        PROJECT: os.path.join(".claude", "settings.json"),
        LOCAL: os.path.join(".claude", "settings.local.json"),
        MANAGED: managed_settings(),
        PARTS: managed_parts(),
    },
    hook=HookForm(event="UserPromptSubmit"),
    switches=(
        HookSwitch(DISABLE_ALL, is_managed=True),
        HookSwitch(DISABLE_ALL, spares=(MANAGED,)),
        HookSwitch(("allowManagedHooksOnly",), is_managed=True, spares=(MANAGED,)),
        HookSwitch(("strictPluginOnlyCustomization",), item="hooks", is_managed=True, spares=(MANAGED, PLUGIN)),
    ),
    sessions=(os.path.join("projects", "*", "*.jsonl"),),
    memories=(os.path.join("projects", "*", "memory"),),
    loads=("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", OWN_LIST, os.path.join(".claude", "rules", "*.md")),
    climbs=True,
    nests=True,
    reader="engine.agents.claude_code.transcripts",
)
"""The client merges the files of all scopes, in this order, and starts the hooks of all of them at the same time.

What its switches do was measured with client 2.1.330. A plugin that the administrator enables counts as his hook.

It loads AGENTS.md where a CLAUDE.md names it, as most do, or where there is none. It loads the beginning of MEMORY.md
of its auto memory by itself: `auto_memory.client_loads` says of which folder.
"""
