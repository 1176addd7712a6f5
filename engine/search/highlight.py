"""The places of a query's words in a text, and snippets around them."""

from __future__ import annotations

from engine.config import AUTO
from engine.lean.record import Record
from engine.search.stems import stem
from engine.search.strategies.memsift import pick_terms
from engine.search.tokens import placed_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.prompt import Prompt
    from engine.search.query import Term

    Span = tuple[int, int]
    """Start and end of a match, as character offsets."""

ELLIPSIS = "…"


class Snippet(Record):
    """A piece of a text on one line, and the matches in it as (start, end) character offsets."""

    text: str
    matches: tuple[tuple[int, int], ...]


class Marker:
    """Finds the words of one query in many texts, in any form, as the index does; of a filter also longer words."""

    def __init__(self, terms: Sequence[Term] = ()) -> None:
        stems = [phrase for term in terms for phrase in term.stems]
        self._words = {phrase[0] for phrase in stems if len(phrase) == 1}
        self._starts = tuple(term.phrases[0][0] for term in terms if term.is_prefix)
        self._phrases: dict[str, list[tuple[str, ...]]] = {}
        for phrase in stems:
            if len(phrase) > 1:
                self._phrases.setdefault(phrase[0], []).append(phrase)

    @classmethod
    def of(cls, prompt: Prompt, mode: str = AUTO) -> Marker:
        """The marker for a prompt that is asked in *mode*."""
        return cls(pick_terms(prompt.text, prompt.turns, mode)[1])

    def places(self, text: str) -> list[Span]:
        """The matches in *text*: sorted, not overlapping."""
        if not (self._words or self._phrases or self._starts):
            return []
        placed = [(stem(token), token, start, end) for token, start, end in placed_tokens(text)]
        found = [
            (start, end)
            for word, token, start, end in placed
            if word in self._words or (self._starts and token.startswith(self._starts))
        ]
        stems = [word for word, *_ in placed]
        found += [
            (placed[first][2], placed[first + len(phrase) - 1][3])
            for first, word in enumerate(stems)
            for phrase in self._phrases.get(word, ())
            if tuple(stems[first : first + len(phrase)]) == phrase
        ]
        merged: list[Span] = []
        for start, end in sorted(found):
            if merged and start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged


def snippet(text: str, marker: Marker, width: int = 160) -> Snippet:
    """About *width* characters of *text* around the first match, on one line; without a match, its beginning."""
    flat = " ".join(text.split())
    found = marker.places(flat)
    start, end = 0, len(flat)
    if len(flat) > width:
        start = max(0, min(found[0][0] - width // 3, len(flat) - width)) if found else 0
        start = flat.rfind(" ", max(0, start - width // 4), start) + 1 or start
        end = start + width
    shown = (ELLIPSIS if start else "") + flat[start:end].rstrip()
    shift = len(ELLIPSIS) - start if start else 0
    matches = [(max(first, start) + shift, min(last + shift, len(shown))) for first, last in found if last > start]
    within = tuple((first, last) for first, last in matches if first < last)
    return Snippet(shown + (ELLIPSIS if end < len(flat) else ""), within)
