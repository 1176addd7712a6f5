"""`fts5_bm25`: FTS5's own BM25 over title and tags, with a bonus for words of the prompt in the body.

An explicit search looks into bodies instead. A word of the prompt matches itself and longer words, in full. Each
spelling of an identifier is scored by itself. The weight of a phrase is FTS5's (fts5_aux.c):
idf = ln((N - n + 0.5) / (n + 0.5)), and LEAST_IDF instead of values that are not positive.
"""

from __future__ import annotations

from math import log

from engine.lean.json_text import dumps
from engine.search.database import summaries_of
from engine.search.query import any_of, query_terms, rarest
from engine.search.ranking import CandidatePool, Scored, first_ones, order
from engine.search.scoring import SMALL, Scorer, best_rows, candidates, encoded_words
from engine.search.units import Unit, Units
from engine.search.vocabulary import spelled, words_begun, words_of_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.lean.sqlite import Connection
    from engine.memory import MemorySummary
    from engine.search.query import Phrase, Term
    from engine.search.ranking import Searchable
    from engine.search.vocabulary import Word

MAX_BODY_BONUS = 3
MAX_TERMS = 60
"""Of a prompt with more terms, the rarest MAX_TERMS count."""

LEAST_IDF = 1e-6
POSTINGS = {"headline": 2500, "full_text": 8000}
"""Table -> postings that FTS5 may read for a prompt."""

CANDIDATES = 120

WEIGHTS = {"headline": (1.0, 1.0, 0.0), "full_text": (4.0, 2.0, 1.0)}
SUMS = {
    "headline": "select memories, headline_tokens from about",
    "full_text": "select memories, tokens from about",
}
EXACT_COUNT = "select value, (select count(*) from {table} where {table} match value) from json_each(?)"
COUNT = """select value, (
    select coalesce(sum({column}), 0) from word where text >= value and text < value || char(1114111)
) from json_each(?)"""


def find(text: str, index: Searchable, size: int, *, in_bodies: bool, include_retired: bool) -> CandidatePool:
    """The best *size* memories by title and tags; with *in_bodies*, the best *size* active memories by the whole text.

    With *include_retired*, retired memories count as active memories do.
    """
    counts_all, terms = include_retired or not in_bodies, query_terms(text)

    def pool(db: Connection) -> CandidatePool:
        query = Query(db, terms, in_bodies=in_bodies)
        found = _scored_memories(db, query, index.root, size, counts_all=counts_all)
        unknown = sum(not count for count in query.memories.values()) / max(1, len(query.terms))
        return CandidatePool(found, asked=query.terms, unknown=unknown, searched=text)

    return index.pool(pool)


class Query:
    """A prompt under these rules, in one state of the index. `terms` are the terms that count.

    Each phrase of a term is a unit of `found`. `owners` are the numbers of their terms, `expressions` those of FTS5.
    """

    def __init__(self, db: Connection, terms: tuple[Term, ...], *, in_bodies: bool) -> None:
        self._db = db
        self.in_bodies = in_bodies
        self.table = "full_text" if in_bodies else "headline"
        self.terms = tuple(self._rarest(terms))
        self.owners = [number for number, term in enumerate(self.terms) for _ in term.phrases]
        phrases = [phrase for term in self.terms for phrase in term.searched]
        known = words_of_text(db, (token for phrase, _ in phrases for token in phrase))
        begun = words_begun(db, (phrase[0] for phrase, is_prefix in phrases if is_prefix))
        words = (*known.values(), *(word for words in begun.values() for word in words))
        counts = {word.text: count for word in words if (count := self._count(word))}
        texts = [self.terms[number].text for number in self.owners]
        units = [_unit(text, phrase, counts, begun) for text, phrase in zip(texts, phrases, strict=True)]
        self.found = Units(tuple(units), {word.text: word.code for word in words})
        self.expressions = [_expression(unit, is_prefix) for unit, (_, is_prefix) in zip(units, phrases, strict=True)]
        self.size, tokens = db.execute(SUMS[self.table]).fetchone()
        idf = [_idf(count, self.size) for count in self._exact_counts()]
        self.scorer = Scorer(self.found, idf, tokens / max(1, self.size), weights=WEIGHTS[self.table])

    @property
    def memories(self) -> dict[str, int]:
        """Term -> the number of memories with a match, at most."""
        found = dict.fromkeys((term.text for term in self.terms), 0)
        for unit in self.found.units:
            found[unit.text] += unit.memories
        return found

    def contributions(self, encoded: str) -> dict[int, float]:
        """The part of each unit in the BM25 of a memory, positive. *encoded*: its tokens."""
        return self.scorer.contributions(encoded if self.in_bodies else encoded[: encoded.rindex("\n") + 1])

    def scores(self, rows: Collection[int]) -> dict[int, float]:
        """Row -> BM25, positive, of the memories in *rows* with a match."""
        found = {row: sum(self.contributions(encoded).values()) for row, encoded in encoded_words(self._db, rows)}
        return {row: score for row, score in found.items() if score}

    def scored(self, memory: MemorySummary, encoded: str, bm25: float) -> Scored:
        """A memory with its BM25 (negative), its bonus, and the terms that it holds.

        Only whole words count for the bonus: a long body holds longer words of any beginning by chance.
        """
        held = {self.owners[number] for number in self.contributions(encoded)}
        in_body = set() if self.in_bodies else self._in_body(encoded[encoded.rindex("\n") :])
        bonus = min(MAX_BODY_BONUS, len(in_body))
        matched = tuple(self.terms[number].text for number in sorted(held | in_body))
        return Scored(memory, bm25, bonus, bm25 - bonus, matched)

    def _in_body(self, body: str) -> set[int]:
        """The numbers of the terms that a body holds as they are."""
        codes = [spelled(unit.phrases[:1], self.found.codes) for unit in self.found.units]
        return {owner for owner, own in zip(self.owners, codes, strict=True) if own and own[0] in body}

    def _rarest(self, terms: tuple[Term, ...]) -> Sequence[Term]:
        if len(terms) <= MAX_TERMS:
            return terms
        phrases = [phrase for term in terms for phrase in term.searched]
        sql = COUNT.format(column="memories" if self.in_bodies else "headlines")
        begun = self._ask(sql, (phrase[0] for phrase, is_prefix in phrases if is_prefix))
        known = words_of_text(self._db, (token for phrase, is_prefix in phrases if not is_prefix for token in phrase))
        exact = {text: self._count(word) for text, word in known.items()}
        counts = [
            sum(begun[p[0]] if is_prefix else min(exact.get(token, 0) for token in p) for p, is_prefix in term.searched)
            for term in terms
        ]
        return rarest(terms, counts, MAX_TERMS)

    def _exact_counts(self) -> list[int]:
        """The number of memories with each unit: counted by FTS5 if the sum over its words may be too large."""
        upper = {text: unit.memories for text, unit in zip(self.expressions, self.found.units, strict=True)}
        single = {unit.phrases[0][0] for unit in self.found.units if len(unit.phrases) == len(unit.phrases[0]) == 1}
        unsure = [text for text, most in upper.items() if 0 < most <= POSTINGS[self.table] and text[1:-1] not in single]
        counted = self._ask(EXACT_COUNT.format(table=self.table), unsure)
        return [counted.get(text, upper[text]) for text in self.expressions]

    def _count(self, word: Word) -> int:
        return word.memories if self.in_bodies else word.headlines

    def _ask(self, sql: str, values: Iterable[str]) -> dict[str, int]:
        listed = sorted(set(values))
        return dict(self._db.execute(sql, (dumps(listed, ascii_only=False),))) if listed else {}


def _unit(text: str, searched: Phrase, counts: Mapping[str, int], begun: Mapping[str, list[Word]]) -> Unit:
    phrase, is_prefix = searched
    if not is_prefix:
        return Unit(text, (phrase,), (), min(counts.get(token, 0) for token in phrase))
    longer = [word.text for word in begun.get(phrase[0], ()) if word.text in counts]
    memories = counts.get(phrase[0], 0) + sum(counts[word] for word in longer)
    return Unit(text, (phrase, *((word,) for word in longer)), (), memories)


def _expression(unit: Unit, is_prefix: bool) -> str:
    """The expression of FTS5 for a unit. A word without longer words is no prefix: prefixes cost more."""
    return any_of([(unit.phrases[0], is_prefix and len(unit.phrases) > 1)])


def _scored_memories(db: Connection, query: Query, root: str, size: int, *, counts_all: bool) -> list[Scored]:
    rows = candidates(
        db,
        query.table,
        [(unit.memories, text) for unit, text in zip(query.found.units, query.expressions, strict=True)],
        postings=POSTINGS[query.table],
        most=max(2 * size, SMALL if query.size <= SMALL else CANDIDATES),
        include_retired=counts_all,
    )
    found = query.scores(rows)
    best = best_rows(found, size, include_retired=counts_all)
    summaries, words = summaries_of(db, root, best), dict(encoded_words(db, best))
    scored = [Scored(memory, -found[row], 0, -found[row], ()) for row, memory in summaries.items()]
    first = {kept.memory.id for kept in first_ones(sorted(scored, key=order), size, include_retired=counts_all)}
    pool = [query.scored(memory, words[row], -found[row]) for row, memory in summaries.items() if memory.id in first]
    return sorted(pool, key=order)


def _idf(holding: int, memories: int) -> float:
    ratio = (memories - holding + 0.5) / (holding + 0.5)
    return max(LEAST_IDF, log(ratio)) if ratio > 0 else LEAST_IDF
