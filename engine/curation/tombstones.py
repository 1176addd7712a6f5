"""Tombstones: marks of texts that a person rejected, so that an import or a new capture does not bring them back."""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256
from typing import TYPE_CHECKING

from engine.lean.record import Record
from engine.stores.writing import one_line

if TYPE_CHECKING:
    from engine.memory import Memory

FEWEST_WORDS = 8
"""A body of fewer words says too little by itself, so the title is compared with it."""


class Tombstone(Record):
    """A rejected text: its hash, the id and title of the memory that had it, the reason, and the time."""

    hash: str
    memory: str
    title: str
    reason: str
    at: str


def text_hash(title: str, body: str) -> str:
    """SHA-256 (64 hex digits) of the words of a text: case, spaces, punctuation and headings do not change it.

    It is the body's, whatever the title says; of a short body, that of title and body.
    """
    words = _words(body)
    if len(words) < FEWEST_WORDS:
        words = [*_words(title), *words]
    return sha256(" ".join(words).encode()).hexdigest()


def tombstone_of(memory: Memory, reason: str, at: str) -> Tombstone:
    """The tombstone for the text of *memory*."""
    summary = memory.summary
    return Tombstone(text_hash(summary.title, memory.body), summary.id, summary.title, one_line(reason), at)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
