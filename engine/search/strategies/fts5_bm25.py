"""`fts5_bm25`: FTS5's own BM25 over the stems of title and tags, with a bonus for words of the prompt in the body.

An explicit search ranks by the whole text instead, without a bonus. Each spelling of an identifier counts by itself.
"""

from __future__ import annotations

from engine.retrieval import Candidate
from engine.search.postings import WEIGHTS
from engine.search.query import any_of, query_terms, with_last_prefix
from engine.search.ranking import CandidatePool, order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.search.postings import Postings, Unit, Weights
    from engine.search.query import Term

MAX_BODY_BONUS = 3
BUDGET, BUDGET_OF_BODIES = 20_000, 6000
"""Postings that FTS5 may read for a prompt: most of them are of bodies, where it scores none for the hook."""

HEADLINE = 1.0, 1.0, 0.0
"""The weights of title, tags and body as the hook searches."""


def find_units(postings: Postings, text: str, *, in_bodies: bool) -> tuple[tuple[Term, ...], list[Unit]]:
    """The terms of a prompt and their units. In an explicit search, somebody may still be typing the last word."""
    terms = query_terms(text)
    terms = with_last_prefix(terms) if in_bodies else terms
    return terms, postings.units(terms)


def find(postings: Postings, text: str, size: int, *, in_bodies: bool, include_retired: bool) -> CandidatePool:
    """The *size* best active memories and the retired memories among them, best first; see `memsift.find`."""
    _, units = find_units(postings, text, in_bodies=in_bodies)
    numbers, after = postings.affordable(units, BUDGET_OF_BODIES if in_bodies else BUDGET)
    read = [units[number] for number in numbers]
    if not read:
        return CandidatePool([], units, searched=text)
    scores = postings.rank(*_expression(read, in_bodies=in_bodies), after)
    found = postings.strongest(scores, size, include_retired=include_retired)
    lengths = postings.lengths(found)
    matched = _match(postings, read, found)
    scored = []
    for row, memory in found.items():
        bonus = 0 if in_bodies else _bonus(matched[row])
        scored.append(
            Candidate(memory, -scores[row], bonus, -scores[row] - bonus, tuple(matched[row]), length=lengths[row])
        )
    return CandidatePool(sorted(scored, key=order), units, searched=text)


def parts_of(postings: Postings, units: Sequence[Unit], row: int, *, in_bodies: bool) -> tuple[dict[int, float], int]:
    """The number of each unit that a memory holds -> its part of the BM25, and the bonus. Empty without BM25."""
    numbers, after = postings.affordable(units, BUDGET_OF_BODIES if in_bodies else BUDGET)
    read = [units[number] for number in numbers]
    matched = _match(postings, read, [row])[row]
    parts = {
        number: postings.score_of(row, *_expression([unit], in_bodies=in_bodies), after)
        for number, unit in zip(numbers, read, strict=True)
        if unit.text in matched
    }
    return (parts, 0 if in_bodies else _bonus(matched)) if any(parts.values()) else ({}, 0)


def _expression(units: Iterable[Unit], *, in_bodies: bool) -> tuple[str, Weights]:
    expression = any_of(phrase for unit in units for phrase in unit.phrases)
    return (expression, WEIGHTS) if in_bodies else (f"{{title tags}} : ({expression})", HEADLINE)


def _match(postings: Postings, units: Sequence[Unit], rows: Collection[int]) -> dict[int, dict[str, bool]]:
    """Row -> the text of each unit that the memory holds, and whether it stands in the body."""
    found: dict[int, dict[str, bool]] = {row: {} for row in rows}
    for number, row, field, _ in postings.places(units, rows):
        text = units[number].text
        found[row][text] = found[row].get(text, False) or field == "body"
    return found


def _bonus(matched: Mapping[str, bool]) -> int:
    return min(MAX_BODY_BONUS, sum(matched.values()))
