"""The index of a root: FTS5 over title and tags (what the hook ranks) and over the whole text (explicit search).

Callers see memories by id and hits by BM25, never the tables. An index lies in memory (`Index`) or on disk
(`engine.search.opening`); both are the same tables and are read by the same methods.

A query costs what its terms' memories cost: 1 to 2 us for each that FTS5 scores. So the rarest terms, up to BUDGET
memories, choose the candidates, and all terms score these exactly as one query for all of them would. Where all terms
fit into the budget FTS5 alone answers.
"""

from __future__ import annotations

import _thread

from engine.json_text import dumps
from engine.record import record
from engine.search import rows, schema
from engine.search.finder import Finder
from engine.search.frequencies import Standing, refresh, standings
from engine.search.query import all_of, any_of
from engine.search.recheck import changed, read_again
from engine.search.schema import FULL_TEXT, HEADLINE
from engine.search.scoring import WEIGHTS, Scorer, averages
from engine.search.sqlite import DAMAGE, DatabaseError, in_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from engine.memory import Corpus, Memory, MemorySummary, Skipped
    from engine.search.query import Term
    from engine.search.rows import Words
    from engine.search.sqlite import Connection

    T = TypeVar("T")

__all__ = ["BUDGET", "FULL_TEXT", "HEADLINE", "Hit", "Index"]

BUDGET = 5000
"""Memories that FTS5 may score for one query, counted once per phrase."""

CANDIDATES = 50
"""How many of them are scored by all terms."""

MAX_CHOOSING = 192
"""Phrases that may choose candidates (measured: 48 lose top results of pastes)."""


@record
class Hit:
    """A memory that matched: `bm25` is SQLite's value, negative, lower is better. `words` are its indexed tokens."""

    summary: MemorySummary
    bm25: float
    words: Words


class Index:
    """A root's memories, searchable. Safe to use from several threads.

    `has_fts5` is False where this SQLite was built without FTS5: then `search` finds nothing and the pipeline scores by
    keywords. `was_behind` becomes True when a memory turns out to have changed since. `module` is the full-text module
    to use, `budget` see BUDGET.
    """

    def __init__(self, corpus: Corpus, module: str = "fts5", budget: int = BUDGET) -> None:
        self._open(in_memory_database(corpus, module), corpus.root, budget)

    @classmethod
    def over(
        cls,
        db: Connection,
        root: str,
        *,
        recover: Callable[[], Connection] | None = None,
        checked: bool = False,
        budget: int = BUDGET,
    ) -> Index:
        """The index in *db*, which it closes. *recover* gives another database when this one turns out damaged.

        *checked*: files may have changed since, so whatever is found is compared with its file before it is given out.
        Raises DatabaseError for a database that does not read.
        """
        index = cls.__new__(cls)
        index._open(db, root, budget, recover, checked=checked)
        return index

    def _open(
        self,
        db: Connection,
        root: str,
        budget: int,
        recover: Callable[[], Connection] | None = None,
        *,
        checked: bool = False,
    ) -> None:
        self.root = root
        self.was_behind = False
        self._budget = budget
        self._lock = _thread.allocate_lock()
        self._recover = recover
        self._checked = checked
        self._use(db)

    def _use(self, db: Connection) -> None:
        self._db = db
        self._skipped: tuple[Skipped, ...] | None = None
        self._by_rowid: dict[int, MemorySummary] | None = None
        self._means: dict[str, tuple[int, float]] = {}
        db.execute("begin")
        self.has_fts5 = bool(db.execute("select 1 from sqlite_master where name = 'full_text'").fetchone())
        self._size = int(db.execute("select count(*) from memory").fetchone()[0])

    @property
    def database(self) -> Connection:
        """The tables themselves, for this package."""
        return self._db

    def __len__(self) -> int:
        return self._size

    def close(self) -> None:
        self._db.close()

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What is not shown as a memory, and why: folders and index lines first, then files by path."""
        return self._ask(self._read_skipped)

    @property
    def corpus_hash(self) -> str:
        """16 hex digits that name the contents of the root: any edit, addition or removal changes them."""
        return self._ask(lambda: rows.fingerprint(self._db))

    def summaries(self) -> list[MemorySummary]:
        """Every memory, ordered by path."""
        return list(self._ask(self._read_summaries).values())

    def memory(self, memory_id: str) -> Memory | None:
        return self._ask(lambda: self._read_memory(memory_id))

    def search(self, terms: tuple[Term, ...], fields: str, limit: int) -> list[Hit]:
        """The best *limit* memories that hold any of *terms* in *fields*, by BM25, then category, then path."""
        if not terms or not self.has_fts5:
            return []
        return self._ask(lambda: self._search(terms, fields, limit))

    def unchanged(self, summaries: list[MemorySummary]) -> list[MemorySummary]:
        """Those of *summaries* whose files are as they were read."""
        stale = self._ask(lambda: self.stale(summaries))
        return [summary for summary in summaries if summary.id not in stale]

    def ask(self, question: Callable[[Connection], T]) -> T:
        """The answer of *question*, which reads the tables; asked again of another database if this one is damaged."""
        return self._ask(lambda: question(self._db))

    def stale(self, summaries: list[MemorySummary]) -> set[str]:
        """The ids of those of *summaries* whose files may have changed since. Only within `ask`."""
        found = changed(self._db, summaries) if self._checked else set()
        self.was_behind |= bool(found)
        return found

    def matching(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        """Every memory whose whole text holds all of *terms*, best first; every memory, by path, without terms."""
        if not terms:
            return self.summaries()
        return self._ask(lambda: self._matching(terms))

    def frequency(self, term: Term, fields: str) -> int:
        """In how many memories a term may stand: alternatives and prefixes add up, a phrase is its rarest token."""
        return sum(standing.count for standing in self._ask(lambda: self._standings((term,), fields)))

    def _ask(self, question: Callable[[], T]) -> T:
        """The answer of *question*, from another database if this one is damaged."""
        with self._lock:
            try:
                return question()
            except DAMAGE:
                if self._recover is None:
                    raise
                self._db.close()
                recover, self._recover = self._recover, None
                self._checked = False
                self._use(recover())
                return question()

    def _search(self, terms: tuple[Term, ...], fields: str, limit: int) -> list[Hit]:
        found = [standing for standing in self._standings(terms, fields) if standing.count]
        if not found:
            return []
        if sum(standing.count for standing in found) <= self._budget:
            hits = self._hits(self._best(any_of(standing.phrase for standing in found), fields, limit))
        else:
            hits = self._in_two_stages(found, fields, limit)
        return self._as_on_disk(hits, found, fields)

    def _in_two_stages(self, found: list[Standing], fields: str, limit: int) -> list[Hit]:
        chosen = any_of(standing.phrase for standing in _rarest(found, self._budget))
        candidates = self._hits(self._best(chosen, fields, max(CANDIDATES, 2 * limit)))
        scorer = self._scorer(found, fields)
        return sorted((_rescored(hit, scorer, fields) for hit in candidates), key=_order)[:limit]

    def _as_on_disk(self, hits: list[Hit], found: list[Standing], fields: str) -> list[Hit]:
        """The hits as their files are now: what changed is read again, what is gone or matches no more is left out.

        All are scored anew, because FTS5's scores and ours agree only while the frequencies are up to date.
        """
        stale = self.stale([hit.summary for hit in hits])
        if not stale:
            return hits
        scorer = self._scorer(found, fields)
        read = [
            self._read_again(hit, scorer, fields) if hit.summary.id in stale else _rescored(hit, scorer, fields)
            for hit in hits
        ]
        return sorted((hit for hit in read if hit), key=_order)

    def _read_again(self, hit: Hit, scorer: Scorer, fields: str) -> Hit | None:
        memory = read_again(self.root, hit.summary)
        if memory is None:
            return None
        words = rows.words_of(memory)
        score = scorer.score(rows.column_words(words, fields))
        return Hit(memory.summary, score, words) if score < 0 else None

    def _best(self, expression: str, fields: str, limit: int) -> list[tuple[int, float]]:
        """Row and score of the best *limit*; memories of equal score by category and path, at the end too."""
        weights = ", ".join(map(str, WEIGHTS[fields]))
        sql = f"select rowid, bm25({fields}, {weights}) from {fields} where {fields} match ? order by 2 limit ?"
        found = self._db.execute(sql, (expression, 4 * limit)).fetchall()
        if len(found) == 4 * limit and found[-1][1] == found[limit - 1][1]:
            found = self._db.execute(sql, (expression, -1)).fetchall()
        last = found[limit - 1][1] if len(found) > limit else 0.0
        kept = [pair for pair in found if pair[1] <= last]
        if len(kept) <= limit:
            return kept
        places = self._places([rowid for rowid, _ in kept])
        return sorted(kept, key=lambda pair: (pair[1], places[pair[0]]))[:limit]

    def _places(self, rowids: list[int]) -> dict[int, tuple[int, str]]:
        sql = "select rowid, priority, path from memory where rowid in (select value from json_each(?))"
        return {rowid: (priority, path) for rowid, priority, path in self._db.execute(sql, (dumps(rowids),))}

    def _hits(self, found: list[tuple[int, float]]) -> list[Hit]:
        """Hits with what is shown of them, in order."""
        listed = dumps([rowid for rowid, _ in found])
        sql = f"select rowid, {rows.SUMMARY}, check_sum from memory where rowid in (select value from json_each(?))"
        summaries = {row[0]: rows.summary_of(self.root, row[1:]) for row in self._db.execute(sql, (listed,))}
        sql = "select rowid, title, tags, body, check_sum from words where rowid in (select value from json_each(?))"
        words = {row[0]: rows.words_in(row[1:]) for row in self._db.execute(sql, (listed,))}
        if len(summaries) != len(found) or len(words) != len(found):
            raise DatabaseError("the index names memories that it does not hold")
        return sorted((Hit(summaries[rowid], score, words[rowid]) for rowid, score in found), key=_order)

    def _matching(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        summaries = self._read_summaries()
        if not self.has_fts5:
            return self._without_fts5(terms)
        weights = ", ".join(map(str, WEIGHTS[FULL_TEXT]))
        sql = f"select rowid, bm25(full_text, {weights}) from full_text where full_text match ?"
        found = self._db.execute(sql, (all_of(terms),)).fetchall()
        scored = [(score, summaries[rowid].priority, summaries[rowid].path, rowid) for rowid, score in found]
        return [summaries[rowid] for *_, rowid in sorted(scored)]

    def _without_fts5(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        found = {
            row[0]
            for row in self._db.execute("select rowid, title, tags, body from words")
            if all(term.found_in(tuple(" ".join(row[1:]).split())) for term in terms)
        }
        return [summary for rowid, summary in self._read_summaries().items() if rowid in found]

    def _standings(self, terms: tuple[Term, ...], fields: str) -> list[Standing]:
        return standings(self._db, [phrase for term in terms for phrase in term.searched], fields)

    def _scorer(self, found: list[Standing], fields: str) -> Scorer:
        finder = Finder([standing.phrase for standing in found])
        return Scorer(finder, [standing.count for standing in found], *self._mean(fields), fields)

    def _mean(self, fields: str) -> tuple[int, float]:
        if fields not in self._means:
            block = self._db.execute(f"select block from {fields}_data where id = 1").fetchone()
            self._means[fields] = averages(block[0]) if block else (0, 0.0)
        return self._means[fields]

    def _read_summaries(self) -> dict[int, MemorySummary]:
        if self._by_rowid is None:
            sql = f"select rowid, {rows.SUMMARY}, check_sum from memory"
            found = [(row[0], rows.summary_of(self.root, row[1:])) for row in self._db.execute(sql)]
            self._by_rowid = dict(sorted(found, key=lambda pair: pair[1].file))
        return self._by_rowid

    def _read_memory(self, memory_id: str) -> Memory | None:
        sql = f"select {rows.SUMMARY}, check_sum, content from memory join section using (rowid) where id = ?"
        row = self._db.execute(sql, (memory_id,)).fetchone()
        return rows.memory_of(rows.summary_of(self.root, row[:-1]), row[-1]) if row else None

    def _read_skipped(self) -> tuple[Skipped, ...]:
        if self._skipped is None:
            self._skipped = rows.skipped_in(self._db)
        return self._skipped


def in_memory_database(corpus: Corpus, module: str = "fts5") -> Connection:
    """The tables of *corpus*, in memory."""
    db = in_memory()
    has_fts5 = schema.create(db, corpus.root, module)
    db.execute("begin")
    for rowid, memory in enumerate(corpus.memories, start=1):
        rows.insert(db, corpus.root, rowid, memory, has_fts5=has_fts5)
    db.executemany("insert into skipped(place, reason) values (?, ?)", [(s.where, s.reason) for s in corpus.skipped])
    if has_fts5:
        refresh(db)
    db.execute("commit")
    return db


def _rarest(found: list[Standing], budget: int) -> list[Standing]:
    """Those with the smallest counts whose sum stays within *budget*: at least one, at most MAX_CHOOSING."""
    chosen: list[Standing] = []
    for standing in sorted(found, key=lambda standing: standing.count)[:MAX_CHOOSING]:
        budget -= standing.count
        if budget < 0 and chosen:
            break
        chosen.append(standing)
    return chosen


def _rescored(hit: Hit, scorer: Scorer, fields: str) -> Hit:
    return Hit(hit.summary, scorer.score(rows.column_words(hit.words, fields)), hit.words)


def _order(hit: Hit) -> tuple[float, int, str]:
    return hit.bm25, hit.summary.priority, hit.summary.path
