"""The file of the label store: opened, checked and brought up to date. Files of other programs are left alone."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, Any

from engine.errors import LabelStoreError, MovedStoreError, NewerStoreError
from engine.stores.files import OWN_FILE, has_locks, make_private
from engine.stores.private_database import NO_LOCKS
from labels.tables import ELSEWHERE, STEPS, LabelTables, database_of, migrations, storable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from sqlite_utils import Database

    Rows = dict[tuple[Any, ...], dict[str, Any]]

BUSY_TIMEOUT_S = 10.0
CACHE_KIB = 65536
"""The page cache of a connection. SQLite's own 2 MB is too small for a report, which reads most pages several times."""

EVENT = "label_event"
KEYS = {"prompt": ("prompt_id",), "memory_version": ("memory_id", "digest"), EVENT: ("uid",)}
"""The tables whose rows are kept for the case that the file is overwritten, with their keys."""

File = tuple[int, int]
"""Device and inode."""

NO_FILE = (-1, -1)

opened: dict[int, tuple[Path, File]] = {}
"""The files of this process' connections, by the ids of these. Of one path, only one file may be open at a time: SQLite
would use the same write-ahead log for both."""

NO_SHARED_MEMORY = (sqlite3.SQLITE_IOERR_SHMMAP, sqlite3.SQLITE_IOERR_SHMOPEN)
"""What SQLite says of a store in WAL mode where processes cannot share memory."""

SETTLE_S = 0.5
"""Time for SQLite to move its log into the file."""


class LabelDatabase(LabelTables):
    """One connection to the file of a label store.

    Connections of one process that share a `turn` write one after the other: SQLite itself only looks now and then
    whether the other is done.

    If another program moves, replaces or deletes the file while it is open, nothing is written any more. The content
    that was open is in memory then, to be read and to be carried to another file.
    """

    def __init__(self, path: Path, busy_timeout_s: float = BUSY_TIMEOUT_S, turn: RLock | None = None) -> None:
        """Open *path* and bring its schema up to date. Makes the file and its folders if they are missing.

        Raises LabelStoreError for a file that is no label store, and NewerStoreError for a store of a newer memsift.
        Both are left as they were.
        """
        self.path = path
        self.turn = turn or RLock()
        for place, file in list(opened.values()):
            if place == path and file_at(path, file) != file:
                raise moved(path)
        make_place(path)
        if not has_locks(str(path.parent)):
            raise LabelStoreError(f"Label store {path}: {NO_LOCKS}. Take a folder on another disk, {ELSEWHERE}.")
        with self.explaining():
            super().__init__(database_of(connect(path, busy_timeout_s)), path)
        opened[id(self)] = (path, file_at(path))
        self._written: Rows = {}
        self._pending: Rows = {}
        try:
            self._stamp, self._newest = stamp_of(path), newest_event(path)
            with self.explaining():
                refuse_foreign(self._db, path)
                is_older = bool(migrations().pending(self._db))
            # an up-to-date store is opened without the write lock, so a reader need not wait for a writer
            if is_older:
                with self.writing():
                    refuse_foreign(self._db, path)
                    if migrations().pending(self._db):  # another process may have been faster
                        with suppress(PermissionError):  # stores of older versions were readable by everybody
                            path.chmod(path.stat().st_mode & OWN_FILE)
                        migrations().apply(self._db)
                with self.explaining():
                    switch_to_wal(self._db, busy_timeout_s)
                    self._db.close()
                    self._db = database_of(connect(path, busy_timeout_s))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with suppress(LabelStoreError):
            self.require_in_place()  # a file that was moved gets the rest of its log
        self._db.close()
        opened.pop(id(self), None)

    def require_in_place(self) -> None:
        """Raise MovedStoreError unless the file that was opened still lies at `path`."""
        if id(self) in opened:
            path, file = opened[id(self)]
            is_in_place = file_at(path, file) == file
            if is_in_place and not self._is_overwritten():
                return
            if is_in_place:
                # only the rows that this connection wrote are left; the log says what to change in the file as it was
                with suppress(OSError):
                    os.truncate(f"{self.path}-wal", 0)
                tables = LabelTables.in_memory()
                for (table, *_), row in self._written.items():
                    tables.insert(table, row)
                held = tables._db
            else:
                # the log has its name beside `path`, and SQLite would take it for the log of the file that is there now
                held = self.copied()
                with suppress(sqlite3.Error):
                    self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.close()
            self._db = held
            del opened[id(self)]
        raise moved(self.path)

    def _is_overwritten(self) -> bool:
        """Whether another program wrote over the file, as `cp` does: its newest event is not in it any more.

        Events are never deleted. SQLite writes the file only when it moves the log into it, which may be under way.
        """
        deadline = time.monotonic() + SETTLE_S
        while (stamp := stamp_of(self.path)) != self._stamp:
            if self._newest is None or self._newest == newest_event(self.path, self._newest[0]):
                self._stamp, self._newest = stamp, newest_event(self.path) or self._newest
            elif time.monotonic() > deadline:
                return True
            else:
                time.sleep(0.02)
        return False

    def move(self, path: Path, carry: Callable[[LabelDatabase, LabelDatabase], object]) -> None:
        """Go on with the store at *path*, once *carry* has brought there what this one holds; a missing one is made.

        Raises MemsiftError, and then everything is as it was.
        """
        there = LabelDatabase(path, turn=self.turn)
        try:
            with there.writing():
                carry(self, there)
        except BaseException:
            there.close()
            raise
        self._db.close()
        self.path, self._db, self._written = path, there._db, {}
        self._stamp, self._newest = there._stamp, there._newest
        opened[id(self)] = opened.pop(id(there))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """As in LabelTables, and on disk when the block ends.

        Raises MovedStoreError if the file is not at its path any more.
        """
        if self._db.conn.in_transaction:
            yield
            return
        self.require_in_place()
        with self.turn:
            try:
                with super().writing():
                    yield
                self._written |= self._pending
            finally:
                self._pending = {}

    def insert(self, table: str, row: Mapping[str, Any], *, upsert: str = "") -> int:
        """As in LabelTables. The row is kept for the case that the file is overwritten before its log."""
        number = super().insert(table, row, upsert=upsert)
        if table in KEYS:
            kept = {name: storable(value) for name, value in row.items()}
            kept |= {"event_id": number} if table == EVENT else {}
            self._pending[table, *(kept[name] for name in KEYS[table])] = kept
        return number


def make_place(path: Path) -> None:
    """Make the folders of *path* and the file. Raises LabelStoreError if that fails or if it can be no store.

    Only SQLite opens a file that exists: closing another descriptor frees all locks that this process holds on it.
    """
    try:
        if not path.exists():
            make_private(str(path))
        if not path.is_file():
            raise not_a_store(path, "it is a folder, a device or a pipe")
        # SQLite takes a file of one byte for an empty database and would overwrite it
        if path.stat().st_size == 1:
            raise not_a_store(path, "it is not an SQLite database")
    except OSError as error:
        raise unusable_place(error, path) from error


def connect(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None)
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = {-CACHE_KIB}")
    except BaseException as error:
        connection.close()
        if getattr(error, "sqlite_errorcode", 0) not in NO_SHARED_MEMORY:
            raise
        # without WAL from now on: readers and a writer take turns then
        with closing(sqlite3.connect(path, isolation_level=None)) as alone:
            for setting in ("locking_mode = EXCLUSIVE", "journal_mode = DELETE"):
                alone.execute(f"PRAGMA {setting}").fetchall()
        return connect(path, busy_timeout_s)
    return connection


def switch_to_wal(db: Database, busy_timeout_s: float) -> None:
    """Let readers and a writer work at once. SQLite itself does not wait for another writer here."""
    deadline = time.monotonic() + busy_timeout_s
    while True:
        try:
            db.enable_wal()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode in NO_SHARED_MEMORY:
                return
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def refuse_foreign(db: Database, path: Path) -> None:
    """Raise if *db* has tables of another program, or schema steps that are missing from STEPS."""
    applied = {step.name for step in migrations().applied(db)}
    unknown = applied - set(STEPS)
    if unknown:
        raise NewerStoreError(
            f"Label store {path}: a newer memsift made it (it has {', '.join(sorted(unknown))}), "
            f"so it was left alone. Update memsift, {ELSEWHERE}."
        )
    if not applied and db.table_names():
        raise not_a_store(path, "it is another program's database")


def moved(path: Path) -> MovedStoreError:
    return MovedStoreError(
        f"Label store {path}: another program moved, replaced or deleted it while it was open, so nothing more was "
        "written. Check the file that is there now, and begin again to write to it."
    )


def not_a_store(path: Path, why: str) -> LabelStoreError:
    return LabelStoreError(f"Label store {path}: {why}, so it was left alone. Move it away, {ELSEWHERE}.")


def unusable_place(error: OSError, path: Path) -> LabelStoreError:
    """The file system's *error* for *path*, in words that a person can act on."""
    return LabelStoreError(f"Label store {path}: {error.strerror or error}. Check its folder, {ELSEWHERE}.")


# Which file lies at a path


def file_at(path: Path, unseen: File = (0, 0)) -> File:
    """The file at *path*; *unseen* where the path cannot be looked at."""
    try:
        found = path.stat()
    except OSError as error:
        return NO_FILE if error.errno in (errno.ENOENT, errno.ENOTDIR) else unseen
    return found.st_dev, found.st_ino


def stamp_of(path: Path) -> tuple[int, int]:
    """Size and modification time of a file."""
    try:
        found = path.stat()
    except OSError:
        return NO_FILE
    return found.st_size, found.st_mtime_ns


def newest_event(path: Path, number: int | None = None) -> tuple[int, str] | None:
    """Number and uid of the newest event in a file without its log, or of the event *number*; None if it has none."""
    sql = "SELECT event_id, uid FROM label_event WHERE event_id = coalesce(?, (SELECT max(event_id) FROM label_event))"
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"  # without its log, so that SQLite makes no file beside it
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as db:
        found: tuple[int, str] | None = db.execute(sql, [number]).fetchone()
        return found
    return None
