"""What the units of a prompt add up to: over all memories for the rare units, over the candidates for all of them.

A part is a unit's words that count in full, or the longer ones, which count half where none of the others is. What the
rare parts add up to chooses the candidates: BM25 as for memories of mean length, without the coordination factor.
The strength of the candidates is what `engine.search.strength` says, to the last bit.
"""

from __future__ import annotations

from engine.record import Record
from engine.search.postings import MAX_LENGTH, by_segment, lists_of
from engine.search.strength import HALF, K1, spaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from engine.search.expansion import Unit
    from engine.search.postings import Lengths, List, Rows
    from engine.search.rows import Words
    from engine.search.sqlite import Connection
    from engine.search.strength import Match, Matcher

    Weights = dict[int, int]
    """Memory, by row or place -> what the occurrences of a part's words count in it."""


class Part(Record):
    """One part of a unit; `cost` is how many memories may hold it, `phrases` those of several words."""

    unit: int
    is_longer: bool
    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    cost: int


def parts_of(units: Sequence[Unit]) -> list[Part]:
    """The parts of units in the order in which they choose candidates: the rarest first.

    Longer words come last where there are words in full, because they count half.
    """
    numbered = [(number, unit) for number, unit in enumerate(units) if unit.count]
    first = [_full(number, unit) if unit.in_full else _longer(number, unit) for number, unit in numbered]
    others = [_longer(number, unit) for number, unit in numbered if unit.in_full and unit.longer]
    return sorted(first, key=_order) + sorted(others, key=_order)


def _full(number: int, unit: Unit) -> Part:
    words = tuple(phrase[0] for phrase in unit.phrases if len(phrase) == 1)
    return Part(number, False, words, tuple(phrase for phrase in unit.phrases if len(phrase) > 1), unit.in_full)


def _longer(number: int, unit: Unit) -> Part:
    return Part(number, True, unit.longer, (), unit.count - unit.in_full)


def _order(part: Part) -> tuple[int, int]:
    return part.cost, part.unit


class Tally:
    """Adds up parts. `sums`: row -> what `add` added. *lengths* is `postings.lengths_of`."""

    def __init__(self, db: Connection, units: Sequence[Unit], lengths: Lengths, matcher: Matcher) -> None:
        self._db = db
        self._units = units
        self._lengths = lengths
        self._matcher = matcher
        self._lists: dict[str, list[List]] = {}
        self._known: Rows = {}
        self.sums: dict[int, float] = {}

    def read(self, parts: Iterable[Part]) -> None:
        """Read all lists of some parts at once. Those of others are read when they are added."""
        words = {word for part in parts for phrase in (part.words, *part.phrases) for word in phrase}
        missing = sorted(words - self._lists.keys())
        self._lists |= {word: [] for word in missing}
        for word, one in lists_of(self._db, missing):
            self._lists[word].append(one)

    def add(self, part: Part, *, only_known: bool = False) -> None:
        """Add a part to every memory that holds it, or only to those to which something was added before.

        A memory that holds several of its words is taken to hold each alone.
        """
        self.read([part])
        factor = (HALF if part.is_longer else 1.0) * self._matcher.worth[part.unit]
        if only_known and not self._known:
            self._known = by_segment(self.sums)
        sums, get = self.sums, self.sums.get
        for one in (one for word in part.words for one in self._lists[word]):
            worth = [factor * f / (f + K1) for f in range(one.most + 1)]
            for row, f in one.among(self._known).items() if only_known else one.postings():
                sums[row] = get(row, 0.0) + worth[f]
        for phrase in part.phrases:
            for row, f in self._may_hold(phrase).items():
                if not only_known or row in sums:
                    sums[row] = get(row, 0.0) + factor * f / (f + K1)

    def score(self, rows: Sequence[int]) -> Scores:
        """How the memories of *rows* answer."""
        scores = Scores(self._matcher, rows, [self._lengths[row] for row in rows])
        units = [(number, unit) for number, unit in enumerate(self._units) if unit.count]
        placed = self._placed({word for _, unit in units for word in unit.words}, by_segment(rows, counted=True))
        for number, unit in units:
            full = _added([_of_phrase(phrase, placed) for phrase in unit.phrases])
            longer = _added([placed[word] for word in unit.longer])
            scores.add(number, full, longer, may_be_phrase=any(len(phrase) > 1 for phrase in unit.phrases))
        return scores

    def _placed(self, words: Set[str], rows: Rows) -> dict[str, Weights]:
        """What each word counts in *rows*. A list that was not read before is not kept: the common ones are large."""
        found: dict[str, Weights] = {word: {} for word in words}
        for word in words & self._lists.keys():
            for one in self._lists[word]:
                found[word] |= one.among(rows)
        for word, one in lists_of(self._db, sorted(words - self._lists.keys())):
            found[word] |= one.among(rows)
        return found

    def _may_hold(self, phrase: tuple[str, ...]) -> Weights:
        """What a phrase counts at most in the memories that hold all its words."""
        rarest = min(phrase, key=lambda word: sum(map(len, self._lists[word])))
        rows = by_segment(row for one in self._lists[rarest] for row in one.rows)
        return _of_phrase(phrase, self._placed({*phrase}, rows))


class Scores:
    """How the memories of some rows answer, all at once. Inside, a memory goes by its place among these.

    `phrased`: the rows of those in which phrases may stand.
    """

    def __init__(self, matcher: Matcher, rows: Sequence[int], lengths: Sequence[int]) -> None:
        self._matcher = matcher
        self._rows = rows
        self._lengths = [length & MAX_LENGTH for length in lengths]
        dampings = {length: matcher.damping(length) for length in {*self._lengths}}
        self._dampings = [dampings[length] for length in self._lengths]
        self._sums = [0.0] * len(rows)
        self._matched = [0] * len(rows)
        self._units: dict[int, tuple[Weights, Weights]] = {}
        self._phrases: set[int] = set()
        self.phrased: set[int] = set()

    def add(self, unit: int, full: Weights, longer: Weights, *, may_be_phrase: bool) -> None:
        """Add a unit, by what its words count in the memories that hold them. In the order of the units."""
        self._units[unit] = full, longer
        if may_be_phrase:
            self._phrases.add(unit)
            self.phrased.update([self._rows[place] for place in full])
        self._add(self._matcher.worth[unit], full)
        if longer:
            others = {place: weight for place, weight in longer.items() if place not in full}
            self._add(HALF * self._matcher.worth[unit], others)

    def _add(self, factor: float, weights: Weights) -> None:
        sums, matched, dampings = self._sums, self._matched, self._dampings
        for place, f in weights.items():
            sums[place] += factor * f / (f + dampings[place])
            matched[place] += 1

    @property
    def strengths(self) -> dict[int, float]:
        """Row -> strength, phrases taken for granted."""
        coordinations = {matched: self._matcher.coordination(matched) for matched in {*self._matched}}
        added = zip(self._rows, self._sums, self._matched, strict=True)
        return {row: bm25 * coordinations[matched] for row, bm25, matched in added}

    def match(self, row: int, words: Words | None = None) -> Match | None:
        """How the memory of *row* answers; one of `phrased` needs its *words*."""
        place = self._rows.index(row)
        texts = spaced(words) if words else ()
        found = []
        for unit, (full, longer) in self._units.items():
            weight = full.get(place, 0)
            if weight and texts and unit in self._phrases:
                weight = self._matcher.in_full(unit, texts)
            if weight:
                found.append((unit, weight, 1.0))
            elif place in longer:
                found.append((unit, longer[place], HALF))
        return self._matcher.of_units(found, self._lengths[place])


def _of_phrase(phrase: tuple[str, ...], placed: Mapping[str, Weights]) -> Weights:
    """What a phrase counts at most: it may stand where all its words are, as often as the rarest of them."""
    first, *others = [placed[word] for word in phrase]
    if not others:
        return first
    both = frozenset(first).intersection(*others)
    return {one: min([first[one], *[other[one] for other in others]]) for one in both}


def _added(parts: Sequence[Weights]) -> Weights:
    """What some weights add up to."""
    if len(parts) == 1:
        return parts[0]
    found: Weights = {}
    for weights in parts:
        for row, weight in weights.items():
            found[row] = found.get(row, 0) + weight
    return found
