"""The index of a root: its memories, and full-text search over title and tags and over the whole text.

Callers see memories by id and hits by BM25, never the tables. An index lies in memory (`Index`) or on disk
(`engine.search.opening`); both are the same tables and are read by the same methods.
"""

from __future__ import annotations

import _thread

from engine.lean.sqlite import DAMAGE, in_memory
from engine.search import rows, schema
from engine.search.query import all_of
from engine.search.recheck import changed, others
from engine.search.schema import FULL_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from engine.lean.sqlite import Connection
    from engine.memory import Corpus, Memory, MemorySummary, Skipped
    from engine.search.hits import Hit
    from engine.search.query import Term
    from engine.search.stamps import Stamp

    T = TypeVar("T")


class Index:
    """A root's memories, searchable. Safe to use from several threads.

    `has_fts5` is False where this SQLite was built without FTS5: then `search` finds nothing and the pipeline scores by
    keywords. `was_behind` becomes True when a memory turns out to have changed since; `is_overtaken` says whether
    somebody wrote into what is read without locks. `module` is the full-text module to use, `budget` how many memories
    FTS5 may score for one query (None: what suits the query).
    """

    def __init__(self, corpus: Corpus, module: str = "fts5", budget: int | None = None) -> None:
        self._open(in_memory_database(corpus, module), corpus.root, budget)

    @classmethod
    def over(
        cls,
        db: Connection,
        root: str,
        *,
        recover: Callable[[], Connection] | None = None,
        checked: bool = False,
        budget: int | None = None,
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
        budget: int | None,
        recover: Callable[[], Connection] | None = None,
        *,
        checked: bool = False,
    ) -> None:
        self.root = root
        self.was_behind = False
        self.is_overtaken: Callable[[], bool] = bool
        self.budget = budget
        self._lock = _thread.allocate_lock()
        self._recover = recover
        self._checked = checked
        self._use(db)

    def _use(self, db: Connection) -> None:
        self._db = db
        self._skipped: tuple[Skipped, ...] | None = None
        self._by_rowid: dict[int, MemorySummary] | None = None
        self._size: int | None = None
        db.execute("begin")
        self.has_fts5 = bool(db.execute("select 1 from sqlite_master where name = 'full_text'").fetchone())

    @property
    def database(self) -> Connection:
        """The tables themselves, for this package."""
        return self._db

    def __len__(self) -> int:
        if self._size is None:
            self._size = int(self._ask(lambda: self._db.execute("select count(*) from memory").fetchone()[0]))
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
        from engine.search.hits import Search

        return self._ask(lambda: Search(self, self._db, fields).run(terms, limit))

    def unchanged(self, summaries: list[MemorySummary]) -> list[MemorySummary]:
        """Those of *summaries* whose files are as they were read."""
        stale = self._ask(lambda: self.stale(summaries))
        return [summary for summary in summaries if summary.id not in stale]

    def ask(self, question: Callable[[Connection], T]) -> T:
        """The answer of *question*, which reads the tables; asked again of another database if this one is damaged."""
        return self._ask(lambda: question(self._db))

    def stale(self, summaries: list[MemorySummary], stamps: Mapping[str, Stamp] | None = None) -> set[str]:
        """The ids of those of *summaries* whose files may have changed since. Only within `ask`.

        *stamps*: what the index knows of their files, by id, if that was read already.
        """
        found: set[str] = set()
        if self._checked:
            found = changed(self._db, summaries) if stamps is None else others(summaries, stamps)
        self.was_behind |= bool(found)
        return found

    def matching(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        """Every memory whose whole text holds all of *terms*, best first; every memory, by path, without terms."""
        if not terms:
            return self.summaries()
        return self._ask(lambda: self._matching(terms))

    def frequency(self, term: Term, fields: str) -> int:
        """In how many memories a term may stand: alternatives and prefixes add up, a phrase is its rarest token."""

        from engine.search.frequencies import standings

        return sum(standing.count for standing in self._ask(lambda: standings(self._db, term.searched, fields)))

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

    def _matching(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        summaries = self._read_summaries()
        if not self.has_fts5:
            return self._without_fts5(terms)
        from engine.search.scoring import WEIGHTS

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
    from engine.search.changes import Changes
    from engine.search.frequencies import refresh
    from engine.search.storing import insert

    db = in_memory()
    has_fts5 = schema.create(db, corpus.root, module)
    db.execute("begin")
    changes = Changes(db, len(corpus.memories), counts=False) if has_fts5 else None
    for rowid, memory in enumerate(corpus.memories, start=1):
        insert(db, corpus.root, rowid, memory, changes)
    db.executemany("insert into skipped(place, reason) values (?, ?)", [(s.where, s.reason) for s in corpus.skipped])
    if changes:
        changes.write()
        refresh(db)
    db.execute("commit")
    return db
