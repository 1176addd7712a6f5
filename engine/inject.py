"""Retrieval -> the text that the model sees."""

from __future__ import annotations

import unicodedata

from engine.config import LEGACY, TIERED
from engine.retrieval import HIGH, LOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import Config
    from engine.memory import MemorySummary
    from engine.retrieval import Candidate, Retrieval

HEADER = '<memory-context source="memsift">'
FOOTER = "</memory-context>"
FRAME_CHARACTERS = len(HEADER) + len(FOOTER) + 2
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Me")
"""Unicode categories that are no text: controls, bidirectional marks, surrogates, private, unassigned, enclosing."""

SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
"""Variation selectors: marks that change a glyph at most, and can carry a hidden text of any length."""

NOTHING, WEAK, MEDIUM_ONLY = (
    "No memory matches this prompt by title or tags; `memsift search TOPIC` looks into their texts.",
    "These memories match weakly; check that they are about the topic before you rely on them.",
    "No memory matches strongly; read these before you rely on them.",
)
"""What a `<memory-note>` says."""


def context(retrieval: Retrieval, config: Config) -> str:
    """The text for what is injected; empty if that is nothing, and no hint is wanted."""
    mode = config.output_mode
    entries = [entry(one.memory, one.confidence, mode) for one in retrieval.injected]
    if config.hints and mode == TIERED and (text := hint(retrieval)):
        note = f"<memory-note>{text}</memory-note>"
        if length(framed([*entries, note])) <= config.max_characters:
            entries.append(note)
    return framed(entries)


def hint(retrieval: Retrieval) -> str:
    """What to say of a weak or an empty injected set; nothing where the session has the matches already."""
    if not retrieval.injected:
        return "" if any(one.dropped_by == "repeat" for one in retrieval.candidates) else NOTHING
    confidences = {one.confidence for one in retrieval.injected}
    if confidences == {LOW}:
        return WEAK
    return "" if HIGH in confidences else MEDIUM_ONLY


def block(candidates: Sequence[Candidate], mode: str = LEGACY) -> str:
    """The text for an injected set, one line per memory; empty for an empty set."""
    return framed([entry(one.memory, one.confidence, mode) for one in candidates])


def framed(entries: Sequence[str]) -> str:
    return "\n".join([HEADER, *entries, FOOTER]) if entries else ""


def entry(memory: MemorySummary, confidence: str, mode: str = LEGACY) -> str:
    """One memory as a line: what it is, how sure the retrieval is, its title, where to read it, its tags.

    The tiered form leaves out the tags of all but the surest.
    """
    is_compact = mode == TIERED and confidence != HIGH
    name, tags = ("memory-compact", ()) if is_compact else ("result", memory.tags)
    marks = f" #tags:{','.join(clean(tag) for tag in tags)}" if tags else ""
    text = f"{clean(memory.title)} -> {clean(memory.path)}{marks}"
    return f'<{name} category="{clean(memory.category.upper())}" confidence="{confidence}">{text}</{name}>'


def length(text: str) -> int:
    """Characters as the client counts them: UTF-16 code units, so an emoji is two."""
    return len(text) + (0 if text.isascii() else sum(character > "\uffff" for character in text))


def clean(text: str) -> str:
    """User-made text, safe between tags: on one line, without hidden characters and loose accents, markup escaped."""
    spaced = " ".join(unicodedata.normalize("NFC", text).split())
    if not (spaced.isascii() and spaced.isprintable()):
        spaced = "".join(c for c in spaced if not _is_hidden(c))
    return spaced.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    is_stray = category == "Mn" and not _spells(character)
    return is_stray or category in HIDDEN or any(ord(character) in codes for codes in SELECTORS)


def _spells(mark: str) -> bool:
    """Whether a combining mark is part of a word: a vowel sign, not an accent that any letter could be buried under.

    By combining class (Unicode 15, 4.3): 0 and 7-9 are vowel signs, nukta, voicing and virama, 37-199 the vowels and
    tones of South and East Asia. Accents of real letters are part of them after NFC.
    """
    order = unicodedata.combining(mark)
    return 7 <= order <= 9 or 36 < order < 200 or (order == 0 and mark != "\u034f")
