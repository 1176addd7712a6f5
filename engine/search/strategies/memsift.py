"""`memsift`: by strength over title, tags and body. See `engine.search.strength`."""

from __future__ import annotations

from engine.search.query import joined_neighbours, query_terms
from engine.search.ranking import Pool, Scored
from engine.search.strongest import strongest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.search.expansion import Unit
    from engine.search.index import Index
    from engine.search.query import Term
    from engine.search.strongest import Strong


def find(text: str, index: Index, size: int, *, min_strength: float, include_retired: bool) -> Pool:
    """The *size* strongest active memories, and the retired ones among them."""
    answers = strongest(index, asked(text), size, include_retired=include_retired)
    scored = [_scored(one, answers.units) for one in answers.memories]
    return Pool(scored, min_strength * answers.rare, answers.units, answers.idf, answers.rare)


def asked(text: str) -> tuple[Term, ...]:
    """What a prompt asks for: its terms, and the words that neighbours in it may be."""
    return (*query_terms(text), *joined_neighbours(text))


def _scored(one: Strong, units: Sequence[Unit]) -> Scored:
    matched = tuple(units[number].text for number in one.match.units)
    return Scored(one.summary, -one.match.bm25, 0, -one.match.strength, matched)
