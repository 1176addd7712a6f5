"""What each unit of a prompt adds to the strength of a memory: for an explanation, not for a search."""

from __future__ import annotations

from engine.record import Record
from engine.search.postings import MAX_WEIGHT, WEIGHTS
from engine.search.strength import HALF, K1, Matcher
from engine.search.tokens import occurrences

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
        found: dict[Owner, list[int]] = {}
        for column, text in enumerate(tokens):
            for word in self._words.keys() & set(text):
                for owner in self._words[word]:
                    found.setdefault(owner, [0, 0, 0])[column] += text.count(word)
            for _, phrase, number in self._phrases:
                if count := occurrences(f" {words[column]} ", phrase):
                    found.setdefault((number, False), [0, 0, 0])[column] += count
        damping = self.damping(sum(map(len, tokens)))
        counted = sorted(owner for owner in found if not owner[1] or (owner[0], False) not in found)
        return tuple(self._part(owner, found[owner], damping) for owner in counted)

    def _part(self, owner: Owner, counts: list[int], damping: float) -> Part:
        unit, is_longer = owner
        f = min(MAX_WEIGHT, sum(weight * count for weight, count in zip(WEIGHTS, counts, strict=True)))
        score = (HALF if is_longer else 1.0) * self.idf[unit] * f * (K1 + 1) / (f + damping)
        return Part(unit, (counts[0], counts[1], counts[2]), is_longer, score)
