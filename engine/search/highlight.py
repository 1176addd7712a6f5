"""The places of a query's words in a text, and snippets around them."""

from __future__ import annotations

from engine.lean.record import Record
from engine.search.query import query_terms
from engine.search.stems import stem
from engine.search.strategies.memsift import asked
from engine.search.tokens import placed_tokens
from engine.search.units import MAX_TERMS, may_begin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.prompt import Prompt
    from engine.search.query import Term

    Place = tuple[int, int]
    """Start and end of a match, as character offsets."""

ELLIPSIS = "…"


class Snippet(Record):
    """A piece of a text on one line, and the matches in it as (start, end) character offsets."""

    text: str
    matches: tuple[tuple[int, int], ...]


class Marker:
    """Finds the words of one query in many texts.

    With *by_stem* it marks the matches of the strategy `memsift`: other forms of a word and longer words, see `units`.
    Otherwise it marks the terms themselves and longer words, as a filter finds them.
    """

    def __init__(self, terms: Sequence[Term] = (), *, by_stem: bool = True) -> None:
        self._by_stem = by_stem
        plain = {term.phrases[0][0] for term in terms if term.is_prefix}
        others = [phrase for term in terms if not term.is_prefix for phrase in term.phrases]
        self._words = plain | {phrase[0] for phrase in others if len(phrase) == 1}
        self._stems = {stem(word) for word in plain} if by_stem else set()
        self._starts = {word for word in plain if not by_stem or (may_begin(word) and len(terms) <= MAX_TERMS)}
        self._lengths = sorted({len(start) for start in self._starts})
        self._phrases: dict[str, list[tuple[str, ...]]] = {}
        for phrase in others:
            if len(phrase) > 1:
                self._phrases.setdefault(phrase[0], []).append(phrase)
        self._known: dict[str, bool] = {}

    @classmethod
    def of(cls, prompt: Prompt, *, by_stem: bool) -> Marker:
        """The marker for a prompt."""
        terms = asked(prompt.text, prompt.turns)[1] if by_stem else query_terms(prompt.text)
        return cls(terms, by_stem=by_stem)

    def places(self, text: str) -> list[Place]:
        """The matches in *text*: sorted, not overlapping."""
        if not (self._words or self._phrases):
            return []
        placed = placed_tokens(text)
        found = [(start, end) for token, start, end in placed if self._marks(token)]
        return _merged(sorted([*found, *self._phrase_places(placed)] if self._phrases else found))

    def _marks(self, token: str) -> bool:
        known = self._known.get(token)
        if known is None:
            known = self._known[token] = self._is_word(token)
        return known

    def _is_word(self, token: str) -> bool:
        if token in self._words or (self._by_stem and stem(token) in self._stems):
            return True
        return any(token[:length] in self._starts for length in self._lengths)

    def _phrase_places(self, placed: list[tuple[str, int, int]]) -> list[Place]:
        tokens = [token for token, _, _ in placed]
        return [
            (placed[first][1], placed[first + len(phrase) - 1][2])
            for first, token in enumerate(tokens)
            for phrase in self._phrases.get(token, ())
            if self._is_phrase(phrase, tokens[first : first + len(phrase)])
        ]

    def _is_phrase(self, phrase: tuple[str, ...], tokens: list[str]) -> bool:
        """Whether *tokens* are the words of *phrase*, the last word in any form."""
        if len(tokens) < len(phrase) or tokens[:-1] != list(phrase[:-1]):
            return False
        return tokens[-1] == phrase[-1] or (self._by_stem and stem(tokens[-1]) == stem(phrase[-1]))


def snippet(text: str, marker: Marker, width: int = 160) -> Snippet:
    """About *width* characters of *text* around the first match, on one line; without a match, its beginning."""
    flat = " ".join(text.split())
    found = marker.places(flat)
    start, end = _window(flat, found, width)
    shown = (ELLIPSIS if start else "") + flat[start:end].rstrip()
    shift = len(ELLIPSIS) - start if start else 0
    matches = [(max(first, start) + shift, min(last + shift, len(shown))) for first, last in found if last > start]
    within = tuple((first, last) for first, last in matches if first < last)
    return Snippet(shown + (ELLIPSIS if end < len(flat) else ""), within)


def _window(flat: str, found: list[Place], width: int) -> Place:
    """The start and end of the shown part of *flat*."""
    if len(flat) <= width:
        return 0, len(flat)
    start = max(0, min(found[0][0] - width // 3, len(flat) - width)) if found else 0
    start = flat.rfind(" ", max(0, start - width // 4), start) + 1 or start
    return start, start + width


def _merged(places: list[Place]) -> list[Place]:
    merged: list[Place] = []
    for start, end in places:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
