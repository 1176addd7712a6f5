"""A prompt: the text that a person typed, and the turns before it."""

from __future__ import annotations

import unicodedata

from engine.lean.record import Record
from engine.lean.sha256 import hex_digest

_PEOPLE = ("", "user", "sdk")
"""Sources of prompts that people typed."""

TYPED = "typed"
"""The source of a prompt that a person typed into memsift itself."""


class Turn(Record):
    """One earlier message of the conversation. `role` is "user" or "assistant"."""

    role: str
    text: str


class Injection(Record):
    """The memories that a hook added to a prompt, as a transcript or the hook's log tells. Without any, it was silent.

    `hook` is the name of the hook, empty for memsift's own. `text` is the text that the model saw. The log has no text,
    only the `ids` of the memories.
    """

    hook: str
    text: str = ""
    ids: tuple[str, ...] = ()


class Prompt(Record):
    """A query. `turns` are the last turns before it, oldest first; `kind` is a free word such as "specific".

    `injections` has one entry for each hook of which it is known what it added.
    """

    id: str
    text: str
    turns: tuple[Turn, ...] = ()
    session_id: str = ""
    cwd: str = ""
    timestamp: str = ""
    source: str = ""
    kind: str = ""
    injections: tuple[Injection, ...] = ()


def prompt_id(text: str, turns: tuple[Turn, ...] = ()) -> str:
    """The default id: 16 hex digits of SHA-256 over the normalised text and its turns."""
    parts = [text, *(f"{turn.role}\0{turn.text}" for turn in turns)]
    return hex_digest(unicodedata.normalize("NFC", "\0\0".join(parts)))[:16]


def typed_prompt(text: str, turns: tuple[Turn, ...] = (), source: str = TYPED) -> Prompt:
    """A prompt that was typed just now and stands in no file."""
    return Prompt(id=prompt_id(text, turns), text=text, turns=turns, source=source)


def is_human_prompt(text: str, source: str = "") -> bool:
    """Whether a person typed this prompt, in words.

    *source* is the field of that name in the hook's payload; empty where the client does not send it. Not human are
    other sources than user and sdk (wake-ups, schedules, the system), a `<task-notification>` and nothing else, and a
    slash command: `/review the diff` is a command, `/home/me/a.py fails` is a prompt.
    """
    stripped = text.strip()
    is_notification = stripped.startswith("<task-notification>") and stripped.endswith("</task-notification>")
    return source in _PEOPLE and not is_notification and not _is_slash_command(stripped)


def _is_slash_command(text: str) -> bool:
    """Whether the first word is a slash, a letter, and after it only letters, digits, `_`, `:` and `-`."""
    name = text.split(None, 1)[0][1:] if text.startswith("/") else ""
    return name[:1].isalpha() and all(character.isalnum() or character in "_:-" for character in name)
