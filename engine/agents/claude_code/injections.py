"""The text that hooks added to a prompt, from the rows of a transcript."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.agents.claude_code.agent import AGENT
from engine.inject import HEADER
from engine.lean.json_text import without_lone_surrogates
from engine.lean.record import replace
from engine.prompt import Injection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from engine.prompt import Prompt

KINDS = ("hook_success", "hook_additional_context")
"""Attachments that hold text for the model: of a hook that printed text, and of a hook that printed JSON."""

UNNAMED = "other"
"""The name of a hook about which the transcript says nothing."""

_OLD_TAG, _OLD_END = "<user-prompt-submit-hook>", "</user-prompt-submit-hook>"
"""Around the text of a hook in a row of its own, as client 1.0 wrote it."""

_FIRST_TAG = re.compile(r"<([A-Za-z][\w-]{0,39})[\s>]")
_MOST_OF_NAME = 40


def injection_of(row: Mapping[str, Any]) -> Injection | None:
    """The text that a hook added to the prompt before this row; None for other kinds of rows."""
    attachment = row.get("attachment")
    if row.get("type") == "attachment" and isinstance(attachment, dict):
        is_of_prompt = attachment.get("type") in KINDS and attachment.get("hookEvent") == AGENT.hook.event
        return _named(_text(attachment), attachment.get("command")) if is_of_prompt else None
    message = row.get("message")
    content = message.get("content") if row.get("type") == "user" and isinstance(message, dict) else None
    if isinstance(content, str) and content.startswith(_OLD_TAG):
        return _named(content.removeprefix(_OLD_TAG).removesuffix(_OLD_END), None)
    return None


def with_injections(prompts: Sequence[Prompt], found: Mapping[int, Sequence[Injection]]) -> list[Prompt]:
    """The prompts of one transcript with *found*: place of a prompt among them -> injections.

    A hook that injected something in a transcript was in use there. For the prompts without a text of it, it was
    silent. Nothing is known of a hook that injected nothing in the whole transcript.
    """
    hooks = sorted({injection.hook for injections in found.values() for injection in injections})
    result = []
    for place, prompt in enumerate(prompts):
        texts: dict[str, list[str]] = {hook: [] for hook in hooks}  # two hooks without a name of their own are one
        for injection in found.get(place, ()):
            texts[injection.hook].append(injection.text)
        whole = tuple(Injection(hook, "\n\n".join(parts)) for hook, parts in texts.items())
        result.append(replace(prompt, injections=whole))
    return result


def _text(attachment: Mapping[str, Any]) -> str:
    content = attachment.get("content")
    parts = content if isinstance(content, list) else [content]
    return without_lone_surrogates("\n".join(part for part in parts if isinstance(part, str))).strip()


def _named(text: str, command: object) -> Injection | None:
    """The injection of *text*; None for an empty text. Its hook is named by its first tag, else by its command's file.

    The client writes no name of a plugin, and for a hook that prints JSON not even the command.
    """
    if not text.strip():
        return None
    if text.startswith(HEADER):
        return Injection("", text)
    if tag := _FIRST_TAG.match(text):
        return Injection(tag[1], text)
    words = command.replace('"', "").replace("'", "").split() if isinstance(command, str) else []
    paths = [word for word in words if "/" in word] or words
    return Injection((paths[0].rpartition("/")[2][:_MOST_OF_NAME] if paths else "") or UNNAMED, text)
