"""`memsift`: by strength over title, tags and body.

The weight of a unit is Lucene's (BM25Similarity), which stays positive: idf = ln(1 + (N - n + 0.5) / (n + 0.5)) with
N = memories + ELSEWHERE. The coordination counts: of two equal sums, the sum of more units is the better answer. Unlike
BM25, strengths of different prompts can be compared.
"""

from __future__ import annotations

from math import log

from engine.lean.record import replace
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

MAX_ASKED = 50
"""Units of a prompt that count: a paste must not silence the question beside it."""

ELSEWHERE = 10
"""Memories about other things that are added to the number of memories: else a word of all memories in a small root
would weigh nothing."""

SHORT_WORDS = 60
"""A prompt of so many words counts whole, whatever part of it was typed."""

LEAST_TYPED = 3

FEW_TERMS, TURNS, TURN_WEIGHT = 4, 2, 0.3
"""The best on the example projects: more of the prompts that depend on their context get their memory, with no other
effect. `python -m tests.benchmarks.default_model` measures it."""

MOST_LITTLE = 200
"""Characters of a prompt that may say little."""

FEW, MANY, MANY_UNITS = 64, 96, 8
"""Candidates for a prompt of more than MANY_UNITS units, and for a shorter prompt: more memories match it equally."""

SMALL_POOL = 9
"""A pool of so many memories needs no further candidates; a larger pool needs ten for each memory."""


def searched_text(text: str) -> str:
    """The typed part of a prompt if it has LEAST_TYPED terms, else all of it: "fix this" alone says nothing."""
    if len(text.split()) <= SHORT_WORDS:
        return text
    from engine.search.typed_part import typed_part

    typed = typed_part(text)
    return typed if typed is text or len(query_terms(typed)) >= LEAST_TYPED else text


def asked(text: str, turns: Sequence[Turn] = ()) -> tuple[Term, ...]:
    """The terms of a prompt, and the words that two neighbours in it may be.

    A prompt of few terms, such as "fix that function", is about the *turns* before it: the terms of the last TURNS of
    them count as well, with less weight.
    """
    searched = searched_text(text)
    terms = query_terms(searched)
    known = {term.phrases for term in terms}
    earlier = [query_terms(turn.text) for turn in turns[-TURNS:]] if len(terms) <= FEW_TERMS else []
    weak = {term.phrases: term for own in earlier for term in own if term.phrases not in known}
    return (*terms, *joined_neighbours(searched), *(replace(term, weight=TURN_WEIGHT) for term in weak.values()))


def says_little(text: str) -> bool:
    """Whether a prompt has so few terms that the turns before it count."""
    return len(text) <= MOST_LITTLE and len(query_terms(text)) <= FEW_TERMS


def idf(holding: int, memories: int) -> float:
    """The weight of a unit that *holding* of the memories hold."""
    return log(1 + (memories + ELSEWHERE - holding + 0.5) / (holding + 0.5))


def _weights(_: Connection, units: Sequence[Unit], memories: int) -> list[float]:
    return [unit.weight * idf(min(unit.memories, memories), memories) for unit in units]


def _candidates(units: int, size: int) -> int:
    return max(FEW if units > MANY_UNITS else MANY, 10 * size if size > SMALL_POOL else 0)


STRATEGY = Strategy(
    table=FULL_TEXT,
    weights=(4, 2, 1),
    longer=HALF,
    postings=(2500, 6000),
    candidates=_candidates,
    searched=searched_text,
    terms=asked,
    units=units_of,
    idf=_weights,
    rare=lambda memories: idf(1, max(1, memories)),
    most_asked=MAX_ASKED,
)
