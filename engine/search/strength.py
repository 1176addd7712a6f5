"""How strongly a memory answers a prompt: BM25 over all its words, times how much of the prompt it is about.

    bm25 = sum over matched units of  quality x idf x f (K1 + 1) / (f + K1 (1 - B + B D / D_mean))
    strength = bm25 x sqrt(matched units / units of the prompt, MAX_ASKED at most)

f adds up the weights of the columns in which the unit stands, once per occurrence; D counts the tokens of all columns;
idf = ln(1 + (N - n + 0.5) / (n + 0.5)), which stays positive (Lucene's BM25Similarity; FTS5's own is 0 for a word that
half of the memories hold), with N = memories + ELSEWHERE. The quality is 1, or HALF where only longer words were found.
The root is a coordination factor: of two equal sums, the one from more of the prompt's words is the better answer.
It halves false injections at equal recall, and unlike BM25 alone it can be compared between prompts.
"""

from __future__ import annotations

from math import log, sqrt

from engine.record import record
from engine.search.finder import Finder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.search.expansion import Unit
    from engine.search.rows import Words

K1, B = 1.2, 0.75
WEIGHTS = (4.0, 2.0, 1.0)
"""What an occurrence in title, tags and body counts."""

HALF = 0.5
MAX_ASKED = 50
"""Units of a prompt that count: a paste must not silence the question beside it."""

ELSEWHERE = 10
"""Memories about something else that a root is taken to have besides its own: in a small one, a word that all memories
hold would weigh nothing otherwise. On LoCoMo (250 memories a root) it changes no rate by more than 0.001."""


@record
class Part:
    """What one unit adds to a memory's BM25. `occurrences` are those in title, tags and body; `score` is positive."""

    unit: int
    occurrences: tuple[int, int, int]
    is_longer: bool
    score: float


@record
class Match:
    """A memory's BM25 sum and strength (positive, higher is better), and the units that it holds, in order."""

    bm25: float
    strength: float
    parts: tuple[Part, ...]


class Matcher:
    """Matches texts with one prompt. `rows` and `mean_length` (tokens) are the corpus's."""

    def __init__(self, units: Sequence[Unit], rows: int, mean_length: float) -> None:
        self._asked = min(len(units), MAX_ASKED)
        self._mean_length = mean_length
        self._idf = [idf(min(unit.count, rows), rows) for unit in units]
        self._owners: list[tuple[int, bool]] = []
        phrases = []
        for number, unit in enumerate(units):
            if unit.count:
                phrases += [(phrase, False) for phrase in unit.phrases] + [((word,), False) for word in unit.longer]
                self._owners += [(number, False)] * len(unit.phrases) + [(number, True)] * len(unit.longer)
        self._finder = Finder(phrases)
        self.rare = idf(1, max(1, rows))
        """What the rarest word can weigh: the measure of a strength."""

    def match(self, words: Words) -> Match | None:
        """How a memory of these words answers, or None for one that holds nothing of the prompt."""
        found = self._occurrences(words)
        if not found:
            return None
        length = sum(text.count(" ") + 1 for text in words if text)
        damping = K1 * (1 - B + B * length / self._mean_length) if self._mean_length else K1
        parts = tuple(self._part(number, *found[number], damping) for number in sorted(found))
        bm25 = sum(part.score for part in parts)
        return Match(bm25, bm25 * sqrt(min(1.0, len(parts) / self._asked)), parts)

    def _occurrences(self, words: Words) -> dict[int, tuple[list[int], list[int]]]:
        """Unit -> how often it stands in each column, and how often longer words do."""
        found: dict[int, tuple[list[int], list[int]]] = {}
        for column, text in enumerate(words):
            for phrase, count in self._finder.count(text).items():
                number, is_longer = self._owners[phrase]
                if number not in found:
                    found[number] = [0, 0, 0], [0, 0, 0]
                found[number][is_longer][column] += count
        return found

    def _part(self, unit: int, full: list[int], longer: list[int], damping: float) -> Part:
        is_longer = not any(full)
        counts = longer if is_longer else full
        f = sum(weight * count for weight, count in zip(WEIGHTS, counts, strict=True))
        quality = HALF if is_longer else 1.0
        score = quality * self._idf[unit] * f * (K1 + 1) / (f + damping)
        return Part(unit, (counts[0], counts[1], counts[2]), is_longer, score)


def idf(count: int, rows: int) -> float:
    """The weight of a unit that stands in *count* of *rows* memories."""
    return log(1 + (rows + ELSEWHERE - count + 0.5) / (count + 0.5))
