"""Retrieval -> the text that the model sees."""

from __future__ import annotations

import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import MemorySummary
    from engine.retrieval import Candidate

HEADER = '<memory-context source="memsift">'
FOOTER = "</memory-context>"
FRAME_CHARACTERS = len(HEADER) + len(FOOTER) + 2
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn")
"""Unicode categories that a reader cannot see: controls, bidirectional marks, surrogates, private and unassigned."""

SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
"""Variation selectors: marks that change a glyph at most, and can carry a hidden text of any length."""


def length(text: str) -> int:
    """Characters as the client counts them: UTF-16 code units, so an emoji is two."""
    return len(text) + sum(character > "\uffff" for character in text)


def block(candidates: Sequence[Candidate]) -> str:
    """The text for an injected set, one line per memory; empty for an empty set."""
    if not candidates:
        return ""
    return "\n".join([HEADER, *(entry(one.memory, one.confidence) for one in candidates), FOOTER])


def entry(memory: MemorySummary, confidence: str) -> str:
    """One memory as a line: what it is, how sure the retrieval is, its title, where to read it, its tags."""
    tags = f" #tags:{','.join(clean(tag) for tag in memory.tags)}" if memory.tags else ""
    category = clean(memory.category.upper())
    text = f"{clean(memory.title)} -> {clean(memory.path)}{tags}"
    return f'<result category="{category}" confidence="{confidence}">{text}</result>'


def clean(text: str) -> str:
    """User-made text, safe between tags: on one line, without hidden characters, with markup escaped."""
    spaced = " ".join(unicodedata.normalize("NFC", text).split())
    if not (spaced.isascii() and spaced.isprintable()):
        spaced = "".join(c for c in spaced if not _is_hidden(c))
    return spaced.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in HIDDEN or any(ord(character) in codes for codes in SELECTORS)
