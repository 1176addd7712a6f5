"""Bringing an index up to date with its root: only files whose stamp changed are read.

Nothing here commits or begins: the caller holds one write transaction, so that whoever reads sees the root as it was
before or as it is now, and a process that dies leaves what was before.
"""

from __future__ import annotations

import os
import time

from engine.search import storing
from engine.search.changes import Changes, arrange
from engine.search.frequencies import MIN_CHANGES, note_changes, refresh
from engine.search.recheck import is_fresh
from engine.search.stamps import settled, stamp
from engine.stores.files import UnreadableFileError, has_earlier_id
from engine.stores.registry import store_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from engine.lean.sqlite import Connection
    from engine.memory import Memory
    from engine.search.stamps import Stamp
    from engine.stores.registry import Store


class OutOfTimeError(Exception):
    """The deadline passed; roll back."""


def never() -> bool:
    return False


def sync(
    db: Connection,
    root: str,
    *,
    has_fts5: bool = True,
    may_count: bool = True,
    is_over: Callable[[], bool] = never,
) -> int:
    """Bring the index up to date with every file of *root*; the number of memories that changed.

    *is_over* is asked between files; OutOfTimeError when it says so. OSError where the root cannot be listed. Without
    *may_count* the frequencies are not counted anew, which takes as long as the index is large, however little changed.
    """
    update = Update(db, root, has_fts5=has_fts5, is_over=is_over)
    changed = update.run(may_count=may_count)
    if has_fts5 and update.must_count:
        refresh(db)
        arrange(db)
    elif has_fts5 and changed:
        note_changes(db, changed, may_count=may_count)
    return changed


class Update:
    """One run of `sync`. `must_count`: terms were added that have no frequency."""

    def __init__(self, db: Connection, root: str, *, has_fts5: bool, is_over: Callable[[], bool]) -> None:
        self._db = db
        self._root = root
        self._folder = os.fsencode(os.path.join(root, ""))
        self._has_fts5 = has_fts5
        self._is_over = is_over
        self._store: Store = store_of(root)
        self._changed = 0
        self._vacated: set[str] = set()
        self._known: dict[bytes, Stamp] = {}
        self.must_count = False
        self._changes: Changes | None = None

    def run(self, *, may_count: bool) -> int:
        sql = "select name, size, mtime, ctime from file"
        self._known = {name: (size, mtime, ctime) for name, size, mtime, ctime in self._db.execute(sql)}
        names = self._names()
        stale = sorted((name for name in names if not self._is_known(name)), key=os.fsdecode)
        self.must_count = not self._known or (may_count and len(stale) > MIN_CHANGES)
        gone = self._known.keys() - names
        if self._has_fts5:
            self._changes = Changes(self._db, len(stale) + len(gone), counts=not self.must_count)
        for name in gone:
            self._forget(name)
        for name in stale:
            self._read(name)
        self._promote()
        if self._changes:
            self._changes.write()
        return self._changed

    def _is_known(self, name: bytes) -> bool:
        return self._known.get(name) == stamp(self._folder + name)

    def _names(self) -> Set[bytes]:
        """The files that may be memories. Lists and folders are read anew only where one of them changed."""
        is_same_format = self._note_format()
        if self._known and is_same_format and is_fresh(self._db, self._root):
            return self._known.keys()
        now = time.time_ns()
        before = {place: self._settled(place, now) for place in self._store.places(())}
        names, skipped = self._store.listing(self._root)
        places = {place: before.get(place) or self._settled(place, now) for place in self._store.places(names)}
        self._db.execute("delete from place")
        self._db.execute("delete from skipped")
        listed = [(os.fsencode(place), *found) for place, found in places.items()]
        self._db.executemany("insert into place values (?, ?, ?, ?)", listed)
        pairs = [(one.where, one.reason) for one in skipped]
        self._db.executemany("insert into skipped(place, reason) values (?, ?)", pairs)
        return {os.fsencode(name) for name in names}

    def _settled(self, place: str, now: int) -> Stamp:
        return settled(stamp(os.path.join(self._root, place)), now)

    def _note_format(self) -> bool:
        """Whether the root is of the format that it had."""
        name = self._store.INDEX_FILE
        row = self._db.execute("select value from meta where key = 'list'").fetchone()
        self._db.execute("insert or replace into meta values ('list', ?)", (name,))
        return row is not None and row[0] == name

    def _read(self, name: bytes) -> None:
        """Read one file and store what it says."""
        if self._is_over():
            raise OutOfTimeError
        now = time.time_ns()
        found = settled(stamp(self._folder + name), now)
        try:
            memory = self._store.read_file(self._root, os.fsdecode(name))
        except UnreadableFileError as error:
            self._put(name, found, None, str(error))
            return
        rival = self._rival(name, memory.summary.id)
        if rival is not None and os.fsdecode(rival) < os.fsdecode(name):
            self._put(name, found, memory, has_earlier_id(memory.summary.id))
            return
        if rival is not None:
            self._demote(rival, memory.summary.id)
        self._put(name, found, memory, None)

    def _rival(self, name: bytes, memory_id: str) -> bytes | None:
        """The file that is the memory of this id now, if another one is."""
        sql = "select name from file where id = ? and reason is null and name != ?"
        row = self._db.execute(sql, (memory_id, name)).fetchone()
        return row[0] if row else None

    def _demote(self, name: bytes, memory_id: str) -> None:
        rowid = self._db.execute("select rowid from file where name = ?", (name,)).fetchone()[0]
        storing.remove(self._db, rowid, self._changes)
        self._db.execute("update file set reason = ? where rowid = ?", (has_earlier_id(memory_id), rowid))
        self._changed += 1

    def _put(self, name: bytes, found: Stamp, memory: Memory | None, reason: str | None) -> None:
        """Store a file's row, and its memory unless there is a reason not to."""
        known = self._db.execute("select rowid, id, reason from file where name = ?", (name,)).fetchone()
        memory_id = memory.summary.id if memory else None
        if known and known[1] is not None and known[2] is None and (known[1] != memory_id or reason is not None):
            self._vacated.add(known[1])
        rowid = known[0] if known else self._new_row(name)
        sql = "update file set size = ?, mtime = ?, ctime = ?, id = ?, reason = ? where rowid = ?"
        self._db.execute(sql, (*found, memory_id, reason, rowid))
        is_kept = memory is not None and reason is None
        if memory and is_kept and storing.is_stored(self._db, self._root, rowid, memory):
            return
        self._changed += storing.remove(self._db, rowid, self._changes) or is_kept
        if memory and is_kept:
            storing.insert(self._db, self._root, rowid, memory, self._changes)

    def _new_row(self, name: bytes) -> int:
        self._db.execute("insert into file(name) values (?)", (name,))
        return int(self._db.execute("select last_insert_rowid()").fetchone()[0])

    def _forget(self, name: bytes) -> None:
        sql = "select rowid, id, reason from file where name = ?"
        rowid, memory_id, reason = self._db.execute(sql, (name,)).fetchone()
        storing.remove(self._db, rowid, self._changes)
        self._db.execute("delete from file where rowid = ?", (rowid,))
        self._changed += 1
        if memory_id is not None and reason is None:
            self._vacated.add(memory_id)

    def _promote(self) -> None:
        """Where the memory of an id went, the first of the files that had to stand back for it takes its place."""
        while self._vacated:
            memory_id = self._vacated.pop()
            while claimants := self._claimants(memory_id):
                self._read(claimants[0])

    def _claimants(self, memory_id: str) -> list[bytes]:
        found = self._db.execute("select name, reason from file where id = ?", (memory_id,)).fetchall()
        if any(reason is None for _, reason in found):
            return []
        return sorted((name for name, _ in found), key=os.fsdecode)
