"""`fts5_bm25`: FTS5's own BM25 over the stems of title and tags, with a bonus for words of the prompt in the body.

An explicit search ranks by the whole text instead, without a bonus. Each spelling of an identifier counts by itself.
"""

from __future__ import annotations

from engine.search.query import any_of, query_terms, with_last_prefix
from engine.search.ranking import CandidatePool, Scored, order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.search.postings import Postings, Unit, Weights
    from engine.search.query import Term

MAX_BODY_BONUS = 3
BUDGET = 6000
"""Postings that FTS5 may read for a prompt."""

HEADLINE, BODIES = (1.0, 1.0, 0.0), (4.0, 2.0, 1.0)
"""The weights of title, tags and body, as the hook searches, and for an explicit search."""


def asked(postings: Postings, text: str, *, in_bodies: bool) -> tuple[tuple[Term, ...], list[Unit]]:
    """The terms of a prompt and their units. In an explicit search, somebody may still be typing the last word."""
    terms = query_terms(text)
    terms = with_last_prefix(terms) if in_bodies else terms
    return terms, postings.units(terms)


def find(postings: Postings, text: str, size: int, *, in_bodies: bool, include_retired: bool) -> CandidatePool:
    """The *size* best active memories and the retired memories among them, best first; see `memsift.find`."""
    _, units = asked(postings, text, in_bodies=in_bodies)
    read, after = postings.affordable(units, BUDGET)
    if not read:
        return CandidatePool([], units, searched=text)
    ranked = postings.ranked(*_expression(read, in_bodies=in_bodies), after)
    scores = {row: score for row, score, *_ in ranked}
    active = {row for row, *_, is_active in ranked if is_active}
    lengths = {row: tokens for row, _, tokens, _ in ranked}
    found = postings.strongest(scores, active, size, include_retired=include_retired)
    matched = _matched(postings, read, found)
    scored = []
    for row, memory in found.items():
        bonus = 0 if in_bodies else _bonus(matched[row])
        scored.append(Scored(memory, -scores[row], bonus, -scores[row] - bonus, tuple(matched[row]), lengths[row]))
    return CandidatePool(sorted(scored, key=order), units, searched=text)


def parts_of(postings: Postings, units: Sequence[Unit], row: int, *, in_bodies: bool) -> tuple[dict[int, float], int]:
    """The number of each unit that a memory holds -> its part of the BM25, and the bonus. Empty without BM25."""
    read, after = postings.affordable(units, BUDGET)
    parts = {}
    for number, unit in enumerate(units):
        if unit in read and (score := postings.score_of(row, *_expression([unit], in_bodies=in_bodies), after)):
            parts[number] = score
    return parts, _bonus(_matched(postings, read, [row])[row]) if parts and not in_bodies else 0


def _expression(units: Iterable[Unit], *, in_bodies: bool) -> tuple[str, Weights]:
    expression = any_of(phrase for unit in units for phrase in unit.phrases)
    return (expression, BODIES) if in_bodies else (f"{{title tags}} : ({expression})", HEADLINE)


def _matched(postings: Postings, units: Iterable[Unit], rows: Collection[int]) -> dict[int, dict[str, bool]]:
    """Row -> the text of each unit that the memory holds, and whether it stands in the body."""
    found: dict[int, dict[str, bool]] = {row: {} for row in rows}
    for unit in units:
        for row, field, _ in postings.places(unit, rows):
            found[row][unit.text] = found[row].get(unit.text, False) or field == "body"
    return found


def _bonus(matched: Mapping[str, bool]) -> int:
    return min(MAX_BODY_BONUS, sum(matched.values()))
