"""Updating the index file of a root: only files with a changed stamp are read.

A build or an update is one write transaction. So readers see the state before or after it, SQLite undoes the work of a
killed process, and the second of two builders waits for the first. An index that is damaged, foreign or of another
format is deleted and built again.
"""

from __future__ import annotations

import os
import time

from engine.lean.record import Record, replace
from engine.lean.sqlite import DAMAGE, for_writing
from engine.memory import Skipped
from engine.search.database import (
    FILES,
    SUMMARY,
    UNSETTLED,
    check,
    create,
    has_fts5,
    is_fresh,
    is_openable,
    settled_stamp,
    stamp,
    store_name,
    summary,
)
from engine.search.writing import Writer
from engine.stores.files import has_locks, make_private
from engine.stores.registry import store_of
from engine.stores.roots import counting_file, double, parts_of, shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set
    from typing import Any

    from engine.lean.sqlite import Connection
    from engine.memory import Memory, MemorySummary
    from engine.search.database import Stamp
    from engine.stores.registry import RootStore

NOT_DAMAGED = (3, 5, 6, 7, 8, 9, 10, 13, 14)
"""SQLite's PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN. To delete the file would not help."""

SHORT_READ, READ_ERROR = 522, 266
"""IOERR codes that a cut file causes."""

BUSY = 5

MERGE = "insert into full_text(full_text, rank) values ('merge', 500)"
"""Each update adds a segment to an FTS5 index, and each word is looked for in all segments. This merges 500 pages."""

OPTIMIZE = "insert into full_text(full_text) values ('optimize')"

MANY_IDS = 1000
DOUBLED = "select id from memory group by id having count(*) > 1 or count(reason)"
"""Of more ids, one query finds those that `Sync` has to settle."""


class OutOfTimeError(Exception):
    """The deadline passed; the index is what it was."""


class Watch(Record):
    """What holds while an index is updated.

    `tell` gets the number of files that were looked at, and of all. `is_over` is asked before a file is read.
    """

    tell: Callable[[int, int], None] = lambda *_: None
    is_over: Callable[[], bool] = lambda: False


UNWATCHED = Watch()


class PhraseSource(Record):
    """The phrases of a root. `files` are the paths that hold them; `read` gives memory id -> phrases."""

    files: tuple[str, ...] = ()
    read: Callable[[], Mapping[str, Sequence[str]]] = dict


NO_PHRASES = PhraseSource()


def update(
    path: str,
    root: str,
    risk: Callable[[Memory], float],
    *,
    wait_s: float,
    only: Set[bytes] | None = None,
    merges: bool = False,
    watch: Watch = UNWATCHED,
    phrases: PhraseSource = NO_PHRASES,
) -> bool:
    """Update or build the index at *path* for *root*. Returns whether some front matter was read by line, not as YAML.

    *risk*: that of a memory, 0..1. *wait_s*: how long to wait for another process that writes it, in seconds. *only*:
    names of the files to look at; a damaged index is not built again then. *merges*: merge segments of FTS5.
    Raises DatabaseError, OSError and OutOfTimeError, and leaves the index as it was.
    """
    if not is_openable(path):
        discard(path)

    def attempt() -> bool:
        make_private(path)
        db = for_writing(path, wait_s=wait_s)
        try:
            db.execute("begin immediate")
            is_new = not db.execute("select 1 from sqlite_master").fetchone()
            store = store_of(root, "" if is_new or only is None else store_name(db))
            if is_new and only is None:
                create(db, root, store.name)
            else:
                check(db, root, store.name)
                db.execute("pragma cache_spill=off")  # else readers would be locked out until a large update ends
            sync = Sync(db, root, store, risk, watch, phrases)
            is_changed = sync.run(only)
            if has_fts5(db) and (is_new or (merges and is_changed)):
                db.execute(OPTIMIZE if is_new else MERGE)
            db.execute("commit")
        finally:
            db.close()
        return sync.writer.is_by_line

    try:
        return attempt()
    except DAMAGE as error:
        if only is not None or not is_damage(error):
            raise
        discard(path)
        return attempt()


def is_damage(error: Exception) -> bool:
    """Whether an error means that the file is damaged or foreign."""
    code = getattr(error, "sqlite_errorcode", 1)
    return code in (SHORT_READ, READ_ERROR) or code & 0xFF not in NOT_DAMAGED


def is_busy(error: Exception, path: str) -> bool:
    """Whether an error means that another process is writing the file at *path*; not where files have no locks."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == BUSY and has_locks(os.path.dirname(path))


def is_locked(path: str) -> bool:
    """Whether another process is writing the file now."""
    try:
        db = for_writing(path, wait_s=0.0)
        try:
            db.execute("begin immediate")
        finally:
            db.close()
    except DAMAGE as error:
        return is_busy(error, path)
    return False


def discard(path: str) -> None:
    """Delete an index."""
    for suffix in FILES:
        if os.path.lexists(path + suffix):
            os.unlink(path + suffix)


def _kept_stamp(found: Stamp, item: Memory | Skipped) -> Stamp:
    """The stamp to store: a memory whose front matter was read by line is read again next time, maybe as YAML."""
    return (*found[:2], UNSETTLED) if not isinstance(item, Skipped) and item.is_by_line else found


class Sync:
    """One update of an index within a transaction."""

    def __init__(
        self,
        db: Connection,
        root: str,
        store: RootStore,
        risk: Callable[[Memory], float],
        watch: Watch,
        phrases: PhraseSource,
    ) -> None:
        self.writer = Writer(db, risk)
        self._phrases, self._has_other_phrases = phrases, False
        self._db, self._store, self._watch = db, store, watch
        self._root = root
        self._files: dict[bytes, Stamp] = {}

    def run(self, only: Set[bytes] | None) -> bool:
        """Read changed files, of *only* or of all; whether there were any. Raises OSError."""
        sql = "select name, size, mtime, ctime from memory"
        if only is None:
            rows = self._db.execute(sql).fetchall()
        else:
            rows = [row for name in only for row in self._db.execute(f"{sql} where name = ?", (name,))]
        self._files = {name: (size, mtime, ctime) for name, size, mtime, ctime in rows}
        names = self._names() if only is None else only
        known, folder = self._files, os.fsencode(self._root)
        changed = [name for name in names if known.get(name) != stamp(os.path.join(folder, name))]
        changed.sort(key=os.fsdecode)
        for name in changed:
            if name in self._files:
                self._read(name)
        self._add_new([os.fsdecode(name) for name in changed if name not in self._files], len(names))
        is_changed = bool(self.writer.ids)
        if len(self.writer.ids) > MANY_IDS:
            self.writer.ids &= {memory_id for (memory_id,) in self._db.execute(DOUBLED)}
        while self.writer.ids:
            self._settle(self.writer.ids.pop())
        self.writer.finish(self._phrases.read() if self._has_other_phrases else None)
        return is_changed

    def _add_new(self, new: list[str], of_all: int) -> None:
        for done, name in enumerate(new, of_all - len(new) + 1):
            self._require_time()
            found = settled_stamp(os.path.join(self._root, name))
            for part, item in enumerate(parts_of(self._store, self._root, name)):
                if part:
                    self._require_time()
                self.writer.add(item, (os.fsencode(name), part, *_kept_stamp(found, item)))
            self._watch.tell(done, of_all)

    def _names(self) -> Set[bytes]:
        """The files that may hold memories. Folders and lists are read again only if one of them changed."""
        if is_fresh(self._db, self._root):
            return self._files.keys()
        begun_ns = time.time_ns()
        listing = self._store.listing(self._root)
        before = self._db.execute("select name, size, mtime, ctime from place").fetchall()
        self._db.execute("delete from place")
        self._db.execute("delete from skipped")
        places = [
            (os.fsencode(place), *settled_stamp(os.path.join(self._root, place), begun_ns))
            for place in (*listing.places, *self._phrases.files)
        ]
        self._db.executemany("insert into place values (?, ?, ?, ?)", places)
        of_phrases = places[len(places) - len(self._phrases.files) :]
        self._has_other_phrases = any(place not in before for place in of_phrases)
        listed = [(skipped.where, skipped.reason, False) for skipped in listing.skipped]
        noticed = [(notice.where, notice.reason, True) for notice in listing.notices]
        self._db.executemany("insert into skipped(place, reason, is_notice) values (?, ?, ?)", [*listed, *noticed])
        found = {os.fsencode(name) for name in listing.names}
        for name in self._files.keys() - found:
            for row in self._rows(name):
                self.writer.remove(row)
            del self._files[name]
        return found

    def _rows(self, name: bytes) -> list[int]:
        return [row for (row,) in self._db.execute("select rowid from memory where name = ?", (name,))]

    def _read(self, name: bytes) -> None:
        """Read a file again."""
        rows = self._rows(name)
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
                sql = "update memory set size = ?, mtime = ?, ctime = ?, part = ? where rowid = ?"
                self._db.execute(sql, (*_kept_stamp(found, item), part, row))
            else:
                self._require_time()
                self.writer.add(item, (name, part, *_kept_stamp(found, item)))
        for gone in left:
            self.writer.remove(gone)

    def _summaries(self, rows: list[int]) -> dict[MemorySummary, int]:
        """Memory as its store reads it -> row. So the unchanged memories of a large file are not indexed again."""
        sql = f"select {SUMMARY} from memory where rowid = ? and reason is null"
        found = ((self._db.execute(sql, (row,)).fetchone(), row) for row in rows)
        return {replace(summary(self._root, values), risk=0.0, root=""): row for values, row in found if values}

    def _require_time(self) -> None:
        if self._watch.is_over():
            raise OutOfTimeError

    def _settle(self, memory_id: str) -> None:
        """Of the files with this id, one holds the memory; the others are skipped."""
        sql = "select name, part, updated_at, rowid, reason, size, mtime, ctime from memory where id = ?"
        rows = [(os.fsdecode(name), *rest) for name, *rest in self._db.execute(sql, (memory_id,))]
        if not rows or (len(rows) == 1 and rows[0][4] is None):
            return
        rows.sort()
        counting = counting_file(self._root, memory_id, [(name, changed) for name, _, changed, *_ in rows])
        used = [name for name, *_ in rows].index(counting)
        for number, (name, part, changed, row, reason, *found) in enumerate(rows):
            skipped = double(shown_name(self._root, name), memory_id, shown_name(self._root, counting))
            if reason == (None if number == used else skipped.reason):
                continue
            self.writer.remove(row)
            place: Any = (os.fsencode(name), part, *found)
            if number == used:
                self._require_time()
                again = parts_of(self._store, self._root, name, (memory_id,))
                own = (item for item in again if not isinstance(item, Skipped) and item.summary.id == memory_id)
                gone = Skipped(shown_name(self._root, name), "changed while it was read")
                self.writer.add(next(own, gone), place)
            else:
                self.writer.add_unused(skipped, place, memory_id, changed)
