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
        self._firsts = {first: -1 - place for place, first in enumerate(self._sequences)}
        self._shortest = min(map(len, self._starts), default=1)
        self._lengths: dict[str, set[int]] = {}
        for start in self._starts:
            self._lengths.setdefault(start[: self._shortest], set()).add(len(start))

    def count(self, words: str) -> dict[int, int]:
        """Number of the phrase -> how often it stands in *words*, which are tokens with one space between."""
        found: dict[int, int] = {}
        known = self._known
        for token in words.split():
            numbers = known.get(token)
            if numbers is None:
                numbers = known[token] = self._of(token)
            for number in numbers:
                found[number] = found.get(number, 0) + 1
        return self._with_sequences(found, f" {words} ") if self._sequences else found

    def _of(self, token: str) -> tuple[int, ...]:
        """The phrases of one token that stand where *token* does; and a negative number for one that begins others."""
        numbers = [self._firsts[token]] if token in self._firsts else []
        numbers += self._words.get(token, ())
        for size in self._lengths.get(token[: self._shortest], ()):
            if size <= len(token):
                numbers += self._starts.get(token[:size], ())
        return tuple(numbers)

    def _with_sequences(self, found: dict[int, int], text: str) -> dict[int, int]:
        for first, place in self._firsts.items():
            if found.pop(place, 0):
                for number, phrase in self._sequences[first]:
                    if count := occurrences(text, phrase):
                        found[number] = count
        return found
