"""Texts that are longer than all that the hook may put into a prompt, so that a model never gets the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import Config
from engine.quality.registry import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.quality.registry import CheckedRoot

MOST_CHARACTERS = Config().max_characters
PER_TOKEN = 4
"""Characters of a token in most languages; a character beyond the Latin scripts counts as a token."""

SEVERITY = 0.4


def tokens(text: str) -> int:
    """About how many tokens of a model *text* has."""
    wide = sum(character > "\u2e80" for character in text)
    return wide + (len(text) - wide + PER_TOKEN - 1) // PER_TOKEN


def find(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for each text over the budget of a prompt. How much of MEMORY.md a client loads is for `drift`."""
    for memory in subject.active:
        count = len(memory.body)
        if count > MOST_CHARACTERS:
            reason = f"the text has {count:,} characters; a prompt gets {MOST_CHARACTERS:,} at most"
            action = f"Shorten it or make several memories of it: memsift edit {memory.summary.id}"
            yield Finding("size", memory.summary.id, SEVERITY, reason, action, "text")
