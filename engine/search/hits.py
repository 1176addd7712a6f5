"""Hits of FTS5's BM25, at a bounded cost.

A query costs what its terms' memories cost: 1 to 2 us for each that FTS5 scores. So the rarest terms, up to a budget of
memories, choose the candidates, and all terms score these exactly as one query for all of them would. Where all terms
fit into the budget FTS5 alone answers.
"""

from __future__ import annotations

from engine.lean.json_text import dumps
from engine.lean.record import Record
from engine.lean.sqlite import DatabaseError
from engine.search import rows
from engine.search.averages import averages_of
from engine.search.best_rows import best_rows
from engine.search.finder import Finder
from engine.search.frequencies import standings
from engine.search.query import any_of
from engine.search.recheck import filled, read_again
from engine.search.schema import FULL_TEXT, HEADLINE
from engine.search.scoring import WEIGHTS, Scorer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.lean.sqlite import Connection
    from engine.memory import MemorySummary
    from engine.search.frequencies import Standing
    from engine.search.index import Index
    from engine.search.query import Term
    from engine.search.rows import Words

BUDGETS = {HEADLINE: 2500, FULL_TEXT: 8000}
"""Memories that FTS5 may score for one query, counted once per phrase."""

CANDIDATES = {HEADLINE: 80, FULL_TEXT: 40}
"""How many of them are scored by all terms. A title costs less, and tells less apart: with these two, no prompt takes
20 ms among 50,000 memories."""


class Hit(Record):
    """A memory that matched: `bm25` is SQLite's value, negative, lower is better. `words` are its indexed tokens."""

    summary: MemorySummary
    bm25: float
    words: Words


class Search:
    """One search of some fields in one state of the database."""

    def __init__(self, index: Index, db: Connection, fields: str) -> None:
        self._index = index
        self._db = db
        self._fields = fields
        self._budget = BUDGETS[fields] if index.budget is None else index.budget

    def run(self, terms: tuple[Term, ...], limit: int) -> list[Hit]:
        phrases = [phrase for term in terms for phrase in term.searched]
        found = [standing for standing in standings(self._db, phrases, self._fields) if standing.count]
        if not found:
            return []
        hits = filled(limit, lambda wanted: self._best_hits(found, wanted), lambda hits: self._as_on_disk(hits, found))
        return hits[:limit]

    def _best_hits(self, found: list[Standing], limit: int) -> list[Hit]:
        """The best as the index has them."""
        if sum(standing.count for standing in found) <= self._budget:
            return self._hits(self._best(any_of(standing.phrase for standing in found), limit))
        return self._in_two_stages(found, limit)

    def _in_two_stages(self, found: list[Standing], limit: int) -> list[Hit]:
        chosen = any_of(standing.phrase for standing in _rarest(found, self._budget))
        candidates = self._hits(self._best(chosen, max(CANDIDATES[self._fields], 2 * limit)))
        scorer = self._scorer(found)
        return sorted((self._rescored(hit, scorer) for hit in candidates), key=_order)[:limit]

    def _as_on_disk(self, hits: list[Hit], found: list[Standing]) -> list[Hit]:
        """The hits as their files are now: what changed is read again, what is gone or matches no more is left out.

        All are scored anew, because FTS5's scores and ours agree only while the frequencies are up to date.
        """
        stale = self._index.stale([hit.summary for hit in hits])
        if not stale:
            return hits
        scorer = self._scorer(found)
        read = [
            self._read_again(hit, scorer) if hit.summary.id in stale else self._rescored(hit, scorer) for hit in hits
        ]
        return sorted((hit for hit in read if hit), key=_order)

    def _read_again(self, hit: Hit, scorer: Scorer) -> Hit | None:
        memory = read_again(self._index.root, hit.summary)
        if memory is None:
            return None
        words = rows.words_of(memory)
        score = scorer.score(rows.column_words(words, self._fields))
        return Hit(memory.summary, score, words) if score < 0 else None

    def _best(self, expression: str, limit: int) -> list[tuple[int, float]]:
        return best_rows(self._db, self._fields, WEIGHTS[self._fields], expression, limit)

    def _hits(self, found: list[tuple[int, float]]) -> list[Hit]:
        """Hits with what is shown of them, in order."""
        listed = dumps([rowid for rowid, _ in found])
        sql = f"select rowid, {rows.SUMMARY}, check_sum from memory where rowid in (select value from json_each(?))"
        summaries = {row[0]: rows.summary_of(self._index.root, row[1:]) for row in self._db.execute(sql, (listed,))}
        sql = "select rowid, title, tags, body, check_sum from words where rowid in (select value from json_each(?))"
        words = {row[0]: rows.words_in(row[1:]) for row in self._db.execute(sql, (listed,))}
        if len(summaries) != len(found) or len(words) != len(found):
            raise DatabaseError("the index names memories that it does not hold")
        return sorted((Hit(summaries[rowid], score, words[rowid]) for rowid, score in found), key=_order)

    def _rescored(self, hit: Hit, scorer: Scorer) -> Hit:
        return Hit(hit.summary, scorer.score(rows.column_words(hit.words, self._fields)), hit.words)

    def _scorer(self, found: list[Standing]) -> Scorer:
        finder = Finder([standing.phrase for standing in found])
        counts = [standing.count for standing in found]
        return Scorer(finder, counts, *averages_of(self._db, self._fields), self._fields)


def _rarest(found: list[Standing], budget: int) -> list[Standing]:
    """Those with the smallest counts whose sum stays within *budget*: at least one."""
    chosen: list[Standing] = []
    for standing in sorted(found, key=lambda standing: standing.count):
        budget -= standing.count
        if budget < 0 and chosen:
            break
        chosen.append(standing)
    return chosen


def _order(hit: Hit) -> tuple[float, int, str]:
    return hit.bm25, hit.summary.priority, hit.summary.path
