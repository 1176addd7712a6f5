"""OpenAI's Codex CLI. Its hooks have Claude Code's form, and a person has to allow each of them.

The request is Claude Code's with `turn_id` in place of `prompt_id`, and `model`. Its model sees the answer as a
developer's message after the prompt. `CODEX_HOME` moves the folder of its files.

A hook that nobody has allowed is not run, and `codex exec` does not say so. The person's consent is an entry in
config.toml, `[hooks.state."FILE:user_prompt_submit:GROUP:ENTRY"]`, with a hash of the hook. Another command or timeout
has another hash, so the person is asked again. memsift only reads these entries: a program that allowed itself would
take the decision from the person. The hooks of a project count only where the person trusts the project.
"""

from __future__ import annotations

import os

from engine.agents.agent import PROJECT, USER, Agent, HookForm

HOOKS = "hooks.json"
SETTINGS = "config.toml"
"""The file in which Codex keeps what a person allowed."""

AGENT = Agent(
    name="codex",
    title="Codex",
    program="codex",
    tried="0.171.0",
    folder=".codex",
    variable="CODEX_HOME",
    settings={USER: HOOKS, PROJECT: os.path.join(".codex", HOOKS)},
    hook=HookForm(event="UserPromptSubmit", fields={"prompt_id": "turn_id"}),
    asks="Codex runs a hook only after you allowed it: start codex, and allow memsift's when it asks.",
    sessions=(os.path.join("sessions", "*", "*", "*", "rollout-*.jsonl"),),
    memories=("memories",),
    loads=("AGENTS.md", "AGENTS.override.md"),
)
