"""Phrases of memories: which memories lack some, and adding phrases with a word on each that was refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from engine.phrases.file import phrases_files, read_phrases
from engine.phrases.writing import add_phrases
from engine.settings.roots import is_own_root
from engine.settings.sources import trust_command
from engine.wording import counted
from tui.workspace import opening
from tui.workspace.stderr import tell, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.quality.judging.phrase_writer import LackingMemories
    from tui.workspace.curate.curating import FoundMemory

MOST_TOLD = 10
"""Lines of problems on stderr; the others are counted."""


def lacking_in(root: str) -> LackingMemories:
    """The memories of *root* that lack phrases. Raises as `find_lacking`."""
    from engine.quality.judging.phrase_writer import find_lacking

    config = opening.settings_of(root, os.environ).config
    with opening.opened_index(root) as index:
        return find_lacking(index, read_phrases(root, os.environ), config.max_risk, os.environ)


def report_lacking(root: str, found: LackingMemories) -> None:
    """Tell how many memories of *root* have phrases, and which no model gets."""
    have = found.active - len(found.state)
    tell(f"{root}: {have:,} of {counted(found.active, 'memory')} have phrases for their present text.")
    report_lines(f"{memory_id} is left out: {reason}." for memory_id, reason in found.left_out.items())


def add_to(given: Iterable[tuple[FoundMemory, Sequence[object]]], by: str) -> int:
    """Add phrases to memories, and tell of those that were not added. How many were added. Raises CurationError."""
    by_root: dict[str, list[tuple[FoundMemory, Sequence[object]]]] = {}
    for found, texts in given:
        by_root.setdefault(found.root, []).append((found, texts))
    total = 0
    for root, own in by_root.items():
        with uninterrupted():
            count, complaints = add_phrases(root, os.environ, [(found.memory, texts) for found, texts in own], by)
            report_lines(f"{text}: left out." for text in complaints)
            if count:
                tell(f"Added {counted(count, 'phrase')} to {counted(len(own), 'memory')} of {root}.")
        total += count
    report_uncounted(by_root)
    return total


def report_uncounted(roots: Iterable[str]) -> None:
    """Tell of which of *roots* the phrases do not count: others may have written them."""
    for root in roots:
        file, *own = phrases_files(root, os.environ)
        if own and Path(file).exists() and not is_own_root(root, os.environ):
            tell(f"The phrases in {file} do not count until you trust the folder: {trust_command(root)}")


def report_lines(lines: Iterable[str]) -> None:
    """Tell the first of *lines*, and how many others there are."""
    every = list(lines)
    for line in every[:MOST_TOLD]:
        tell(line)
    if every[MOST_TOLD:]:
        tell(f"... and {len(every) - MOST_TOLD:,} more like these.")
