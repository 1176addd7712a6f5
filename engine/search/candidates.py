"""Which memories may answer a prompt most strongly: by what they hold of it, all memories at once.

A unit counts 1, 2 or 4 by what it is worth, longer words by half of it, and nothing else matters here: how often a word
stands, and how long the memory is, are left to the scoring of those that are chosen. Only where a prompt has few units,
which many memories hold alike, one in the title counts half as much again.
"""

from __future__ import annotations

from engine.search.bit_sums import BitSums, highest, rows_of
from engine.search.bitmaps import Standing, either
from engine.search.postings import SEGMENT
from engine.search.strength import HALF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.search.bitmaps import Rows
    from engine.search.expansion import Unit
    from engine.search.postings import List
    from engine.search.sqlite import Connection

    Part = tuple[float, Sequence[str], Sequence[tuple[str, ...]]]
    """What memories may hold, any of some words and phrases, and what it is worth: 1 for what is worth most."""

FEW = 8
"""Of a prompt that memories hold at most so much of, what is in the title counts more."""

ALWAYS, TELLING, MOST = 8, 4, 200
"""So many parts of a prompt count in any case; of the others those that at most one in TELLING memories holds, as long
as no more than MOST bitmaps of a segment's size are added up."""

MOST_EQUAL = 1000
"""Rows with equal sums that are told apart at most."""


class Candidates:
    """Adds up the units of a prompt over all memories. *worth*: of each unit.

    `lists`: word -> its lists by segment, for words of which all were read.
    """

    def __init__(self, db: Connection, units: Sequence[Unit], worth: Sequence[float], memories: int) -> None:
        self._db = db
        self._telling, self._others = _parts(units, worth, memories)
        self._with_strong = len(self._telling) + len(self._others) <= FEW
        self._sums = BitSums()
        self.lists: dict[str, dict[int, List]] = {}

    def best(self, size: int) -> tuple[list[int], list[int]]:
        """The rows that hold the most: those above the *size*th, and some of those equal to it."""
        self._add_all(self._telling)
        found = self._highest(size)
        if sum(map(len, found)) < size and self._others:
            self._add_all(self._others)
            found = self._highest(size)
        return found

    def _highest(self, size: int) -> tuple[list[int], list[int]]:
        above, equal = highest(self._sums.digits(), size)
        return rows_of(above), rows_of(equal, most=MOST_EQUAL)

    def _add_all(self, parts: list[Part]) -> None:
        asked = [word for _, words, phrases in parts for group in (words, *phrases) for word in group]
        standing = Standing(self._db, asked, with_strong=self._with_strong)
        for share, words, phrases in parts:
            rows = standing.next(len(words))
            for phrase in phrases:
                together = _together([standing.next(1) for _ in phrase])
                rows = [either(one, other) for one, other in zip(rows, together, strict=True)]
            self._add(rows, share)
        self.lists |= standing.lists
        parts.clear()

    def _add(self, rows: Rows, share: float) -> None:
        digit = (3 * share > 1) + (3 * share > 2) + self._with_strong
        for level, held in enumerate(rows):
            if held:
                self._sums.add(held, digit - level)


def _parts(units: Sequence[Unit], worth: Sequence[float], memories: int) -> tuple[list[Part], list[Part]]:
    """What the units ask for, the most telling first; and what of it is too common to tell memories apart."""
    parts: list[tuple[float, int, Sequence[str], Sequence[tuple[str, ...]]]] = []
    for unit, value in zip(units, worth, strict=True):
        if unit.in_full:
            plain = [phrase[0] for phrase in unit.phrases if len(phrase) == 1]
            parts.append((value, unit.in_full, plain, [phrase for phrase in unit.phrases if len(phrase) > 1]))
        if unit.longer:
            parts.append((HALF * value, unit.count - unit.in_full, unit.longer, ()))
    parts.sort(key=lambda part: -part[0])
    room = MOST // (memories // SEGMENT + 1)
    telling: list[Part] = []
    others: list[Part] = []
    for place, (value, count, words, phrases) in enumerate(parts):
        is_telling = place < ALWAYS or (TELLING * count < memories and place < room)
        (telling if is_telling else others).append((value / parts[0][0], words, phrases))
    return telling, others


def _together(words: Sequence[Rows]) -> Rows:
    """Where all of some words stand."""
    found, *others = words
    for other in others:
        found = [one & two for one, two in zip(found, other, strict=True)]
    return found
