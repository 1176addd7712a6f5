"""The text that the model sees: a retrieval's injected memories as lines between tags."""

from __future__ import annotations

import os
import unicodedata

from engine.config import LEGACY, TIERED
from engine.lean.record import replace
from engine.retrieval import HIGH, LOW
from engine.search.tokens import spells

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import Config
    from engine.memory import MemorySummary
    from engine.retrieval import Retrieval

HEADER = '<memory-context source="memsift">'
FOOTER = "</memory-context>"
FRAME_CHARACTERS = len(HEADER) + len(FOOTER) + 2
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Me")
"""Unicode categories that are removed: control, format, surrogate, private, unassigned and enclosing characters."""

IGNORABLE = frozenset(
    [
        *(*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), *range(0x180B, 0x1810)),
        *(0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
    ]
)
"""Variation selectors, invisible vowels and fillers: they show nothing, and can carry a hidden text of any length."""

TITLE_LIMIT, TAGS_LIMIT, CATEGORY_LIMIT = 120, 200, 40
"""Characters of a memory's title, of its tags with their commas, and of its category."""

ELLIPSIS = "…"

NOTHING, WEAK, MEDIUM_ONLY = (
    "No memory matches this prompt by title or tags; `memsift search TOPIC` looks into their texts.",
    "These memories match weakly; check that they are about the topic before you rely on them.",
    "No memory matches strongly; read these before you rely on them.",
)
"""Texts of a `<memory-note>`."""


def context(retrieval: Retrieval, config: Config, folder: str = "") -> str:
    """The text for the injected memories, with a hint if the configuration asks for one; empty for neither.

    As far as the budget allows, a path that does not lead from *folder* to its memory is that of the file.
    """
    mode, injected = config.output_mode, retrieval.injected
    entries = []
    for candidate in injected:
        memory = candidate.memory
        if folder and not os.path.isabs(memory.path):
            is_there = os.path.realpath(os.path.join(folder, memory.path)) == memory.file
            memory = memory if is_there else replace(memory, path=memory.file)
        entries.append(entry(memory, candidate.confidence, mode))
    if length(framed(entries)) > config.max_characters:
        entries = [entry(candidate.memory, candidate.confidence, mode) for candidate in injected]
    if config.hints and mode == TIERED and (text := hint(retrieval)):
        note = f"<memory-note>{text}</memory-note>"
        if length(framed([*entries, note])) <= config.max_characters:
            entries.append(note)
    return framed(entries)


def hint(retrieval: Retrieval) -> str:
    """A note about an empty or weak injected set; none if the matches were given before, or do not fit."""
    if not retrieval.injected:
        return (
            "" if any(candidate.dropped_by in ("repeat", "budget") for candidate in retrieval.candidates) else NOTHING
        )
    confidences = {candidate.confidence for candidate in retrieval.injected}
    if confidences == {LOW}:
        return WEAK
    return "" if HIGH in confidences else MEDIUM_ONLY


def framed(entries: Sequence[str]) -> str:
    """The lines of *entries* between the tags; empty for no entries."""
    return "\n".join([HEADER, *entries, FOOTER]) if entries else ""


def entry(memory: MemorySummary, confidence: str, mode: str = LEGACY) -> str:
    """A memory as a line: category, confidence, title, path and tags.

    Title and category are cut, tags that do not fit are left out, and the path stays whole: the model must find the
    file. The tiered form leaves out the tags below high confidence. A tag that is the file's name says nothing new.
    """
    is_compact = mode == TIERED and confidence != HIGH
    own = os.path.basename(memory.path).removesuffix(".md")
    tags = () if is_compact else _first_tags([tag for tag in memory.tags if tag != own])
    name = "memory-compact" if is_compact else "result"
    marks = f" #tags:{_escaped(','.join(tags))}" if tags else ""
    text = f"{clean(memory.title, TITLE_LIMIT)} -> {clean(memory.path)}{marks}"
    category = clean(memory.category.upper(), CATEGORY_LIMIT)
    return f'<{name} category="{category}" confidence="{confidence}">{text}</{name}>'


def length(text: str) -> int:
    """Characters as the client counts them: UTF-16 code units, so an emoji is two."""
    return len(text) + (0 if text.isascii() else sum(character > "\uffff" for character in text))


def clean(text: str, limit: int = 0) -> str:
    """*text* as it may stand between tags: on one line, without hidden characters and loose accents, markup escaped.

    With a *limit*, a text of more characters is cut.
    """
    return _escaped(cut(_visible(text[: 10 * limit]), limit) if limit else _visible(text))


def cut(text: str, limit: int) -> str:
    """*text* in at most *limit* characters. A longer text ends behind a word, with an ellipsis.

    A text with no space in its second half, such as Chinese, ends behind a character, but not before its vowel signs.
    """
    if len(text) <= limit:
        return text
    end = text.rfind(" ", 0, limit)
    if end < limit // 2:
        end = limit - 1
        while end > limit // 2 and unicodedata.category(text[end])[0] == "M":
            end -= 1
    return text[:end].rstrip() + ELLIPSIS


def _first_tags(tags: Sequence[str]) -> list[str]:
    """The first tags that fit into TAGS_LIMIT together, without hidden characters."""
    left = TAGS_LIMIT + 1
    kept: list[str] = []
    for tag in tags:
        shown = _visible(tag[: 2 * TAGS_LIMIT])
        left -= len(shown) + 1
        if left < 0:
            break
        kept.append(shown)
    return kept


def _visible(text: str) -> str:
    spaced = " ".join(unicodedata.normalize("NFC", text).split())
    if spaced.isascii() and spaced.isprintable():
        return spaced
    categories = [(c, unicodedata.category(c)) for c in spaced]
    return "".join(
        c
        for c, category in categories
        if category not in HIDDEN and ord(c) not in IGNORABLE and (category != "Mn" or spells(c))
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
