"""How strongly a memory answers a prompt: BM25 over all its words, times how much of the prompt it is about.

    bm25 = sum over matched units of  quality x idf x f (K1 + 1) / (f + K1 (1 - B + B D / D_mean))
    strength = bm25 x sqrt(matched units / units of the prompt, MAX_ASKED at most)

f adds up the weights of the columns in which the unit stands, once per occurrence and rounded for each word (see
`engine.search.weights`); D counts the tokens of all columns; idf = ln(1 + (N - n + 0.5) / (n + 0.5)), which stays
positive (Lucene's BM25Similarity; FTS5's own is 0 for a word that half of the memories hold), with N = memories +
ELSEWHERE. The quality is 1, or HALF where only longer words were found.
The root is a coordination factor: of two equal sums, the one from more of the prompt's words is the better answer.
It halves false injections at equal recall, and unlike BM25 alone it can be compared between prompts.
"""

from __future__ import annotations

from math import log, sqrt

from engine.lean.record import Record
from engine.search.postings import MAX_LENGTH
from engine.search.tokens import occurrences
from engine.search.weights import WEIGHTS, rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engine.search.expansion import Unit
    from engine.search.rows import Words

    Owner = tuple[int, bool]
    """A unit, and whether the word is a longer one."""

K1, B = 1.2, 0.75
HALF = 0.5
MAX_ASKED = 50
"""Units of a prompt that count: a paste must not silence the question beside it."""

ELSEWHERE = 10
"""Memories about something else that a root is taken to have besides its own: in a small one, a word that all memories
hold would weigh nothing otherwise. On LoCoMo (250 memories a root) it changes no rate by more than 0.001."""


class Match(Record):
    """A memory's BM25 sum and strength (positive, higher is better), and the numbers of the units that it holds."""

    bm25: float
    strength: float
    units: tuple[int, ...]


class Matcher:
    """Matches memories with one prompt. `rows` and `mean_length` (tokens) are the corpus's."""

    def __init__(self, units: Sequence[Unit], rows: int, mean_length: float) -> None:
        self._asked = min(len(units), MAX_ASKED)
        self.rows = rows
        self._mean_length = mean_length
        self.idf = [idf(min(unit.count, rows), rows) for unit in units]
        self.worth = [one * (K1 + 1) for one in self.idf]
        """What a unit's occurrences come near to, the more there are."""
        self.rare = idf(1, max(1, rows))
        """What the rarest word can weigh: the measure of a strength."""
        self._units = units
        self._words: dict[str, list[Owner]] = {}
        self._phrases: list[tuple[frozenset[str], str, int]] = []
        self._wanted: frozenset[str] | None = None

    def match(self, bag: str, read_words: Callable[[], Words]) -> Match | None:
        """How a memory of this bag answers, or None for one that holds nothing of the prompt.

        *read_words* gives its words, which a bag does not have in order; it is called where a phrase may be in them.
        """
        from engine.search.bags import weights_in  # only for a memory that the lists leave out

        length, present = weights_in(bag, self._sought())
        full: dict[int, int] = {}
        longer: dict[int, int] = {}
        for word, weight in present.items():
            for number, is_longer in self._words.get(word, ()):
                weights = longer if is_longer else full
                weights[number] = weights.get(number, 0) + weight
        possible = [(phrase, number) for tokens, phrase, number in self._phrases if tokens <= present.keys()]
        words = spaced(read_words()) if possible else ()
        for phrase, number in possible:
            if of_phrase := _weight(phrase, words):
                full[number] = full.get(number, 0) + of_phrase
        units = sorted({**full, **longer})
        return self.of_units(
            [(unit, full[unit], 1.0) if unit in full else (unit, longer[unit], HALF) for unit in units], length
        )

    def in_full(self, unit: int, words: Sequence[str]) -> int:
        """What the occurrences of a unit's phrases count in a memory of these words, `spaced`."""
        weights = [(_weight(f" {' '.join(phrase)} ", words), len(phrase)) for phrase in self._units[unit].phrases]
        return sum(rounded(weight) if length == 1 else weight for weight, length in weights)

    def _sought(self) -> frozenset[str]:
        """All words that count, and those of phrases. Most searches read lists alone, and need none of this."""
        if self._wanted is None:
            for number, unit in enumerate(self._units):
                self._note(number, unit)
            self._wanted = frozenset({*self._words, *(token for tokens, _, _ in self._phrases for token in tokens)})
        return self._wanted

    def _note(self, number: int, unit: Unit) -> None:
        for phrase in unit.phrases if unit.count else ():
            if len(phrase) == 1:
                self._words.setdefault(phrase[0], []).append((number, False))
            else:
                self._phrases.append((frozenset(phrase), f" {' '.join(phrase)} ", number))
        for word in unit.longer:
            self._words.setdefault(word, []).append((number, True))

    def of_units(self, found: Iterable[tuple[int, int, float]], length: int) -> Match | None:
        """How a memory of *length* tokens answers, or None.

        *found*: the units that it holds, in their order; what their words weigh in it; and their quality.
        """
        damping, worth = self.damping(length), self.worth
        bm25, units = 0.0, []
        for unit, f, quality in found:
            bm25 += quality * worth[unit] * f / (f + damping)
            units.append(unit)
        return Match(bm25, bm25 * self.coordination(len(units)), tuple(units)) if units else None

    def coordination(self, matched: int) -> float:
        """What the BM25 of a memory that holds *matched* units is multiplied by, 0..1."""
        return min(1.0, sqrt(matched / self._asked))

    def damping(self, length: int) -> float:
        """What an occurrence is held against in a memory of so many tokens."""
        return K1 * (1 - B + B * min(length, MAX_LENGTH) / self._mean_length) if self._mean_length else K1


def idf(count: int, rows: int) -> float:
    """The weight of a unit that stands in *count* of *rows* memories."""
    return log(1 + (rows + ELSEWHERE - count + 0.5) / (count + 0.5))


def spaced(words: Words) -> Sequence[str]:
    """Words with a space before the first and behind the last, as between them: so a phrase is found by its own."""
    return [f" {text} " for text in words]


def _weight(phrase: str, words: Sequence[str]) -> int:
    """What the occurrences of a phrase count in `spaced` words."""
    return sum(
        weight * occurrences(text, phrase) for weight, text in zip(WEIGHTS, words, strict=True) if phrase in text
    )
