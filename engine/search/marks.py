"""Where the terms of a query stand in a text, for highlighting and for snippets."""

from __future__ import annotations

from engine.search.tokens import placed_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.search.query import Term

ELLIPSIS = "…"


def marks(text: str, terms: tuple[Term, ...]) -> list[tuple[int, int]]:
    """Places of *terms* in *text* as (start, end) character offsets: sorted, not overlapping."""
    placed = placed_tokens(text)
    tokens = tuple(token for token, _, _ in placed)
    found = {(placed[first][1], placed[last][2]) for term in terms for first, last in term.places(tokens)}
    return _merged(sorted(found))


def snippet(text: str, terms: tuple[Term, ...], width: int = 160) -> str:
    """About *width* characters of *text* around the first match, on one line; its beginning if nothing matches."""
    flat = " ".join(text.split())
    if len(flat) <= width:
        return flat
    found = marks(flat, terms)
    start = max(0, min(found[0][0] - width // 3, len(flat) - width)) if found else 0
    start = flat.rfind(" ", max(0, start - width // 4), start) + 1 or start
    end = start + width
    return (ELLIPSIS if start else "") + flat[start:end].rstrip() + (ELLIPSIS if end < len(flat) else "")


def _merged(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in places:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
