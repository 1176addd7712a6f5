"""The file of the label store: opened, checked and brought up to date. Files of other programs are left alone."""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, Any

from engine.errors import LabelStoreError, NewerStoreError
from engine.stores.files import OWN_FILE, make_private
from labels.migrations import MIGRATIONS, STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlite_utils import Database

    Parameters = Sequence[Any] | dict[str, Any]

BUSY_TIMEOUT_S = 10.0
CACHE_KIB = 65536
"""The page cache of a connection. SQLite's own 2 MB is too small for a report, which reads most pages several times."""

ELSEWHERE = "or name another file with --db or MEMSIFT_DB"
KEPT = "What was saved before is untouched."
ADVICE = {
    sqlite3.SQLITE_NOTADB: f"it is not an SQLite database, so it was left alone. Move it away, {ELSEWHERE}.",
    sqlite3.SQLITE_CORRUPT: f"the file is damaged. Keep a copy and try `sqlite3 FILE .recover`, {ELSEWHERE}.",
    sqlite3.SQLITE_READONLY: f"it may not be written. Check the permissions of the file and its folder, {ELSEWHERE}.",
    sqlite3.SQLITE_CANTOPEN: f"it cannot be opened. Check that its folder may be written, {ELSEWHERE}.",
    sqlite3.SQLITE_PERM: f"access is denied. Check the permissions of the file and its folder, {ELSEWHERE}.",
    sqlite3.SQLITE_FULL: f"the disk is full. Free some space and try again, {ELSEWHERE}. {KEPT}",
    sqlite3.SQLITE_IOERR: f"the disk cannot be written. Check its free space and health, {ELSEWHERE}. {KEPT}",
    sqlite3.SQLITE_BUSY: f"another program is writing to it. Try again when that has ended. {KEPT}",
}
"""Messages by SQLite's primary result code (https://www.sqlite.org/rescode.html)."""


class LabelDatabase:
    """One connection to a label store. Every method raises LabelStoreError for an error of SQLite.

    Connections of one process that share a `turn` write one after the other: SQLite itself only looks now and then
    whether the other is done.
    """

    def __init__(self, path: Path, busy_timeout_s: float = BUSY_TIMEOUT_S, turn: RLock | None = None) -> None:
        """Open *path* and bring its schema up to date. Makes the file and its folders if they are missing.

        Raises LabelStoreError for a file that is no label store, and NewerStoreError for a store of a newer memsift.
        Both are left as they were.
        """
        from sqlite_utils import Database

        self.path = path
        self.turn = turn or RLock()
        make_place(path)
        with self.explaining():
            self._db = Database(connect(path, busy_timeout_s), execute_plugins=False)
        try:
            with self.explaining():
                refuse_foreign(self._db, path)
                is_older = bool(MIGRATIONS.pending(self._db))
            # an up-to-date store is opened without the write lock, so a reader need not wait for a writer
            if is_older:
                self.update()
            with self.explaining():
                switch_to_wal(self._db, busy_timeout_s)
        except BaseException:
            self.close()
            raise

    def update(self) -> None:
        """Apply the pending steps. Checks again under the lock, because another process may have been faster."""
        with self.writing():
            refuse_foreign(self._db, self.path)
            if MIGRATIONS.pending(self._db):
                keep_private(self.path)
                MIGRATIONS.apply(self._db)

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn SQLite's errors into LabelStoreError."""
        try:
            yield
        except sqlite3.Error as error:
            raise explained(error, self.path) from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction: on disk when the block ends, undone if the block raises.

        It takes the write lock first. A transaction that reads before it writes can fail when another process writes
        in between, and waiting does not help (https://www.sqlite.org/rescode.html#busy_snapshot). Inside of another
        transaction the block is a part of that.
        """
        if self._db.conn.in_transaction:
            yield
            return
        with self.turn, self.explaining():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.commit()
            except BaseException:
                self._db.rollback()
                raise

    def rows(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        with self.explaining():
            cursor = self._db.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def tuples(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        with self.explaining():
            return self._db.execute(sql, parameters).fetchall()

    def execute(self, sql: str, parameters: Parameters = ()) -> None:
        with self.explaining():
            self._db.execute(sql, parameters)

    def insert(self, table: str, row: Mapping[str, Any], *, upsert: str = "") -> int:
        """Insert *row* and return its rowid. *upsert* is the SQL after ON CONFLICT, for rows that may exist."""
        names, places = ", ".join(row), ", ".join(f":{name}" for name in row)
        conflict = f" ON CONFLICT {upsert}" if upsert else ""
        values = {name: storable(value) for name, value in row.items()}
        with self.explaining():
            cursor = self._db.execute(f"INSERT INTO {table} ({names}) VALUES ({places}){conflict}", values)
        return int(cursor.lastrowid or 0)

    def upsert(self, table: str, row: Mapping[str, Any], keys: Sequence[str]) -> None:
        """Insert *row*, or replace all other columns of the row with the same *keys*."""
        self.upsert_all(table, [row], keys)

    def upsert_all(self, table: str, rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> None:
        """As `upsert`, for *rows* with the same columns."""
        if not rows:
            return
        names, places = ", ".join(rows[0]), ", ".join("?" * len(rows[0]))
        changes = ", ".join(f"{name} = excluded.{name}" for name in rows[0] if name not in keys)
        conflict = f"({', '.join(keys)}) DO UPDATE SET {changes}"
        values = [tuple(map(storable, row.values())) for row in rows]
        with self.explaining():
            self._db.conn.executemany(f"INSERT INTO {table} ({names}) VALUES ({places}) ON CONFLICT {conflict}", values)


def storable(value: Any) -> Any:
    """*value* as SQLite can hold it: lone surrogates, which transcripts do contain, become question marks."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


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


def keep_private(path: Path) -> None:
    """Make a store of an older version private; those were readable by everybody. Ignores other people's files."""
    with suppress(PermissionError):
        if path.is_file():
            path.chmod(path.stat().st_mode & OWN_FILE)


def connect(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = {-CACHE_KIB}")
    except BaseException:
        connection.close()
        raise
    return connection


def switch_to_wal(db: Database, busy_timeout_s: float) -> None:
    """Let readers and a writer work at once. SQLite itself does not wait for another writer here."""
    deadline = time.monotonic() + busy_timeout_s
    while True:
        try:
            db.enable_wal()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def refuse_foreign(db: Database, path: Path) -> None:
    """Raise if *db* has tables of another program, or schema steps that are missing from STEPS."""
    applied = {step.name for step in MIGRATIONS.applied(db)}
    unknown = applied - {step.__name__ for step in STEPS}
    if unknown:
        raise NewerStoreError(
            f"Label store {path}: a newer memsift made it (it has {', '.join(sorted(unknown))}), "
            f"so it was left alone. Update memsift, {ELSEWHERE}."
        )
    if not applied and db.table_names():
        raise not_a_store(path, "it is another program's database")


def not_a_store(path: Path, why: str) -> LabelStoreError:
    return LabelStoreError(f"Label store {path}: {why}, so it was left alone. Move it away, {ELSEWHERE}.")


def explained(error: sqlite3.Error, path: Path) -> LabelStoreError:
    """SQLite's *error* for the store at *path*, in words that a person can act on."""
    primary = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    advice = ADVICE.get(primary, f"SQLite says: {error}. {KEPT}")
    return LabelStoreError(f"Label store {path}: {advice}")


def unusable_place(error: OSError, path: Path) -> LabelStoreError:
    """The file system's *error* for *path*, in words that a person can act on."""
    return LabelStoreError(f"Label store {path}: {error.strerror or error}. Check its folder, {ELSEWHERE}.")
