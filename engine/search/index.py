"""The index of a root: its memories, and the pools that strategies find among them.

An index is in memory or in a file: see `engine.opening`. Only this package reads its tables.
"""

from __future__ import annotations

import os
from _thread import allocate_lock

from engine.lean.json_text import dumps
from engine.lean.record import replace
from engine.lean.sqlite import DAMAGE, in_memory
from engine.memory import UNSCANNED
from engine.search.database import create, has_fts5, is_fresh, stamp, store_name
from engine.search.postings import ALL, WEIGHTS, KeptPostings
from engine.search.query import all_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol, TypeVar

    from engine.config import OtherRoot
    from engine.lean.sqlite import Connection
    from engine.memory import Corpus, Memory, MemorySummary, Skipped
    from engine.search.postings import Postings
    from engine.search.query import Term
    from engine.search.ranking import CandidatePool
    from engine.stores.registry import RootStore

    T = TypeVar("T")

UNBUILT, BEHIND = "none yet", "behind the files"

MOST_RENEWED = 200
"""Changed files that are read again for one prompt. More changed memories are left out of its pool."""

SCANNED_TOGETHER = 500
"""Memories that are read, scanned and written into the index at a time."""

LISTED = "select place, reason, double_of from skipped where is_notice = ? order by number"
UNUSED = "select name, part, path, reason, coalesce(id, '') from memory where reason is not null"
STAMPS = """select id, size, mtime, ctime from memory
where id in (select value from json_each(?)) and reason is null"""


class Index:
    """The searchable memories of a root, for any number of threads.

    `has_fts5` is False where SQLite was built without FTS5. The pipeline scores by keywords then. `is_accepted`:
    whether a person accepted a risky memory. `is_loaded`: whether a client loads a memory by itself, of those that may
    be loaded.
    """

    lag = ""
    """Why memories may be missing that the files hold: UNBUILT, BEHIND, or empty."""

    others: Mapping[str, OtherRoot] = {}
    """Root -> its settings, of the roots beside the one whose settings count; a single root has none beside it."""

    def __init__(
        self,
        db: Connection,
        root: str,
        *,
        memories: dict[str, Memory] | None = None,
        recover: Callable[[Exception], Index] | None = None,
        renew: Callable[[Index, set[bytes]], Index | None] | None = None,
        scan: Callable[[list[Memory]], dict[str, float]] = lambda _: {},
    ) -> None:
        """The index in *db*, which it closes. *memories* by id, if they are not read from their files.

        *recover* gives another index if this one turns out damaged. *renew* reads changed files again, given this
        index and their names in the root, and gives an index with them, or None. Without it, all files count as
        unchanged. *scan*: digest -> risk, 0..1, of memories that were not scanned yet; it is called without any at the
        end.
        """
        self.root = root
        self.has_fts5 = has_fts5(db)
        self.is_accepted: Callable[[MemorySummary], bool] = lambda _: False
        self.is_loaded: Callable[[MemorySummary], bool] = lambda _: True
        self._scan = scan
        self._lock = allocate_lock()
        self._db, self._memories, self._recover, self._renew = db, memories, recover, renew
        self._risks: dict[str, float] = {}
        self._postings = KeptPostings()
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
        return self.ask(_read_skipped)

    @property
    def notices(self) -> tuple[Skipped, ...]:
        """Problems that cost no memory, such as a dead link in MEMORY.md."""
        return self.ask(lambda db: tuple(_read_listed(db, is_notice=True)))

    @property
    def corpus_hash(self) -> str:
        """16 hex digits that name the memories of the root and the phrases that count: any change changes them."""
        memories, phrases = self.ask(lambda db: db.execute("select fingerprint, phrases from about").fetchone())
        return f"{int(memories, 16) ^ int(phrases, 16):016x}"

    @property
    def contents(self) -> tuple[str, tuple[Skipped, ...], tuple[Skipped, ...]]:
        """All that a reading of the root can change: the hash of its memories, skipped files, and notices."""
        return self.corpus_hash, self.skipped, self.notices

    def summaries(self) -> list[MemorySummary]:
        """Every memory, ordered by path."""
        return list(self.look(lambda postings: postings.all_summaries()).values())

    def memory(self, memory_id: str) -> Memory | None:
        """The whole memory, as its file is now; None for an unknown id."""
        if self._memories is not None:
            found = self._memories.get(memory_id)
        else:
            sql = "select name from memory where id = ? and reason is null"
            row = self.ask(lambda db: db.execute(sql, (memory_id,)).fetchone())
            found = next(iter(self._from_file(row[0], [memory_id])), None) if row else None
        return replace(found, summary=replace(found.summary, root=self.root)) if found else None

    def held(self, memory_ids: Sequence[str]) -> set[str]:
        """Those of *memory_ids* that a memory has."""
        sql = "select id from memory where id in (select value from json_each(?)) and reason is null"
        return {name for (name,) in self.ask(lambda db: db.execute(sql, (dumps([*memory_ids]),)).fetchall())}

    def risks(self, memories: list[MemorySummary]) -> dict[str, float]:
        """Memory id -> risk, 0..1, of those of *memories* that were not scanned yet. The index keeps it."""
        late = [memory for memory in memories if memory.risk == UNSCANNED]
        new = [memory for memory in late if memory.digest not in self._risks]
        for start in range(0, len(new), SCANNED_TOGETHER):
            self._risks |= self._scan(self._whole(new[start : start + SCANNED_TOGETHER]))
        return {memory.id: self._risks.get(memory.digest, UNSCANNED) for memory in late}

    def word_counts(self) -> dict[str, int]:
        """Memory id -> the number of indexed words of title, tags and body, with repetitions."""
        sql = "select id, tokens from size join memory on rowid = row"
        return self.ask(lambda db: dict(db.execute(sql).fetchall()))

    def matching(self, terms: tuple[Term, ...]) -> list[MemorySummary]:
        """The memories whose whole text holds all of *terms*, best first; without terms, all memories by path."""
        if not terms:
            return self.summaries()
        return self.ask(lambda db: self._find_matching(db, terms))

    def is_fresh(self) -> bool:
        """Whether no folder and no list of the root changed since it was read; False where the index is damaged."""
        try:
            with self._lock:
                return self._in_one_state(lambda db: is_fresh(db, self.root))
        except DAMAGE:
            return False

    def pool(self, find: Callable[[Postings], CandidatePool]) -> CandidatePool:
        """The pool that *find* reads from the posting lists, with its memories as their files are now."""
        return find_fresh(self, (self,), find)

    def look(self, find: Callable[[Postings], T]) -> T:
        """The answer of *find*, which reads the posting lists in one state of the tables."""
        return self.ask(lambda db: find(self._postings.of([(db, self.root)])))

    def renew(self, memories: list[MemorySummary], renewed: set[bytes]) -> set[MemorySummary] | None:
        """Read the changed files of *memories* again.

        Returns None if files were read: ask again then. Else the memories to leave out, because their files changed
        and are not read again. *renewed* are the names of the files that were read again for this prompt.
        """
        if self._renew is None:
            return set()
        listed = dumps([memory.id for memory in memories], ascii_only=False)
        known = {row[0]: row[1:] for row in self.ask(lambda db: db.execute(STAMPS, (listed,)).fetchall())}
        stale = [memory for memory in memories if known.get(memory.id) != stamp(memory.file)]
        names = {_name(self.root, memory) for memory in stale} - renewed
        if not names:
            return set()
        other = self._renew(self, names) if len(renewed) < MOST_RENEWED else None
        if other is None:
            asked = [memory for memory in stale if _name(self.root, memory) in names]
            now = {_without_changeable(memory.summary) for memory in self._whole(asked)}  # a file may hold it as before
            return {memory for memory in asked if _without_changeable(memory) not in now}
        renewed |= names
        with self._lock:
            self._become(other)
        return None

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
        self.lag = other.lag

    def count_in(self, names: set[bytes]) -> int:
        """The number of memories in files."""
        sql = "select count(*) from memory where name = ?"
        return self.ask(lambda db: sum(int(db.execute(sql, (name,)).fetchone()[0]) for name in names))

    def most_in_a_file(self) -> int:
        """The number of memories in the file that holds the most."""
        sql = "select coalesce(max(number), 0) from (select count(*) as number from memory group by name)"
        return self.ask(lambda db: int(db.execute(sql).fetchone()[0]))

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

    def _find_matching(self, db: Connection, terms: tuple[Term, ...]) -> list[MemorySummary]:
        postings = self._postings.of([(db, self.root)])
        summaries = postings.all_summaries()
        if not self.has_fts5:
            holding = _find_holding(db, terms)
            return [memory for row, memory in summaries.items() if row in holding]
        ranked = postings.rank(all_of(terms), WEIGHTS, ALL)
        ordered = sorted((-score, summaries[row].priority, summaries[row].path, row) for row, score in ranked.items())
        return [summaries[row] for *_, row in ordered]


if TYPE_CHECKING:

    class Searchable(Protocol):
        """An index of one or several roots."""

        def look(self, find: Callable[[Postings], T]) -> T: ...

        def pool(self, find: Callable[[Postings], CandidatePool]) -> CandidatePool: ...


def find_fresh(index: Searchable, parts: Sequence[Index], find: Callable[[Postings], CandidatePool]) -> CandidatePool:
    """The pool that *find* reads in *index*, with its memories as their files are now. *parts*: the index of each root.

    A memory whose file changed and cannot be read again now is left out.
    """
    renewed: list[set[bytes]] = [set() for _ in parts]
    while True:
        pool = index.look(find)
        found = [scored.memory for scored in pool.memories]
        changed = [
            part.renew([memory for memory in found if memory.root == part.root], names)
            for part, names in zip(parts, renewed, strict=True)
        ]
        if None not in changed:
            lost = {memory for memories in changed for memory in memories or ()}
            return replace(pool, memories=[scored for scored in pool.memories if scored.memory not in lost])


def index_in_memory(
    corpus: Corpus,
    risk: Callable[[Memory], float],
    scanned: Callable[[Memory], float],
    module: str,
    is_accepted: Callable[[MemorySummary], bool],
    phrases: Mapping[str, Sequence[str]],
) -> Index:
    """The index of *corpus*, in memory. *risk*: that of a new memory; *scanned*: that of a memory which has none yet.

    *phrases*: memory id -> the phrases by which it is asked for. *module* is the full-text module of SQLite.
    """
    from engine.search.writing import Writer

    db = in_memory()
    db.execute("begin")
    create(db, corpus.root, "", module)
    writer = Writer(db, risk)
    for part, memory in enumerate(corpus.memories):
        writer.add(memory, (_name(corpus.root, memory.summary), part, 0, 0, 0))
    writer.finish(phrases)
    for is_notice, listed in ((False, corpus.skipped), (True, corpus.notices)):
        rows = [(skipped.where, skipped.reason, is_notice, skipped.double_of) for skipped in listed]
        db.executemany("insert into skipped(place, reason, is_notice, double_of) values (?, ?, ?, ?)", rows)
    db.execute("commit")
    memories = {memory.summary.id: memory for memory in corpus.memories}

    def scan(late: list[Memory]) -> dict[str, float]:
        return {memory.summary.digest: scanned(memory) for memory in late}

    index = Index(db, corpus.root, memories=memories, scan=scan)
    index.is_accepted = is_accepted
    return index


def _name(root: str, memory: MemorySummary) -> bytes:
    """The file of a memory, within its root."""
    return os.fsencode(memory.file.removeprefix(os.path.join(root, "")))


def _without_changeable(memory: MemorySummary) -> MemorySummary:
    """*memory* without what only the index knows, and without its line, which lines above it may move."""
    return replace(memory, path="", risk=0.0, root="")


def _read_skipped(db: Connection) -> tuple[Skipped, ...]:
    from engine.memory import Skipped
    from engine.stores.roots import by_reason

    files = sorted((os.fsdecode(name), *rest) for name, *rest in db.execute(UNUSED))
    return by_reason([*_read_listed(db, is_notice=False), *(Skipped(*about) for _, _, *about in files)])


def _read_listed(db: Connection, *, is_notice: bool) -> list[Skipped]:
    from engine.memory import Skipped

    return [Skipped(*about) for about in db.execute(LISTED, (is_notice,))]


def _find_holding(db: Connection, terms: tuple[Term, ...]) -> set[int]:
    """The rows of memories that hold all words of a filter. Used without FTS5."""
    from engine.search.writing import unpack

    found = set()
    for row, packed in db.execute("select rowid, stems from memory where reason is null"):
        stems = " ".join(["", *unpack(packed), ""])
        wanted = [
            [
                *(f" {' '.join(phrase)} " for phrase in term.stems),
                *([f" {term.phrases[0][0]}"] if term.is_prefix else ()),
            ]
            for term in terms
        ]
        if all(any(text in stems for text in alternatives) for alternatives in wanted):
            found.add(row)
    return found
