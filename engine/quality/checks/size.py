"""Titles and texts that are too long to be worth their place in a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.inject import TITLE_LIMIT
from engine.quality.registry import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.quality.registry import Subject

MOST_CHARACTERS, MOST_TOKENS = 4000, 1000
PER_TOKEN = 4
"""Characters of a token in most languages; a character beyond the Latin scripts counts as a token."""

TITLE_SEVERITY, BODY_SEVERITY = 0.3, 0.4


def tokens(text: str) -> int:
    """About how many tokens of a model *text* has."""
    wide = sum(character > "\u2e80" for character in text)
    return wide + (len(text) - wide + PER_TOKEN - 1) // PER_TOKEN


def find(subject: Subject) -> Iterator[Finding]:
    """A finding for a title that is cut when it is injected, and for a text of more than MOST_TOKENS tokens."""
    for memory in subject.active:
        one = memory.summary
        if len(one.title) > TITLE_LIMIT:
            yield Finding(
                check="size",
                memory_id=one.id,
                severity=TITLE_SEVERITY,
                reason=f"the title has {len(one.title)} characters; it is cut to {TITLE_LIMIT} when it is injected",
                action=f"Shorten it: memsift edit {one.id}",
                where="title",
            )
        count = tokens(memory.body)
        if count > MOST_TOKENS or len(memory.body) > MOST_CHARACTERS:
            yield Finding(
                check="size",
                memory_id=one.id,
                severity=min(1.0, BODY_SEVERITY * max(1.0, count / MOST_TOKENS)),
                reason=f"the text has {len(memory.body):,} characters, about {count:,} tokens",
                action=f"Shorten it or make several memories of it: memsift edit {one.id}",
                where="text",
            )
