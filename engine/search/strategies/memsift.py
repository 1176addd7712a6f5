"""`memsift`: by strength over title, tags and body.

The weight of a unit is its rarity in the root x its rarity in general text (`commonness`). The rarity in the root is
Lucene's (BM25Similarity), which stays positive: idf = ln(1 + (N - n + 0.5) / (n + 0.5)) with N = memories + ELSEWHERE.
Unlike BM25, strengths of different prompts can be compared.

The turns before a prompt are part of every query, with a small weight: more than half of what people type says little
without them ("option C", "still fails").
"""

from __future__ import annotations

from math import log

from engine.lean.record import replace
from engine.search.commonness import rarity_of
from engine.search.query import joined_neighbours, query_terms
from engine.search.scoring import FULL_TEXT, Strategy
from engine.search.units import units_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.lean.sqlite import Connection
    from engine.prompt import Turn
    from engine.search.query import Term
    from engine.search.units import Unit

HALF = 0.5
"""The quality of words that are longer than the prompt's word."""

ELSEWHERE = 10
"""Memories about other things that are added to the number of memories: else a word of all memories in a small root
would weigh nothing."""

SHORT_WORDS = 60
"""A prompt of so many words counts whole, whatever part of it was typed."""

LEAST_TYPED = 3

TURNS, TURN_CHARACTERS, TURN_WEIGHT = 4, 600, 0.3
"""The last turns before a prompt that count, the end of each that is read, and the weight of a word in them."""

MOST_FROM_TURNS = 40
"""Terms of the turns that count: the rarest in general text, the latest of these."""

FEW, MANY, MANY_UNITS = 40, 96, 8
"""Candidates for a prompt of more than MANY_UNITS units, and for a shorter prompt: more memories match it equally."""

SMALL_POOL = 12
"""A pool of so many memories needs no further candidates; a larger pool needs ten for each memory."""


def asked(text: str, turns: Sequence[Turn] = ()) -> tuple[str, tuple[Term, ...]]:
    """The part of a prompt that is searched, and its terms: those of the words in it, those of words that two
    neighbours may be, and those of the *turns* before it.

    The part is the typed part if it has LEAST_TYPED terms, else all of it: "fix this" alone says nothing.
    """
    searched = text
    if len(text.split(None, SHORT_WORDS)) > SHORT_WORDS:
        from engine.search.typed_part import typed_part

        searched = typed_part(text)
    terms = query_terms(searched)
    if searched is not text and len(terms) < LEAST_TYPED:
        searched, terms = text, query_terms(text)
    return searched, (*terms, *joined_neighbours(searched), *(_from_turns(turns, terms) if turns else ()))


def _from_turns(turns: Sequence[Turn], terms: Sequence[Term]) -> list[Term]:
    """The MOST_FROM_TURNS terms of the last turns that are not among *terms*."""
    known = {term.phrases for term in terms}
    latest = {
        term.phrases: replace(term, weight=TURN_WEIGHT)
        for turn in reversed(turns[-TURNS:])
        for term in query_terms(turn.text[-TURN_CHARACTERS:])
        if term.phrases not in known
    }
    rare = sorted(latest.values(), key=lambda term: rarity_of(term) < 1)
    return rare[:MOST_FROM_TURNS]


def idf(holding: int, memories: int) -> float:
    """The weight of a unit that *holding* of the memories hold."""
    return log(1 + (memories + ELSEWHERE - holding + 0.5) / (holding + 0.5))


def _weights(_: Connection, units: Sequence[Unit], memories: int) -> list[float]:
    return [unit.weight * rarity_of(unit) * idf(min(unit.memories, memories), memories) for unit in units]


def _candidates(units: int, size: int) -> int:
    return max(FEW if units > MANY_UNITS else MANY, 10 * size if size > SMALL_POOL else 0)


STRATEGY = Strategy(
    table=FULL_TEXT,
    weights=(4, 2, 1),
    longer=HALF,
    postings=(2500, 6000),
    candidates=_candidates,
    asked=asked,
    units=units_of,
    idf=_weights,
    rare=lambda memories: idf(1, max(1, memories)),
)
