"""Google's Gemini CLI. Its event is `BeforeAgent`, its timeouts are milliseconds, and it escapes what hooks print.

The request has Claude Code's names without `prompt_id`. The answer has Claude Code's form, too. The model sees it
between `<hook_context>` tags after the prompt, with each `<` and `>` as `&lt;` and `&gt;`: memsift's own tags are
written with `‹` and `›`, so that they stay tags, and no title can be taken for one. `GEMINI_CLI_HOME` names a folder
that takes the place of the home folder. Hooks of a project count only in a folder that the person trusts, and Gemini
says at its start which hooks are new. Settings may hold comments.
"""

from __future__ import annotations

import os

from engine.agents.agent import PROJECT, SESSIONS_READER, USER, Agent, HookForm

FOLDER = ".gemini"
SETTINGS = "settings.json"

AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    tried="0.61.0",
    folder=FOLDER,
    variable="GEMINI_CLI_HOME",
    below=FOLDER,
    settings={USER: SETTINGS, PROJECT: os.path.join(FOLDER, SETTINGS)},
    hook=HookForm(
        event="BeforeAgent",
        entry={"type": "command", "name": "memsift"},
        units_per_second=1000,
        allows_comments=True,
        escapes=True,
    ),
    sessions=(os.path.join("tmp", "*", "chats", "session-*.jsonl"),),
    loads=("GEMINI.md",),
    nests=True,
    reader=SESSIONS_READER,
)
