"""`memsift`: by strength over title, tags and body.

    strength = bm25 x sqrt(matched units / units of the prompt, MAX_ASKED at most)

`scoring` has the formula of BM25. The weight of a unit is Lucene's (BM25Similarity), which stays positive:
idf = ln(1 + (N - n + 0.5) / (n + 0.5)) with N = memories + ELSEWHERE. The root is a coordination factor: of two equal
sums, the sum of more units is the better answer. Unlike BM25, strengths of different prompts can be compared.
"""

from __future__ import annotations

from math import log, sqrt

from engine.lean.record import Record, replace
from engine.search.database import summaries_of
from engine.search.query import any_of, joined_neighbours, query_terms
from engine.search.ranking import CandidatePool, Scored, first_ones, order
from engine.search.scoring import SMALL, Scorer, best_rows, candidates, encoded_words
from engine.search.units import units_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.lean.sqlite import Connection
    from engine.memory import MemorySummary
    from engine.prompt import Turn
    from engine.search.query import Term
    from engine.search.ranking import Searchable
    from engine.search.units import Unit, Units

TITLE, TAGS, BODY = 4, 2, 1
"""The weight of an occurrence, by field."""

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

LEAST_POSTINGS, MOST_POSTINGS = 2500, 6000
"""Postings that FTS5 may read for a prompt: more in a larger root."""

FEW, MANY, MANY_UNITS = 64, 96, 8
"""Candidates for a prompt of more than MANY_UNITS units, and for a shorter prompt: more memories match it equally."""

SMALL_POOL = 9
"""A pool of so many memories needs no further candidates; a larger pool needs ten for each memory."""


class Match(Record):
    """How a memory answers a prompt: its BM25 and strength, positive, and the part of each unit in the BM25.

    `parts` has the number of each unit that the memory holds.
    """

    bm25: float
    strength: float
    parts: Mapping[int, float]


def find(
    text: str,
    index: Searchable,
    size: int,
    *,
    include_retired: bool,
    turns: Sequence[Turn] = (),
) -> CandidatePool:
    """The *size* strongest active memories and the retired memories among them, best first.

    With *include_retired*, retired memories count like active memories. *turns* came before the prompt, see `asked`.
    """
    searched = searched_text(text)
    terms = asked(text, turns)

    def pool(db: Connection) -> CandidatePool:
        matcher = PromptMatcher(db, terms)
        found = _scored_memories(db, matcher, index.root, size, include_retired=include_retired)
        return CandidatePool(found, matcher.found.units, matcher.rare, matcher.unknown, searched)

    return index.pool(pool)


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


class PromptMatcher:
    """Matches memories with one prompt. `rare` is the weight of the rarest possible word, the unit of a strength."""

    def __init__(self, db: Connection, terms: Sequence[Term]) -> None:
        self.found: Units = units_of(db, terms)
        self.memories, tokens = db.execute("select memories, tokens from about").fetchone()
        self.idf = [unit.weight * idf(min(unit.memories, self.memories), self.memories) for unit in self.found.units]
        self.rare = idf(1, max(1, self.memories))
        mean_length = tokens / max(1, self.memories)
        self.scorer = Scorer(self.found, self.idf, mean_length, weights=(TITLE, TAGS, BODY), longer=HALF)
        self._asked = min(sum(unit.weight for unit in self.found.units), MAX_ASKED)

    @property
    def unknown(self) -> float:
        """The part of the prompt's weight in words that no memory holds, 0..1."""
        missing = sum(weight for weight, unit in zip(self.idf, self.found.units, strict=True) if not unit.memories)
        return missing / (sum(self.idf) or 1.0)

    def match(self, encoded: str) -> Match | None:
        """The match of a memory with these encoded tokens; None if it holds no unit."""
        parts = self.scorer.contributions(encoded)
        bm25 = sum(parts.values())
        return Match(bm25, bm25 * self.coordination(parts), parts) if parts else None

    def coordination(self, matched: Iterable[int]) -> float:
        """The factor of a memory that holds the units of these numbers, 0..1."""
        return min(1.0, sqrt(sum(self.found.units[number].weight for number in matched) / self._asked))


def idf(holding: int, memories: int) -> float:
    """The weight of a unit that *holding* of the memories hold."""
    return log(1 + (memories + ELSEWHERE - holding + 0.5) / (holding + 0.5))


def _scored_memories(
    db: Connection, matcher: PromptMatcher, root: str, size: int, *, include_retired: bool
) -> list[Scored]:
    units = matcher.found.units
    least = FEW if len(units) > MANY_UNITS else MANY
    rows = candidates(
        db,
        "full_text",
        [_wanted(unit) for unit in units],
        postings=min(MOST_POSTINGS, LEAST_POSTINGS + matcher.memories // 10),
        most=max(SMALL if matcher.memories <= SMALL else least, 10 * size if size > SMALL_POOL else 0),
        include_retired=include_retired,
    )
    matches = {row: match for row, words in encoded_words(db, rows) if (match := matcher.match(words))}
    best = best_rows({row: match.strength for row, match in matches.items()}, size, include_retired=include_retired)
    summaries = summaries_of(db, root, best)
    scored = sorted([_scored(memory, matches[row], units) for row, memory in summaries.items()], key=order)
    return first_ones(scored, size, include_retired=include_retired)


def _wanted(unit: Unit) -> tuple[int, str]:
    phrases = (*unit.phrases, *((word,) for word in unit.longer))
    return unit.memories, any_of((phrase, False) for phrase in phrases)


def _scored(memory: MemorySummary, match: Match, units: Sequence[Unit]) -> Scored:
    return Scored(memory, -match.bm25, 0, -match.strength, tuple(units[number].text for number in match.parts))
