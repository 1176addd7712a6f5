"""What each unit of a prompt adds to the strength of a memory: for an explanation, not for a search."""

from __future__ import annotations

from engine.lean.record import Record
from engine.search.strength import HALF, Matcher
from engine.search.tokens import occurrences
from engine.search.weights import WEIGHTS, rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.search.rows import Words
    from engine.search.strength import Owner


class Part(Record):
    """What one unit adds to a memory's BM25. `occurrences` are those in title, tags and body; `score` is positive."""

    unit: int
    occurrences: tuple[int, int, int]
    is_longer: bool
    score: float


class PartMatcher(Matcher):
    """A matcher that takes a sum apart."""

    def parts(self, words: Words) -> tuple[Part, ...]:
        """What each unit adds to the BM25 of a memory with these words, in the order of the units."""
        self._sought()
        tokens = [text.split() for text in words]
        found: dict[Owner, _Found] = {}
        for word in self._words.keys() & {word for text in tokens for word in text}:
            counts = [text.count(word) for text in tokens]
            for owner in self._words[word]:
                found.setdefault(owner, _Found()).add(counts, rounded(_weight(counts)))
        for _, phrase, number in self._phrases:
            counts = [occurrences(f" {text} ", phrase) for text in words]
            if any(counts):
                found.setdefault((number, False), _Found()).add(counts, _weight(counts))
        damping = self.damping(sum(map(len, tokens)))
        counted = sorted(owner for owner in found if not owner[1] or (owner[0], False) not in found)
        return tuple(self._part(owner, found[owner], damping) for owner in counted)

    def _part(self, owner: Owner, found: _Found, damping: float) -> Part:
        unit, is_longer = owner
        quality = HALF if is_longer else 1.0
        score = quality * self.worth[unit] * found.weight / (found.weight + damping)
        return Part(unit, (found.counts[0], found.counts[1], found.counts[2]), is_longer, score)


class _Found:
    """How often the words of a unit stand in title, tags and body, and what that counts."""

    def __init__(self) -> None:
        self.counts = [0, 0, 0]
        self.weight = 0

    def add(self, counts: list[int], weight: int) -> None:
        self.counts = [before + count for before, count in zip(self.counts, counts, strict=True)]
        self.weight += weight


def _weight(counts: list[int]) -> int:
    return sum(weight * count for weight, count in zip(WEIGHTS, counts, strict=True))
