"""A memory: the document that a store holds, that is searched, judged, labelled and injected."""

from __future__ import annotations

import unicodedata

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.lean.sha256 import hex_digest
from engine.summary import MemorySummary as MemorySummary  # noqa: TC001 - most have it from here


class Section(Record):
    """A part of a memory's body: `heading` may be empty, `lines` are shown as they are."""

    heading: str
    lines: tuple[str, ...]


class Memory(Record):
    """A whole memory: its summary and its body."""

    summary: MemorySummary
    sections: tuple[Section, ...]

    @property
    def body(self) -> str:
        """The text of all sections without their headings, which are the format's words and not the author's."""
        return "\n".join(line for section in self.sections for line in section.lines)


class Skipped(Record):
    """A file or index line that is not shown as a memory, and why. `where` is relative to the root where possible."""

    where: str
    reason: str


class Corpus(Record):
    """All memories of one root at one moment, ordered by path, and what had to be skipped."""

    root: str
    memories: tuple[Memory, ...]
    skipped: tuple[Skipped, ...] = ()


def content_digest(category: str, title: str, tags: tuple[str, ...], sections: tuple[Section, ...]) -> str:
    """SHA-256 (64 hex digits) of what a person judges and a model sees; times and status do not change it."""
    parts = [category, title, sorted(tags), [[section.heading, *section.lines] for section in sections]]
    return hex_digest(unicodedata.normalize("NFC", dumps(parts, ascii_only=False)))
