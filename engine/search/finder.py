"""Which phrases of a query stand in a text, how often: by the rules by which FTS5 matches them, for many phrases."""

from __future__ import annotations

from engine.search.tokens import occurrences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.search.query import Phrase


class Finder:
    """Made once for a query and asked for many texts: the cost is that of the text, not of the query."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self._words: dict[str, list[int]] = {}
        self._starts: dict[str, list[int]] = {}
        self._sequences: dict[str, list[tuple[int, str]]] = {}
        self._known: dict[str, tuple[int, ...]] = {}
        for number, (phrase, is_prefix) in enumerate(phrases):
            if len(phrase) > 1:
                self._sequences.setdefault(phrase[0], []).append((number, f" {' '.join(phrase)} "))
            else:
                (self._starts if is_prefix else self._words).setdefault(phrase[0], []).append(number)
        self._lengths = sorted({len(start) for start in self._starts})
        singles = [*self._words, *self._starts]
        self._shortest = min(map(len, singles), default=1)
        self._heads = {single[: self._shortest] for single in singles}

    def count(self, words: str) -> dict[int, int]:
        """Number of the phrase -> how often it stands in *words*, which are tokens with one space between."""
        found: dict[int, int] = {}
        known = self._known
        for token in words.split():
            numbers = known.get(token)
            if numbers is None:
                numbers = known[token] = self._single(token)
            for number in numbers:
                found[number] = found.get(number, 0) + 1
        return self._with_sequences(found, f" {words} ") if self._sequences else found

    def _single(self, token: str) -> tuple[int, ...]:
        if token[: self._shortest] not in self._heads:
            return ()
        numbers = list(self._words.get(token, ()))
        for size in self._lengths:
            if size > len(token):
                break
            numbers += self._starts.get(token[:size], ())
        return tuple(numbers)

    def _with_sequences(self, found: dict[int, int], text: str) -> dict[int, int]:
        for first in self._sequences.keys() & set(text.split()):
            for number, phrase in self._sequences[first]:
                if count := occurrences(text, phrase):
                    found[number] = count
        return found
