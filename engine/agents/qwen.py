"""Qwen Code. It began as Gemini CLI: timeouts are milliseconds, answers are escaped. Its events are Claude Code's.

The request has Claude Code's names without `prompt_id`. The model sees the answer as a part of the prompt's message,
with each `<` and `>` as `&lt;` and `&gt;`: memsift's own tags are written with `‹` and `›`, as for Gemini CLI.
`QWEN_HOME` moves the folder of its files. Its own auto memory has Claude Code's form, and asks the model once more
with the same text. Settings may hold comments. Qwen writes `$version` into a file without it, also a project's, and
keeps the file before as `settings.json.orig`.
"""

from __future__ import annotations

import os

from engine.agents import gemini
from engine.agents.agent import (
    DEFAULTS,
    DISABLE_ALL,
    MANAGED,
    OWN_LIST,
    PROJECT,
    SESSIONS_READER,
    USER,
    Agent,
    HookSwitch,
)
from engine.lean.record import replace

FOLDER = ".qwen"
PROJECTS = "projects"
MANAGED_FOLDER = gemini.managed_folder("qwen-code", "QwenCode")

AGENT = Agent(
    name="qwen",
    title="Qwen Code",
    program="qwen",
    folder=FOLDER,
    variable="QWEN_HOME",
    settings={
        DEFAULTS: os.path.join(MANAGED_FOLDER, gemini.OF_DEFAULTS),
        USER: gemini.SETTINGS,
        PROJECT: os.path.join(FOLDER, gemini.SETTINGS),
        MANAGED: os.path.join(MANAGED_FOLDER, gemini.SETTINGS),
    },
    switches=(HookSwitch(DISABLE_ALL),),
    hook=replace(gemini.AGENT.hook, event="UserPromptSubmit", adds=("$version",)),
    sessions=(os.path.join(PROJECTS, "*", "chats", "*.jsonl"),),
    memories=(os.path.join(PROJECTS, "*", "memory"),),
    loads=("QWEN.md", "AGENTS.md", OWN_LIST),
    climbs=True,
    reader=SESSIONS_READER,
)
