"""Which memories may answer a prompt most strongly: by what they hold of it, all memories at once.

A unit counts 1, 2 or 4 by what it is worth, longer words by half of it, and nothing else matters here: how often a word
stands, and how long the memory is, are left to the scoring of those that are chosen. Only where a prompt has few units,
which many memories hold alike, one in the title counts half as much again.
"""

from __future__ import annotations

from engine.search.bit_sums import BitSums, highest, rows_of
from engine.search.bitmaps import Bitmaps, stored_of
from engine.search.postings import SEGMENT, List
from engine.search.strength import HALF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.search.expansion import Unit
    from engine.search.sqlite import Connection

    Phrases = tuple[tuple[str, ...], ...]
    Part = tuple[float, Phrases]
    """What memories may hold, and what it is worth: 1 for what is worth most."""

    Rows = dict[int, list[int]]
    """Segment -> the rows that hold something, and those where it is strong, if that matters."""

FEW = 8
"""Of a prompt that memories hold at most so much of, what is in the title counts more."""

ALWAYS, TELLING, MOST = 8, 4, 200
"""So many parts of a prompt count in any case; of the others those that at most one in TELLING memories holds (fewer in
a root of many segments), as long as no more than MOST bitmaps are added up."""

MOST_EQUAL = 1000
"""Rows with equal sums that are told apart at most."""


class Candidates:
    """Adds up the units of a prompt over all memories. *worth*: of each unit.

    `lists`: word -> its lists, for words of which all were read.
    """

    def __init__(self, db: Connection, units: Sequence[Unit], worth: Sequence[float], memories: int) -> None:
        self._db = db
        self._telling, self._others = _parts(units, worth, memories)
        self._with_strong = len(self._telling) + len(self._others) <= FEW
        self._sums: dict[int, BitSums] = {}
        self.lists: dict[str, list[List]] = {}

    def best(self, size: int) -> tuple[list[int], list[int]]:
        """The rows that hold the most: those above the *size*th, and some of those equal to it."""
        self._add_all(self._telling)
        found = self._highest(size)
        if sum(map(len, found)) < size and self._others:
            self._add_all(self._others)
            found = self._highest(size)
        return found

    def _highest(self, size: int) -> tuple[list[int], list[int]]:
        above, equal = highest({segment: sums.digits() for segment, sums in self._sums.items()}, size)
        return rows_of(above), rows_of(equal, most=MOST_EQUAL)

    def _add_all(self, parts: list[Part]) -> None:
        for share, phrases in parts:
            self._add(self._standing(phrases), share)
        parts.clear()

    def _add(self, rows: Rows, share: float) -> None:
        digit = (3 * share > 1) + (3 * share > 2) + self._with_strong
        for segment, levels in rows.items():
            sums = self._sums.setdefault(segment, BitSums())
            for level, held in enumerate(levels):
                sums.add(held, digit - level)

    def _standing(self, phrases: Phrases) -> Rows:
        """Where any of *phrases* may stand: one of several words where all of these do."""
        found = self._any([phrase[0] for phrase in phrases if len(phrase) == 1])
        for phrase in phrases:
            if len(phrase) > 1:
                for segment, levels in _together([self._any([word]) for word in phrase]).items():
                    before = found.get(segment, [0] * len(levels))
                    found[segment] = [one | other for one, other in zip(before, levels, strict=True)]
        return found

    def _any(self, words: Sequence[str]) -> Rows:
        """Where any of some words stands."""
        found = Bitmaps(with_strong=self._with_strong)
        lists: dict[str, list[List]] = {word: [] for word in words}
        for word, segment, stored in stored_of(self._db, sorted(words), with_strong=self._with_strong):
            found.add(segment, stored)
            if not isinstance(stored, List):
                lists.pop(word, None)
            elif word in lists:
                lists[word].append(stored)
        self.lists |= lists
        return found.rows()


def _parts(units: Sequence[Unit], worth: Sequence[float], memories: int) -> tuple[list[Part], list[Part]]:
    """What the units ask for, the most telling first; and what of it is too common to tell memories apart."""
    parts: list[tuple[float, int, Phrases]] = []
    for unit, value in zip(units, worth, strict=True):
        if unit.in_full:
            parts.append((value, unit.in_full, unit.phrases))
        if unit.longer:
            parts.append((HALF * value, unit.count - unit.in_full, tuple((word,) for word in unit.longer)))
    parts.sort(key=lambda part: -part[0])
    segments = memories // SEGMENT + 1
    rare = memories // max(TELLING, 2 * segments)
    telling: list[Part] = []
    others: list[Part] = []
    for place, (value, count, phrases) in enumerate(parts):
        is_telling = place < ALWAYS or (count < rare and place < MOST // segments)
        (telling if is_telling else others).append((value / parts[0][0], phrases))
    return telling, others


def _together(words: Sequence[Rows]) -> Rows:
    """Where all of some words stand."""
    found, *others = words
    for other in others:
        both = found.keys() & other.keys()
        found = {at: [one & two for one, two in zip(found[at], other[at], strict=True)] for at in both}
    return found
