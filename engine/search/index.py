"""The index of a root: its memories, and the pools that strategies find among them.

An index is in memory or in a file: see `engine.opening`. Only this package reads its tables.
"""

from __future__ import annotations

import os
from _thread import allocate_lock

from engine.lean.json_text import dumps
from engine.lean.record import Record, replace
from engine.lean.sqlite import DAMAGE, in_memory
from engine.memory import UNSCANNED
from engine.search.database import SUMMARY, create, has_fts5, is_fresh, stamp, store_name, summary
from engine.search.query import all_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from engine.lean.sqlite import Connection
    from engine.memory import Corpus, Memory, MemorySummary, Skipped
    from engine.search.query import Term
    from engine.search.ranking import CandidatePool
    from engine.search.vocabulary import Fields
    from engine.stores.registry import RootStore

    T = TypeVar("T")

UNBUILT, BEHIND = "none yet", "behind the files"

MOST_RENEWED = 200
"""Changed files that are read again for one prompt. More changed memories are left out of its pool."""

SCANNED_TOGETHER = 500
"""Memories that are read, scanned and written into the index at a time."""

MOST_SCORED = 1000
"""Of more matches of a filter, FTS5's inexact BM25 decides the order: to score all would make the typist wait."""

LISTED = "select place, reason, double_of from skipped where is_notice = ? order by number"
UNUSED = "select name, part, path, reason, coalesce(id, '') from memory where reason is not null"
STAMPS = """select id, size, mtime, ctime from memory
where id in (select value from json_each(?)) and reason is null"""


class IndexedMemory(Record):
    """A memory as the index holds it. `encoded` are its tokens in the form of `vocabulary`."""

    summary: MemorySummary
    tokens: Fields
    encoded: str


class Index:
    """The searchable memories of a root, for any number of threads.

    `has_fts5` is False where SQLite was built without FTS5. The pipeline scores by keywords then.
    """

    lag = ""
    """Why memories may be missing that the files hold: UNBUILT, BEHIND, or empty."""

    def __init__(
        self,
        db: Connection,
        root: str,
        *,
        memories: dict[str, Memory] | None = None,
        recover: Callable[[Exception], Index] | None = None,
        renew: Callable[[set[bytes]], Index | None] | None = None,
        is_accepted: Callable[[MemorySummary], bool] = lambda _: False,
        is_loaded: Callable[[MemorySummary], bool] = lambda _: True,
        scan: Callable[[list[Memory]], dict[str, float]] = lambda _: {},
    ) -> None:
        """The index in *db*, which it closes. *memories* by id, if they are not read from their files.

        *recover* gives another index if this one turns out damaged. *renew* reads changed files again, given their
        names in the root, and gives an index with them, or None. Without it, all files count as unchanged.
        *is_accepted*: whether a person accepted a risky memory. *is_loaded*: whether a client loads a memory by itself,
        of those that may be loaded. *scan*: digest -> risk, 0..1, of memories that were not scanned yet; it
        is called without any at the end.
        """
        self.root = root
        self.has_fts5 = has_fts5(db)
        self.is_accepted, self.is_loaded, self._scan = is_accepted, is_loaded, scan
        self._lock = allocate_lock()
        self._db, self._memories, self._recover, self._renew = db, memories, recover, renew
        self._risks: dict[str, float] = {}
        self._by_row: dict[int, MemorySummary] = {}
        self._version = -1
        self._kept: tuple[object, object, Any] = None, None, None
        self._store: RootStore | None = None

    def __len__(self) -> int:
        return int(self.ask(lambda db: db.execute("select memories from about").fetchone()[0]))

    def close(self) -> None:
        """Wait for a running question, because SQLite crashes if it loses its tables meanwhile. Later ones fail."""
        if self._risks:
            self._scan([])
        with self._lock:
            self._recover = None
            self._db.close()

    @property
    def is_in_memory(self) -> bool:
        """Whether it was made of memories, so that a change of the index file does not reach it."""
        return self._memories is not None

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Lines of a list and files that are not shown as memories: lines in their order, then files by path."""
        return self.ask(_skipped)

    @property
    def notices(self) -> tuple[Skipped, ...]:
        """Problems that cost no memory, such as a dead link in MEMORY.md."""
        return self.ask(lambda db: tuple(_listed(db, is_notice=True)))

    @property
    def corpus_hash(self) -> str:
        """16 hex digits that name the contents of the root: any edit, addition or removal changes them."""
        return self.ask(lambda db: str(db.execute("select fingerprint from about").fetchone()[0]))

    @property
    def contents(self) -> tuple[str, tuple[Skipped, ...], tuple[Skipped, ...]]:
        """All that a reading of the root can change: the hash of its memories, skipped files, and notices."""
        return self.corpus_hash, self.skipped, self.notices

    def summaries(self) -> list[MemorySummary]:
        """Every memory, ordered by path."""
        return list(self.ask(self.read_summaries).values())

    def memory(self, memory_id: str) -> Memory | None:
        """The whole memory, as its file is now; None for an unknown id."""
        if self._memories is not None:
            return self._memories.get(memory_id)
        sql = "select name from memory where id = ? and reason is null"
        row = self.ask(lambda db: db.execute(sql, (memory_id,)).fetchone())
        return next(iter(self._from_file(row[0], [memory_id])), None) if row else None

    def risks(self, memories: list[MemorySummary]) -> dict[str, float]:
        """Memory id -> risk, 0..1, of those of *memories* that were not scanned yet. The index keeps it."""
        late = [memory for memory in memories if memory.risk == UNSCANNED]
        new = [memory for memory in late if memory.digest not in self._risks]
        for start in range(0, len(new), SCANNED_TOGETHER):
            self._risks |= self._scan(self._whole(new[start : start + SCANNED_TOGETHER]))
        return {memory.id: self._risks.get(memory.digest, UNSCANNED) for memory in late}

    def indexed(self, memory_id: str) -> IndexedMemory | None:
        """A memory with its tokens; None for an unknown id."""
        return self.ask(lambda db: _indexed(db, self.root, memory_id))

    def word_counts(self) -> dict[str, int]:
        """Memory id -> the number of indexed words of title, tags and body, with repetitions."""
        sql = "select id, length(words) from memory where reason is null"
        return self.ask(lambda db: dict(db.execute(sql).fetchall()))

    def matching(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        """The memories whose whole text holds all of *terms*, best first; without terms, all memories by path."""
        if not terms:
            return self.summaries()
        return self.ask(lambda db: self._matching(db, terms))

    def is_fresh(self) -> bool:
        """Whether no folder and no list of the root changed since it was read; False where the index is damaged."""
        try:
            with self._lock:
                return self._in_one_state(lambda db: is_fresh(db, self.root))
        except DAMAGE:
            return False

    def pool(self, find: Callable[[Connection], CandidatePool]) -> CandidatePool:
        """The pool that *find* reads from the tables, with its memories as their files are now."""
        renewed: set[bytes] = set()
        while True:
            pool = self.ask(find)
            stale = self._stale([memory.memory for memory in pool.memories])
            names = {_name(self.root, memory) for memory in stale} - renewed
            if not names:
                return pool
            other = self._renew(names) if self._renew and len(renewed) < MOST_RENEWED else None
            if other is None:
                asked = [memory for memory in stale if _name(self.root, memory) in names]
                changed = {*asked} - self._unchanged(asked)
                return replace(pool, memories=[memory for memory in pool.memories if memory.memory not in changed])
            renewed |= names
            with self._lock:
                self._become(other)

    def ask(self, question: Callable[[Connection], T]) -> T:
        """The answer of *question*, which sees one state of the tables. A damaged index is replaced first."""
        with self._lock:
            try:
                return self._in_one_state(question)
            except DAMAGE as error:
                if self._recover is None:
                    raise
                self._become(self._recover(error))
                return self._in_one_state(question)

    def _in_one_state(self, question: Callable[[Connection], T]) -> T:
        self._db.execute("begin")
        try:
            return question(self._db)
        finally:
            if self._db.in_transaction:
                self._db.execute("rollback")

    def _become(self, other: Index) -> None:
        """Use the tables of *other*, which must have no other user."""
        self._db.close()
        self.has_fts5, self._db, self._memories = other.has_fts5, other._db, other._memories
        self._recover, self._renew = other._recover, other._renew
        self._by_row, self._version, self.lag = other._by_row, other._version, other.lag

    def count_in(self, names: set[bytes]) -> int:
        """The number of memories in files."""
        sql = "select count(*) from memory where name = ?"
        return self.ask(lambda db: sum(int(db.execute(sql, (name,)).fetchone()[0]) for name in names))

    def most_in_a_file(self) -> int:
        """The number of memories in the file that holds the most."""
        sql = "select coalesce(max(number), 0) from (select count(*) as number from memory group by name)"
        return self.ask(lambda db: int(db.execute(sql).fetchone()[0]))

    def _stale(self, memories: list[MemorySummary]) -> list[MemorySummary]:
        """The memories whose files are gone or may have changed since they were read."""
        if self._renew is None:
            return []
        listed = dumps([memory.id for memory in memories], ascii_only=False)
        known = {row[0]: row[1:] for row in self.ask(lambda db: db.execute(STAMPS, (listed,)).fetchall())}
        return [memory for memory in memories if known.get(memory.id) != stamp(memory.file)]

    def _unchanged(self, memories: list[MemorySummary]) -> set[MemorySummary]:
        """Those of *memories* that their files hold as they are, although the files changed."""
        now = {_lasting(memory.summary) for memory in self._whole(memories)}
        return {memory for memory in memories if _lasting(memory) in now}

    def _whole(self, memories: list[MemorySummary]) -> list[Memory]:
        """Those of *memories* that are still there, as their files are now. Each file is read once."""
        if self._memories is not None:
            return [self._memories[memory.id] for memory in memories if memory.id in self._memories]
        ids: dict[bytes, list[str]] = {}
        for memory in memories:
            ids.setdefault(_name(self.root, memory), []).append(memory.id)
        return [found for name, wanted in ids.items() for found in self._from_file(name, wanted)]

    def _from_file(self, name: bytes, wanted: list[str]) -> list[Memory]:
        """The memories with the ids *wanted* that a file holds now, the first for each id."""
        from engine.memory import Skipped
        from engine.stores.registry import store_of
        from engine.stores.roots import parts_of

        formats = self.ask(store_name)
        if self._store is None or self._store.name != formats:
            self._store = store_of(self.root, formats)
        try:
            found = [*parts_of(self._store, self.root, os.fsdecode(name), wanted)]
        except OSError:
            return []
        memories = [part for part in found if not isinstance(part, Skipped) and part.summary.id in wanted]
        return [*{memory.summary.id: memory for memory in reversed(memories)}.values()]

    def kept(self, db: Connection, key: object, make: Callable[[], T]) -> T:
        """The result of *make*, kept for the same *key* until another comes or the tables change.

        Systems run a prompt one after the other, and all but the first find it here.
        """
        state = db, db.execute("pragma data_version").fetchone()
        if self._kept[:2] != (state, key):
            self._kept = state, key, make()
        found: T = self._kept[2]
        return found

    def read_summaries(self, db: Connection) -> dict[int, MemorySummary]:
        """Row -> memory, by path, for a *question* of `ask`; read again if another process changed the index."""
        (version,) = db.execute("pragma data_version").fetchone()
        if version != self._version:
            rows = db.execute(f"select part, rowid, {SUMMARY} from memory where reason is null")
            found = [(part, row, summary(self.root, values)) for part, row, *values in rows]
            found.sort(key=lambda numbered: (numbered[2].file, numbered[0]))
            self._by_row = {row: memory for _, row, memory in found}
            self._version = version
        return self._by_row

    def _matching(self, db: Connection, terms: tuple[Term, ...]) -> list[MemorySummary]:
        summaries = self.read_summaries(db)
        if not self.has_fts5:
            holding = _holding(db, terms)
            return [memory for row, memory in summaries.items() if row in holding]
        sql = "select rowid, -bm25(full_text, 4, 2, 1) from full_text where full_text match ?"
        scores = dict(db.execute(sql, (all_of(terms),)).fetchall())
        if len(scores) <= MOST_SCORED:
            from engine.search.scoring import PromptMatcher
            from engine.search.strategies.fts5_bm25 import BODIES

            matches = PromptMatcher(db, terms, BODIES).matches(scores)
            scores = {row: match.bm25 for row, match in matches.items()}
        ordered = sorted((-score, summaries[row].priority, summaries[row].path, row) for row, score in scores.items())
        return [summaries[row] for *_, row in ordered]


def index_in_memory(
    corpus: Corpus,
    risk: Callable[[Memory], float],
    scanned: Callable[[Memory], float],
    module: str,
    is_accepted: Callable[[MemorySummary], bool],
) -> Index:
    """The index of *corpus*, in memory. *risk*: that of a new memory; *scanned*: that of a memory which has none yet.

    *module* is the full-text module of SQLite.
    """
    from engine.search.writing import Writer, batches

    db = in_memory()
    db.execute("begin")
    create(db, corpus.root, "", module)
    writer = Writer(db, risk)
    whole = enumerate(corpus.memories)
    for batch in batches(((_name(corpus.root, memory.summary), part, 0, 0, 0), memory) for part, memory in whole):
        writer.write(batch)
    writer.finish()
    for is_notice, listed in ((False, corpus.skipped), (True, corpus.notices)):
        rows = [(skipped.where, skipped.reason, is_notice, skipped.double_of) for skipped in listed]
        db.executemany("insert into skipped(place, reason, is_notice, double_of) values (?, ?, ?, ?)", rows)
    db.execute("commit")
    memories = {memory.summary.id: memory for memory in corpus.memories}

    def scan(late: list[Memory]) -> dict[str, float]:
        return {memory.summary.digest: scanned(memory) for memory in late}

    return Index(db, corpus.root, memories=memories, is_accepted=is_accepted, scan=scan)


def _name(root: str, memory: MemorySummary) -> bytes:
    """The file of a memory, within its root."""
    return os.fsencode(memory.file.removeprefix(os.path.join(root, "")))


def _lasting(memory: MemorySummary) -> MemorySummary:
    """*memory* without its risk, which only the index knows, and its line, which lines above it may move."""
    return replace(memory, path="", risk=0.0)


def _indexed(db: Connection, root: str, memory_id: str) -> IndexedMemory | None:
    from engine.search.vocabulary import decode

    sql = f"select {SUMMARY}, words from memory where id = ? and reason is null"
    row = db.execute(sql, (memory_id,)).fetchone()
    return IndexedMemory(summary(root, row[:-1]), decode(db, row[-1]), row[-1]) if row else None


def _skipped(db: Connection) -> tuple[Skipped, ...]:
    from engine.memory import Skipped
    from engine.stores.roots import by_reason

    files = sorted((os.fsdecode(name), *rest) for name, *rest in db.execute(UNUSED))
    return by_reason([*_listed(db, is_notice=False), *(Skipped(*about) for _, _, *about in files)])


def _listed(db: Connection, *, is_notice: bool) -> list[Skipped]:
    from engine.memory import Skipped

    return [Skipped(*about) for about in db.execute(LISTED, (is_notice,))]


def _holding(db: Connection, terms: tuple[Term, ...]) -> set[int]:
    """The rows of memories that hold all words of a filter, or longer words. Used without FTS5."""
    from engine.search.vocabulary import words_begun, words_of_text

    starts = [term.phrases[0][0] for term in terms]
    exact, begun = words_of_text(db, starts), words_begun(db, starts)
    codes = [[word.code for word in (*begun.get(start, ()), *filter(None, [exact.get(start)]))] for start in starts]
    rows = db.execute("select rowid, words from memory where reason is null").fetchall()
    return {row for row, words in rows if all(any(code in words for code in wanted) for wanted in codes)}
