"""What the units of a prompt add up to in chosen memories: what `engine.search.strength` says, to the last bit."""

from __future__ import annotations

from engine.search.postings import MAX_LENGTH, by_segment
from engine.search.strength import HALF, spaced
from engine.search.weights import weights_among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from engine.lean.sqlite import Connection
    from engine.search.expansion import Unit
    from engine.search.postings import List, Rows
    from engine.search.rows import Words
    from engine.search.strength import Match, Matcher

    Weights = dict[int, int]
    """Memory, by its place among the chosen -> what the occurrences of some words count in it."""


class Tally:
    """Adds up units over chosen memories.

    Where these were read already, *lists*: word -> its lists by segment; *numbers*: common word -> its number.
    """

    def __init__(
        self,
        db: Connection,
        units: Sequence[Unit],
        matcher: Matcher,
        lists: Mapping[str, Mapping[int, List]],
        numbers: Mapping[str, int],
    ) -> None:
        self._db = db
        self._units = [(number, unit) for number, unit in enumerate(units) if unit.count]
        self._matcher = matcher
        self._lists = lists
        self._numbers = numbers

    def score(self, rows: Sequence[int], lengths: Mapping[int, int]) -> Scores:
        """How the memories of *rows* answer. *lengths* is `postings.lengths_of`."""
        scores = Scores(self._matcher, rows, [lengths[row] for row in rows])
        placed = self._placed({word for _, unit in self._units for word in unit.words}, by_segment(rows))
        for number, unit in self._units:
            full = _added([_of_phrase(phrase, placed) for phrase in unit.phrases])
            longer = _added([placed[word] for word in unit.longer])
            scores.add(number, full, longer, may_be_phrase=any(len(phrase) > 1 for phrase in unit.phrases))
        return scores

    def _placed(self, words: Set[str], rows: Rows) -> dict[str, Weights]:
        """What each word counts in *rows*."""
        found: dict[str, Weights] = {word: {} for word in words}
        for word in words & self._lists.keys():
            for one in self._lists[word].values():
                found[word] |= one.among(rows)
        for word, weights in weights_among(self._db, words - self._lists.keys(), rows, self._numbers):
            found[word] |= weights
        return found


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
