"""Updating the index file of a root: only files with a changed stamp are read.

A build or an update is one write transaction. So readers see the state before or after it, SQLite undoes the work of a
killed process, and the second of two builders waits for the first. An index that is damaged, foreign or of another
format is deleted and built again.
"""

from __future__ import annotations

import os

from engine.lean.sqlite import DAMAGE, for_writing
from engine.search.database import (
    FILES,
    check,
    create,
    has_fts5,
    is_fresh,
    is_openable,
    settled_stamp,
    stamp,
)
from engine.search.writing import Writer
from engine.stores.files import UnreadableFileError, has_earlier_id, make_private
from engine.stores.registry import store_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from engine.lean.sqlite import Connection
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
    *,
    wait_s: float,
    only: Set[bytes] | None = None,
    is_over: Callable[[], bool] = lambda: False,
    merges: bool = False,
) -> None:
    """Update the index at *path* for *root*, or build it.

    *wait_s*: how long to wait for another process that writes it, in seconds. *only*: names of the files to look at; a
    damaged index is not built again then. *is_over* is asked before a file is read. *merges*: merge segments of FTS5.
    Raises DatabaseError, OSError and OutOfTimeError, and leaves the index as it was.
    """
    if not is_openable(path):
        discard(path)
    try:
        _update(path, root, wait_s, only, is_over, merges)
    except DAMAGE as error:
        if only is not None or not is_damage(error):
            raise
        discard(path)
        _update(path, root, wait_s, None, is_over, merges)


def is_damage(error: Exception) -> bool:
    """Whether an error means that the file is damaged or foreign."""
    code = getattr(error, "sqlite_errorcode", 1)
    return code in (SHORT_READ, READ_ERROR) or code & 0xFF not in NOT_DAMAGED


def is_busy(error: Exception) -> bool:
    """Whether an error means that another process is writing the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == BUSY


def discard(path: str) -> None:
    """Delete an index."""
    for suffix in FILES:
        if os.path.lexists(path + suffix):
            os.unlink(path + suffix)


def _update(
    path: str, root: str, wait_s: float, only: Set[bytes] | None, is_over: Callable[[], bool], merges: bool
) -> None:
    make_private(path)
    db = for_writing(path, wait_s=wait_s)
    try:
        db.execute("begin immediate")
        store = store_of(root)
        is_new = not db.execute("select 1 from sqlite_master").fetchone()
        if is_new and only is None:
            create(db, root, store.INDEX_FILE)
        else:
            check(db, root, store.INDEX_FILE)
            db.execute("pragma cache_spill=off")  # else readers would be locked out until the end of a large update
        is_changed = Sync(db, root, store, is_over).run(only)
        if has_fts5(db) and (is_new or (merges and is_changed)):
            for table in ("full_text", "headline"):
                db.execute((OPTIMIZE if is_new else MERGE).format(table=table))
        db.execute("commit")
    finally:
        db.close()


class Sync:
    """One update of an index within a transaction."""

    def __init__(self, db: Connection, root: str, store: Store, is_over: Callable[[], bool]) -> None:
        self.writer = Writer(db)
        self._db = db
        self._root = root
        self._folder = os.fsencode(os.path.join(root, ""))
        self._store = store
        self._is_over = is_over
        self._rows: dict[bytes, tuple[int, Stamp]] = {}

    def run(self, only: Set[bytes] | None) -> bool:
        """Read changed files, of *only* or of all; whether there were any. Raises OSError."""
        sql = "select name, rowid, size, mtime, ctime from memory"
        if only is None:
            rows = self._db.execute(sql).fetchall()
        else:
            rows = [row for name in only for row in self._db.execute(f"{sql} where name = ?", (name,))]
        self._rows = {name: (row, (size, mtime, ctime)) for name, row, size, mtime, ctime in rows}
        for name in sorted(self._names() if only is None else only, key=os.fsdecode):
            self._look_at(name)
        is_changed = bool(self.writer.ids)
        while self.writer.ids:
            self._settle(self.writer.ids.pop())
        self.writer.finish()
        return is_changed

    def _names(self) -> Set[bytes]:
        """The files that may be memories. Folders and lists are read again only if one of them changed."""
        if is_fresh(self._db, self._root):
            return self._rows.keys()
        before = {place: self._settled(place) for place in self._store.places(())}
        names, skipped = self._store.listing(self._root)
        places = {place: before.get(place) or self._settled(place) for place in self._store.places(names)}
        self._db.execute("delete from place")
        self._db.execute("delete from skipped")
        listed = [(os.fsencode(place), *found) for place, found in places.items()]
        self._db.executemany("insert into place values (?, ?, ?, ?)", listed)
        pairs = [(one.where, one.reason) for one in skipped]
        self._db.executemany("insert into skipped(place, reason) values (?, ?)", pairs)
        found = {os.fsencode(name) for name in names}
        for name in self._rows.keys() - found:
            self.writer.remove(self._rows.pop(name)[0])
        return found

    def _settled(self, place: str) -> Stamp:
        return settled_stamp(os.path.join(self._root, place))

    def _look_at(self, name: bytes) -> None:
        """Read a file, unless the index knows its stamp."""
        row, known = self._rows.get(name, (None, None))
        if known == stamp(self._folder + name):
            return
        if self._is_over():
            raise OutOfTimeError
        found = settled_stamp(self._folder + name)
        if row is not None:
            self.writer.remove(row)
        self._read(name, found)

    def _read(self, name: bytes, found: Stamp) -> None:
        try:
            memory = self._store.read_file(self._root, os.fsdecode(name))
        except UnreadableFileError as error:
            self.writer.add_unused(str(error), name, found)
        else:
            self.writer.add(memory, name, found)

    def _settle(self, memory_id: str) -> None:
        """Of the files with this id, the first by path is the memory; the others are skipped."""
        rows = self._db.execute("select name, rowid, reason, size, mtime, ctime from memory where id = ?", (memory_id,))
        for place, (name, row, reason, *found) in enumerate(sorted(rows, key=lambda one: os.fsdecode(one[0]))):
            if (place == 0) == (reason is None):
                continue
            self.writer.remove(row)
            if place == 0:
                self._read(name, tuple(found))
            else:
                self.writer.add_unused(has_earlier_id(memory_id), name, tuple(found), memory_id)
