"""The label store's file: opened, checked and brought up to date without harming what is not ours."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sqlite_utils import Database

from engine.errors import LabelStoreError, NewerStoreError
from labels.migrations import MIGRATIONS, STEPS
from labels.store_errors import ELSEWHERE, explained, unusable_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

BUSY_TIMEOUT_S = 10.0
CACHE_KIB = 65536
"""What a connection may keep of a store: with SQLite's own 2 MB, a report reads most pages again and again."""
OWNER_ONLY = 0o600
"""Who may read a store: it holds prompts and memories. SQLite gives the files beside it the same mode."""
SQLITE_HEADER = b"SQLite format 3\0"


class LabelDatabase:
    """One connection to a label store. Every method raises LabelStoreError for what SQLite refuses."""

    def __init__(self, path: Path, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        """Open *path*, making its folders and the file, and bring its schema up to date.

        A file that is not an up-to-date or older label store is refused and left as it is: LabelStoreError, or
        NewerStoreError when a newer memsift made it.
        """
        self.path = path
        make_place(path)
        with self.explaining():
            self._db = Database(connect(path, busy_timeout_s), execute_plugins=False)
        try:
            with self.explaining():
                refuse_foreign(self._db, path)
                is_older = bool(MIGRATIONS.pending(self._db))
            # whoever only reads need not wait for another process that writes
            if is_older:
                self.update()
            with self.explaining():
                switch_to_wal(self._db, busy_timeout_s)
        except BaseException:
            self.close()
            raise

    def update(self) -> None:
        """Bring the schema up to date, unless another process has done that, or made something else, meanwhile."""
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
        """A transaction that is on disk when the block ends, and leaves nothing behind if it raises.

        It takes the write lock first: a transaction that reads and then writes could find its snapshot overtaken by
        another process, which no waiting cures (https://www.sqlite.org/rescode.html#busy_snapshot).
        """
        with self.explaining():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.commit()
            except BaseException:
                self._db.rollback()
                raise

    def rows(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[dict[str, Any]]:
        with self.explaining():
            cursor = self._db.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def tuples(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[tuple[Any, ...]]:
        """As `rows`, without names: for very many rows."""
        with self.explaining():
            return self._db.execute(sql, parameters).fetchall()

    def columns(
        self, names: Sequence[str], source: str, parameters: Sequence[Any] | dict[str, Any] = ()
    ) -> list[list[Any]]:
        """What the expressions *names* are in each row of *source* (what follows FROM); in no order, but in the same.

        It takes half the time of `tuples`, but of numbers that are not whole it only keeps 15 digits.
        """
        found = self.tuples(
            f"SELECT {', '.join(f'json_group_array({name})' for name in names)} FROM {source}", parameters
        )
        return [json.loads(column) for column in found[0]]

    def execute(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> None:
        with self.explaining():
            self._db.execute(sql, parameters)

    def insert(self, table: str, row: dict[str, Any], *, upsert: str = "") -> int:
        """Insert *row* and return its rowid; *upsert* is what follows ON CONFLICT, if a conflict is no error."""
        names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        conflict = f" ON CONFLICT {upsert}" if upsert else ""
        values = {name: storable(value) for name, value in row.items()}
        with self.explaining():
            cursor = self._db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks}){conflict}", values)
        return int(cursor.lastrowid or 0)


def storable(value: Any) -> Any:
    """*value* as SQLite can hold it: lone surrogates, which transcripts do contain, become question marks."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def make_place(path: Path) -> None:
    """Make the folders of *path* and the file; LabelStoreError if that fails or what is there is no SQLite database."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        head = first_bytes(path)
        if not path.exists():
            path.touch(mode=OWNER_ONLY)
    except OSError as error:
        raise unusable_place(error, path) from error
    # SQLite itself takes a file of one byte for an empty database and would write over it
    if head and head != SQLITE_HEADER:
        raise not_a_store(path, "it is not an SQLite database")


def keep_private(path: Path) -> None:
    """Older versions made stores that everybody could read; who may read another person's file is not ours to say."""
    with suppress(PermissionError):
        path.chmod(path.stat().st_mode & OWNER_ONLY)


def first_bytes(path: Path) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER))


def connect(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = {-CACHE_KIB}")
    return connection


def refuse_foreign(db: Database, path: Path) -> None:
    """Raise if *db* holds another program's tables, or steps of the schema that this code does not know."""
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


def switch_to_wal(db: Database, busy_timeout_s: float) -> None:
    """Let readers and a writer work at once. SQLite does not wait for a writer here, so this does."""
    deadline = time.monotonic() + busy_timeout_s
    while True:
        try:
            db.enable_wal()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
