"""What the units of a prompt add up to in each memory: all memories for the rare ones, a few for the others.

A part is a unit's words that count in full, or the longer ones, which count half where none of the others is. What is
added up is the BM25 without the coordination factor: to choose by, because it takes one addition for each posting.
"""

from __future__ import annotations

from engine.record import record
from engine.search.postings import SEGMENT, bisector, is_active, lists_of, tokens_in
from engine.search.query import any_of
from engine.search.schema import FULL_TEXT
from engine.search.sqlite import DatabaseError
from engine.search.strength import HALF, K1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from engine.search.expansion import Unit
    from engine.search.postings import Lengths, List
    from engine.search.rows import Words
    from engine.search.sqlite import Connection
    from engine.search.strength import Match, Matcher

    Lists = Sequence[Sequence[List]]
    """The lists of some words."""

    Weights = dict[int, int]
    """Row of a memory -> what the occurrences of a unit's words count in it."""

PHRASE_WEIGHT = 2
"""What a phrase is taken to count until the memory's words are read."""


@record
class Part:
    """One part of a unit; `cost` is how many memories may hold it, `phrases` those of several words."""

    unit: int
    is_longer: bool
    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    cost: int


def parts_of(units: Sequence[Unit]) -> tuple[list[Part], list[Part]]:
    """The parts that count in full and those that count half, the rarest first."""
    numbered = [(number, unit) for number, unit in enumerate(units) if unit.count]
    full = [_full(number, unit) for number, unit in numbered if unit.in_full]
    longer = [_longer(number, unit) for number, unit in numbered if unit.longer]
    return sorted(full, key=_order), sorted(longer, key=_order)


def _full(number: int, unit: Unit) -> Part:
    words = tuple(phrase[0] for phrase in unit.phrases if len(phrase) == 1)
    return Part(number, False, words, tuple(phrase for phrase in unit.phrases if len(phrase) > 1), unit.in_full)


def _longer(number: int, unit: Unit) -> Part:
    return Part(number, True, unit.longer, (), unit.count - unit.in_full)


def _order(part: Part) -> tuple[int, int]:
    return part.cost, part.unit


class Tally:
    """Adds up parts. A unit's words in full have to come before its longer ones. `sums`: row -> what was added.

    With *counts_all* retired memories count as active ones do.
    """

    def __init__(self, db: Connection, lengths: Lengths, matcher: Matcher, *, counts_all: bool) -> None:
        self._db = db
        self._values = lengths.values
        self._matcher = matcher
        self._counts_all = counts_all
        self._damping = _Damping(matcher)
        self._full: dict[int, Weights] = {}
        self._longer: dict[int, Weights] = {}
        self._phrased: dict[int, set[int]] = {}
        self._unsure: set[int] = set()
        self._segments: dict[int, list[int]] | None = None
        self.sums: dict[int, float] = {}

    def lists_of(self, parts: Sequence[Part]) -> Iterator[tuple[Part, Lists]]:
        """Each of *parts* with the lists of its words."""
        lists = lists_of(self._db, {word for part in parts for word in part.words}) if parts else {}
        for part in parts:
            found = [lists[word] for word in part.words if word in lists]
            stored = sum(len(rows) for of_word in found for _, rows, _ in of_word)
            if stored != part.cost and not part.phrases:
                raise DatabaseError("the lists of a word do not hold what its count says")
            yield part, found

    def add_all(self, parts: Sequence[Part]) -> None:
        """Add *parts* to every memory that holds them."""
        for part, lists in self.lists_of(parts):
            self._add(part, _weights(lists), self._rows_of(part.phrases))

    def add_some(self, part: Part, lists: Lists) -> None:
        """Add a part to the memories to which something was added before; its phrases are left to `match`."""
        if part.phrases:
            self._unsure.add(part.unit)
        if self._segments is None:
            self._segments = _by_segment(self.sums)
        self._add(part, _looked_up(lists, self._segments), set())

    def keep(self, size: int) -> None:
        """Keep the best *size* that count, those that are as good as the last, and what does not count among them."""
        sums, values = self.sums, self._values
        if len(sums) <= size:
            return
        ordered = sorted(sums, key=sums.__getitem__, reverse=True)
        counted = ordered if self._counts_all else [row for row in ordered if is_active(values[row])]
        if len(counted) > size:
            least = sums[counted[size - 1]]
            self.sums = {row: sums[row] for row in ordered if sums[row] >= least}
            self._segments = None

    def phrased(self) -> list[int]:
        """Those of the memories that are left in which a phrase stands, or may stand."""
        return [row for row in self.sums if self._unsure or any(row in found for found in self._phrased.values())]

    def match(self, row: int, words: Words | None) -> Match | None:
        """How the memory of *row* answers by all that was added. One in which a phrase may stand needs its *words*."""
        full = {unit: found[row] for unit, found in self._full.items() if row in found}
        longer = {unit: found[row] for unit, found in self._longer.items() if row in found}
        if words:
            for unit in self._unsure.union(self._phrased):
                if weight := self._matcher.phrase_weight(unit, words):
                    full[unit] = full.get(unit, 0) + weight
        return self._matcher.of_units(full, longer, tokens_in(self._values[row]))

    def _rows_of(self, phrases: Iterable[tuple[str, ...]]) -> set[int]:
        """The memories that hold any of *phrases*, by FTS5."""
        expression = any_of((phrase, False) for phrase in phrases)
        if not expression:
            return set()
        sql = f"select rowid from {FULL_TEXT} where {FULL_TEXT} match ?"
        return {rowid for (rowid,) in self._db.execute(sql, (expression,))}

    def _add(self, part: Part, found: Weights, phrased: set[int]) -> None:
        if part.is_longer:
            for row in found.keys() & (self._full.get(part.unit, {}).keys() | self._phrased.get(part.unit, set())):
                del found[row]
        (self._longer if part.is_longer else self._full)[part.unit] = found
        if phrased:
            self._phrased[part.unit] = phrased
            found = found | {row: found.get(row, 0) + PHRASE_WEIGHT for row in phrased}
        factor = (HALF if part.is_longer else 1.0) * self._matcher.idf[part.unit] * (K1 + 1)
        sums, values, damping = self.sums, self._values, self._damping
        before = sums.get
        for row, f in found.items():
            sums[row] = before(row, 0.0) + factor * f / (f + damping[values[row]])


class _Damping(dict[int, float]):
    """The damping of a memory by the number that is kept of its row."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def __missing__(self, value: int) -> float:
        self[value] = found = self._matcher.damping(tokens_in(value))
        return found


def _weights(words: Lists) -> Weights:
    """What the lists of some words add up to."""
    found: Weights = {}
    for lists in words:
        is_first = not found
        for base, places, weights in lists:
            placed = zip(map(base.__add__, places) if base else places, weights, strict=True)
            if is_first:
                found.update(placed)
            else:
                for row, weight in placed:
                    found[row] = found.get(row, 0) + weight
    return found


def _by_segment(rows: Iterable[int]) -> dict[int, list[int]]:
    """Rows by the row before the first of their segment."""
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(row - row % SEGMENT, []).append(row)
    return found


def _looked_up(words: Lists, segments: dict[int, list[int]]) -> Weights:
    """The same for some rows alone."""
    bisect_left = bisector()
    found: Weights = {}
    for lists in words:
        for base, places, weights in lists:
            for row in segments.get(base, ()):
                i = bisect_left(places, row - base)
                if i < len(places) and places[i] == row - base:
                    found[row] = found.get(row, 0) + weights[i]
    return found
