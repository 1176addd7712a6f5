"""A prompt: what a person typed, and the turns that came before it."""

from __future__ import annotations

import unicodedata

from engine.record import record
from engine.sha256 import hex_digest


@record
class Turn:
    """One earlier message of the conversation. `role` is "user" or "assistant"."""

    role: str
    text: str


@record
class Prompt:
    """A query. `turns` are the last turns before it, oldest first; `kind` is a free word such as "specific"."""

    id: str
    text: str
    turns: tuple[Turn, ...] = ()
    session_id: str = ""
    cwd: str = ""
    timestamp: str = ""
    source: str = ""
    kind: str = ""


def prompt_id(text: str, turns: tuple[Turn, ...] = ()) -> str:
    """The default id: 16 hex digits of SHA-256 over the normalised text and its context."""
    parts = [text, *(f"{turn.role}\0{turn.text}" for turn in turns)]
    return hex_digest(unicodedata.normalize("NFC", "\0\0".join(parts)))[:16]


def typed_prompt(text: str, turns: tuple[Turn, ...] = (), source: str = "typed") -> Prompt:
    """A prompt that has no row of its own in a file."""
    return Prompt(id=prompt_id(text, turns), text=text, turns=turns, source=source)
