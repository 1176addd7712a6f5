"""Updating the index file of a root: only files with a changed stamp are read.

A build or an update is one write transaction. So readers see the state before or after it, SQLite undoes the work of a
killed process, and the second of two builders waits for the first. An index that is damaged, foreign or of another
format is deleted and built again.
"""

from __future__ import annotations

import os
import time

from engine.lean.record import replace
from engine.lean.sqlite import DAMAGE, for_writing
from engine.memory import Skipped
from engine.search.database import (
    FILES,
    SUMMARY,
    check,
    create,
    has_fts5,
    is_fresh,
    is_openable,
    settled_stamp,
    stamp,
    summary,
)
from engine.search.writing import Writer
from engine.stores.files import make_private
from engine.stores.registry import store_of
from engine.stores.roots import counting_file, double, parts_of, shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from engine.lean.sqlite import Connection
    from engine.memory import Memory, MemorySummary
    from engine.search.database import Stamp
    from engine.stores.registry import Store

NOT_DAMAGED = (3, 5, 6, 7, 8, 9, 10, 13, 14)
"""SQLite's PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN. To delete the file would not help."""

SHORT_READ, READ_ERROR = 522, 266
"""IOERR codes that a cut file causes."""

BUSY = 5

MERGE = "insert into {table}({table}, rank) values ('merge', 500)"
"""Each update adds a segment to an FTS5 index, and each word is looked for in all segments. This merges 500 pages."""

OPTIMIZE = "insert into {table}({table}) values ('optimize')"


class OutOfTimeError(Exception):
    """The deadline passed; the index is what it was."""


def update(
    path: str,
    root: str,
    risk: Callable[[Memory], float],
    *,
    wait_s: float,
    only: Set[bytes] | None = None,
    is_over: Callable[[], bool] = lambda: False,
    merges: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> None:
    """Update the index at *path* for *root*, or build it.

    *risk*: that of a memory, 0..1. *wait_s*: how long to wait for another process that writes it, in seconds. *only*:
    names of the files to look at; a damaged index is not built again then. *is_over* is asked before a file is read.
    *merges*: merge segments of FTS5. *tell* gets the number of files that were looked at, and of all.
    Raises DatabaseError, OSError and OutOfTimeError, and leaves the index as it was.
    """
    if not is_openable(path):
        discard(path)
    try:
        _update(path, root, risk, wait_s, only, is_over, merges, tell)
    except DAMAGE as error:
        if only is not None or not is_damage(error):
            raise
        discard(path)
        _update(path, root, risk, wait_s, None, is_over, merges, tell)


def is_damage(error: Exception) -> bool:
    """Whether an error means that the file is damaged or foreign."""
    code = getattr(error, "sqlite_errorcode", 1)
    return code in (SHORT_READ, READ_ERROR) or code & 0xFF not in NOT_DAMAGED


def is_busy(error: Exception) -> bool:
    """Whether an error means that another process is writing the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == BUSY


def is_locked(path: str) -> bool:
    """Whether another process is writing the file now."""
    try:
        db = for_writing(path, wait_s=0.0)
    except DAMAGE as error:
        return is_busy(error)
    try:
        db.execute("begin immediate")
        db.execute("rollback")
    except DAMAGE as error:
        return is_busy(error)
    finally:
        db.close()
    return False


def discard(path: str) -> None:
    """Delete an index."""
    for suffix in FILES:
        if os.path.lexists(path + suffix):
            os.unlink(path + suffix)


def _update(
    path: str,
    root: str,
    risk: Callable[[Memory], float],
    wait_s: float,
    only: Set[bytes] | None,
    is_over: Callable[[], bool],
    merges: bool,
    tell: Callable[[int, int], None] | None,
) -> None:
    make_private(path)
    db = for_writing(path, wait_s=wait_s)
    try:
        db.execute("begin immediate")
        store = store_of(root)
        is_new = not db.execute("select 1 from sqlite_master").fetchone()
        if is_new and only is None:
            create(db, root, store.name)
        else:
            check(db, root, store.name)
            db.execute("pragma cache_spill=off")  # else readers would be locked out until the end of a large update
        is_changed = Sync(db, root, store, risk, is_over, tell).run(only)
        if has_fts5(db) and (is_new or (merges and is_changed)):
            for table in ("full_text", "headline"):
                db.execute((OPTIMIZE if is_new else MERGE).format(table=table))
        db.execute("commit")
    finally:
        db.close()


class Sync:
    """One update of an index within a transaction."""

    def __init__(
        self,
        db: Connection,
        root: str,
        store: Store,
        risk: Callable[[Memory], float],
        is_over: Callable[[], bool],
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        self.writer = Writer(db, risk)
        self._db = db
        self._root = root
        self._store = store
        self._is_over = is_over
        self._tell = tell
        self._files: dict[bytes, tuple[Stamp, list[int]]] = {}

    def run(self, only: Set[bytes] | None) -> bool:
        """Read changed files, of *only* or of all; whether there were any. Raises OSError."""
        sql = "select name, rowid, size, mtime, ctime from memory"
        if only is None:
            rows = self._db.execute(sql).fetchall()
        else:
            rows = [row for name in only for row in self._db.execute(f"{sql} where name = ?", (name,))]
        for name, row, size, mtime, ctime in rows:
            self._files.setdefault(name, ((size, mtime, ctime), []))[1].append(row)
        names = self._names() if only is None else only
        changed = sorted(filter(self._is_changed, names), key=os.fsdecode)
        for done, name in enumerate(changed, start=len(names) - len(changed) + 1):
            self._read(name)
            if self._tell:
                self._tell(done, len(names))
        is_changed = bool(self.writer.ids)
        while self.writer.ids:
            self._settle(self.writer.ids.pop())
        self.writer.finish()
        return is_changed

    def _names(self) -> Set[bytes]:
        """The files that may hold memories. Folders and lists are read again only if one of them changed."""
        if is_fresh(self._db, self._root):
            return self._files.keys()
        begun_ns = time.time_ns()
        listing = self._store.listing(self._root)
        self._db.execute("delete from place")
        self._db.execute("delete from skipped")
        places = [(os.fsencode(place), *self._settled(place, begun_ns)) for place in listing.places]
        self._db.executemany("insert into place values (?, ?, ?, ?)", places)
        listed = [(skipped.where, skipped.reason, False) for skipped in listing.skipped]
        noticed = [(notice.where, notice.reason, True) for notice in listing.notices]
        self._db.executemany("insert into skipped(place, reason, is_notice) values (?, ?, ?)", [*listed, *noticed])
        found = {os.fsencode(name) for name in listing.names}
        for name in self._files.keys() - found:
            for row in self._files.pop(name)[1]:
                self.writer.remove(row)
        return found

    def _settled(self, place: str, begun_ns: int) -> Stamp:
        return settled_stamp(os.path.join(self._root, place), begun_ns)

    def _is_changed(self, name: bytes) -> bool:
        """Whether the index does not know the stamp of a file."""
        return name not in self._files or self._files[name][0] != stamp(os.path.join(self._root, os.fsdecode(name)))

    def _read(self, name: bytes) -> None:
        """Read a file again."""
        rows = self._files[name][1] if name in self._files else []
        self._require_time()
        found = settled_stamp(os.path.join(self._root, os.fsdecode(name)))
        before = self._summaries(rows) if len(rows) > 1 else {}
        left = {*before.values()}
        for gone in {*rows} - left:
            self.writer.remove(gone)
        for part, item in enumerate(parts_of(self._store, self._root, os.fsdecode(name))):
            row = None if isinstance(item, Skipped) else before.get(item.summary)
            if row is not None and row in left:
                left.discard(row)
                self.writer.restamp(row, found, part)
            else:
                self._add(item, name, found, part)
        for gone in left:
            self.writer.remove(gone)

    def _summaries(self, rows: list[int]) -> dict[MemorySummary, int]:
        """Memory as its store reads it -> row. So the unchanged memories of a large file are not indexed again."""
        sql = f"select {SUMMARY} from memory where rowid = ? and reason is null"
        found = ((self._db.execute(sql, (row,)).fetchone(), row) for row in rows)
        return {replace(summary(self._root, values), risk=0.0): row for values, row in found if values}

    def _add(self, item: Memory | Skipped, name: bytes, found: Stamp, part: int) -> None:
        if part:
            self._require_time()
        if isinstance(item, Skipped):
            self.writer.add_unused(item, name, found, part)
        else:
            self.writer.add(item, name, found, part)

    def _require_time(self) -> None:
        if self._is_over():
            raise OutOfTimeError

    def _settle(self, memory_id: str) -> None:
        """Of the files with this id, one holds the memory; the others are skipped."""
        sql = "select name, part, updated_at, rowid, reason, size, mtime, ctime from memory where id = ?"
        rows = [(os.fsdecode(name), *rest) for name, *rest in self._db.execute(sql, (memory_id,))]
        if not rows or (len(rows) == 1 and rows[0][4] is None):
            return
        rows.sort()
        counting = counting_file(self._root, memory_id, [(name, changed) for name, _, changed, *_ in rows])
        place = [name for name, *_ in rows].index(counting)
        for number, (name, part, changed, row, reason, *found) in enumerate(rows):
            skipped = double(shown_name(self._root, name), memory_id, shown_name(self._root, counting))
            if reason == (None if number == place else skipped.reason):
                continue
            self.writer.remove(row)
            if number == place:
                self._add(self._again(os.fsencode(name), memory_id), os.fsencode(name), tuple(found), part)
            else:
                self.writer.add_unused(skipped, os.fsencode(name), tuple(found), part, memory_id, changed)

    def _again(self, name: bytes, memory_id: str) -> Memory | Skipped:
        """The memory with this id, from its file."""
        relative = os.fsdecode(name)
        for item in parts_of(self._store, self._root, relative, (memory_id,)):
            if not isinstance(item, Skipped) and item.summary.id == memory_id:
                return item
        return Skipped(shown_name(self._root, relative), "changed while it was read")
