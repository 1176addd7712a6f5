"""Texts that are too long to be worth their place in a prompt, and texts too short to say anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.quality.registry import Finding
from engine.search.stopwords import STOP_WORDS
from engine.search.tokens import GAP
from engine.search.tokens import tokens as tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.memory import Memory
    from engine.quality.registry import CheckedRoot

MOST_CHARACTERS, MOST_TOKENS = 4000, 1000
PER_TOKEN = 4
"""Characters of a token in most languages; a character beyond the Latin scripts counts as a token."""

MOST_SHORT, LEAST_WORDS = 120, 7
"""A title and text of no more characters say too little if they have fewer different words, without common words."""

SHORT_SEVERITY, BODY_SEVERITY = 0.2, 0.4


def tokens(text: str) -> int:
    """About how many tokens of a model *text* has."""
    wide = sum(character > "\u2e80" for character in text)
    return wide + (len(text) - wide + PER_TOKEN - 1) // PER_TOKEN


def find(subject: CheckedRoot) -> Iterator[Finding]:
    """A finding for a text that is too long or too short. A long title is fine: it is cut where it is shown."""
    for memory in subject.active:
        yield from _of_text(memory)


def _of_text(memory: Memory) -> Iterator[Finding]:
    name, count = memory.summary.id, tokens(memory.body)
    if count > MOST_TOKENS or len(memory.body) > MOST_CHARACTERS:
        severity = min(1.0, BODY_SEVERITY * max(1.0, count / MOST_TOKENS))
        reason = f"the text has {len(memory.body):,} characters, about {count:,} tokens"
        action = f"Shorten it or make several memories of it: memsift edit {name}"
        yield Finding("size", name, severity, reason, action, "text")
    elif (words := _words(memory)) < LEAST_WORDS:
        reason = f"title and text have only {words} words that say something, and no number or name in code"
        action = f"Say what, where and why: memsift edit {name}, or memsift retire {name}"
        yield Finding("size", name, SHORT_SEVERITY, reason, action, "text")


def _words(memory: Memory) -> int:
    """How many different words say something; LEAST_WORDS if there is a number or a name in code."""
    text = f"{memory.summary.title}\n{memory.body}"
    if len(text) > MOST_SHORT or any(letter.isdigit() or letter in "`_" for letter in text):
        return LEAST_WORDS
    return len({word for word in tokens_of(text) if word != GAP and word not in STOP_WORDS})
