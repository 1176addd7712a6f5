"""Which memories may answer a prompt most strongly: by what they hold of it, all memories at once.

A unit counts 1, 2 or 4 by what it is worth, longer words by half of it, and nothing else matters here: how often a word
stands, and how long the memory is, are left to the scoring of those that are chosen. Only what is worth most counts
half as much again where it is strong, in the title or as often as that: it tells apart memories that hold the same.
"""

from __future__ import annotations

from engine.search.bit_sums import BitSums, highest, rows_of
from engine.search.bitmaps import Standing, either
from engine.search.postings import SEGMENT
from engine.search.strength import HALF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.lean.sqlite import Connection
    from engine.search.bitmaps import Rows
    from engine.search.expansion import Unit
    from engine.search.postings import List

    Part = tuple[float, Sequence[str], Sequence[tuple[str, ...]]]
    """What memories may hold, any of some words and phrases, and what it is worth: 1 for what is worth most."""

STRONG_PARTS = 4
"""So many parts of a prompt count more where they are strong."""

ALWAYS, MOST, LEAST_SHARE = 8, 100, 0.05
"""So many parts count in any case, those that are worth most. Of the others as many as have room in MOST bitmaps of a
segment's size, but none that is worth less than LEAST_SHARE of the first: nearly all memories hold it."""

MOST_EQUAL = 1000
"""Rows with equal sums that are told apart at most."""


class Candidates:
    """Adds up the units of a prompt over all memories. *worth*: of each unit.

    `lists`: word -> its lists by segment, for words of which all were read. `numbers`: those of common words.
    """

    def __init__(self, db: Connection, units: Sequence[Unit], worth: Sequence[float], memories: int) -> None:
        self._db = db
        self._waiting = _parts(units, worth)
        self._sums = BitSums()
        self.lists: dict[str, dict[int, List]] = {}
        self.numbers: dict[str, int] = {}
        room = MOST // (memories // SEGMENT + 1)
        others = sum(share >= LEAST_SHARE for share, _, _ in self._waiting[ALWAYS:room])
        self._add(ALWAYS + others, strong=STRONG_PARTS)

    def best(self, size: int) -> tuple[list[int], list[int]]:
        """The rows that hold the most: those above the *size*th, and some of those equal to it."""
        found = self._highest(size)
        if sum(map(len, found)) < size and self._waiting:
            self._add(len(self._waiting))
            found = self._highest(size)
        return found

    def _highest(self, size: int) -> tuple[list[int], list[int]]:
        above, equal = highest(self._sums.digits(), size)
        return rows_of(above), rows_of(equal, most=MOST_EQUAL)

    def _add(self, count: int, strong: int = 0) -> None:
        """Add the next *count* parts, and for *strong* of them where they are strong."""
        parts, self._waiting = self._waiting[:count], self._waiting[count:]
        asked = [[word for group in (words, *phrases) for word in group] for _, words, phrases in parts]
        standing = Standing(self._db, [word for words in asked for word in words], sum(map(len, asked[:strong])))
        for share, words, phrases in parts:
            rows = standing.next(len(words))
            for phrase in phrases:
                together = _together([standing.next(1) for _ in phrase])
                rows = [either(one, other) for one, other in zip(rows, together, strict=True)]
            digit = 1 + (3 * share > 1) + (3 * share > 2)
            for level, held in enumerate(rows):
                if held:
                    self._sums.add(held, digit - level)
        self.lists |= standing.lists
        self.numbers |= standing.numbers


def _parts(units: Sequence[Unit], worth: Sequence[float]) -> list[Part]:
    """What the units ask for, what is worth most first."""
    parts: list[Part] = []
    for unit, value in zip(units, worth, strict=True):
        if unit.in_full:
            plain = [phrase[0] for phrase in unit.phrases if len(phrase) == 1]
            parts.append((value, plain, [phrase for phrase in unit.phrases if len(phrase) > 1]))
        if unit.longer:
            parts.append((HALF * value, unit.longer, ()))
    parts.sort(key=lambda part: -part[0])
    return [(value / parts[0][0], words, phrases) for value, words, phrases in parts]


def _together(words: Sequence[Rows]) -> Rows:
    """Where all of some words stand."""
    found, *others = words
    for other in others:
        found = [one & two for one, two in zip(found, other, strict=True)]
    return found
