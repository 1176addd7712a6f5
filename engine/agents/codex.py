"""OpenAI's Codex CLI. Its hooks have Claude Code's form, and a person has to allow each of them.

The request is Claude Code's with `turn_id` in place of `prompt_id`, and `model`. Its model sees the answer as a
developer's message after the prompt. `CODEX_HOME` moves the folder of its files.

A hook that nobody has allowed is not run, and `codex exec` does not say so. The person's consent is an entry in
config.toml, `[hooks.state."FILE:user_prompt_submit:GROUP:ENTRY"]`, with a hash of the hook. Another command or timeout
has another hash, so the person is asked again. memsift only reads these entries: a program that allowed itself would
take the decision from the person. The hooks of a project count only where the person trusts the project.

Hooks may also stand in config.toml. Codex warns where both files have some, so memsift joins the hooks that are there.
"""

from __future__ import annotations

import os

from engine.agents.agent import (
    ALLOWED,
    CHANGED,
    DEFAULTS,
    MANAGED,
    PROJECT,
    PROJECT_TOML,
    REQUIREMENTS,
    SESSIONS_READER,
    UNASKED,
    USER,
    USER_TOML,
    Agent,
    HookForm,
    HookSwitch,
)
from engine.lean.json_text import value_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FOLDER, HOOKS = ".codex", "hooks.json"
SETTINGS = "config.toml"
"""The file in which Codex keeps what a person allowed."""

EVENT = "UserPromptSubmit"
EVENT_IN_STATE = "user_prompt_submit"
DEFAULT_TIMEOUT_S = 600


def consent(file: str, path: tuple[str | int, ...], entry: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Whether the person allowed the hook at *path* in *file*: one of CONSENTS."""
    place = f"{file}:{EVENT_IN_STATE}:{path[2]}:{path[4]}"
    known = value_at(_settings(environ), "hooks", "state", place, "trusted_hash")
    if known is None:
        return UNASKED
    return ALLOWED if known == hook_hash(entry) else CHANGED


def hook_hash(entry: Mapping[str, Any]) -> str:
    """The hash by which Codex 0.171 knows a command that a person allowed."""
    import json
    from hashlib import sha256

    hook = {"type": "command", "timeout": DEFAULT_TIMEOUT_S, "async": False, **entry}
    content = {"event_name": EVENT_IN_STATE, "hooks": [hook]}
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return f"sha256:{sha256(spelled.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _settings(environ: Mapping[str, str]) -> Mapping[str, Any]:
    """The content of SETTINGS, with what a person allowed; empty if it cannot be read."""
    import tomllib

    try:
        with open(os.path.join(AGENT.home(environ), SETTINGS), "rb") as file:
            return tomllib.load(file)
    except (OSError, ValueError, RecursionError):
        return {}


AGENT = Agent(
    name="codex",
    title="Codex",
    program="codex",
    folder=FOLDER,
    variable="CODEX_HOME",
    settings={
        DEFAULTS: "/etc/codex/config.toml",
        USER: HOOKS,
        USER_TOML: SETTINGS,
        PROJECT: os.path.join(FOLDER, HOOKS),
        PROJECT_TOML: os.path.join(FOLDER, SETTINGS),
        MANAGED: "/etc/codex/managed_config.toml",
        REQUIREMENTS: "/etc/codex/requirements.toml",
    },
    switches=(
        HookSwitch(("features", "hooks"), False),
        HookSwitch(("features", "codex_hooks"), False),
        HookSwitch(("allow_managed_hooks_only",), is_managed=True),
    ),
    hook=HookForm(event=EVENT, fields={"prompt_id": "turn_id"}),
    asks="Codex runs a hook only after you allowed it: start codex, and allow memsift's when it asks.",
    consent=consent,
    sessions=(os.path.join("sessions", "*", "*", "*", "rollout-*.jsonl"),),
    memories=("memories",),
    loads=("AGENTS.md", "AGENTS.override.md"),
    reader=SESSIONS_READER,
    session_folder="",
)
