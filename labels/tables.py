"""The tables of a label store, read and written by SQL: in a file, or in memory. Errors of SQLite in words.

The schema is built step by step, with a file of SQL for each step. A step that has been released is never edited: a
store remembers the names of the steps that built it. A store that names a step missing from STEPS was made by a newer
memsift.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, Self

from engine.errors import LabelStoreError
from engine.lean.sections import read_sections
from engine.stores.private_database import storable as storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

    Parameters = Sequence[Any] | dict[str, Any]

MIGRATIONS = Path(__file__).parent / "migrations"

STEPS = tuple(sorted(path.stem for path in MIGRATIONS.glob("m*.sql")))
"""All steps of the schema, oldest first."""

IN_MEMORY = ":memory:"
PART = "part "

ELSEWHERE = "or name another file with --db or MEMSIFT_DB"
KEPT = "What was saved before is untouched."
ADVICE = {
    sqlite3.SQLITE_NOTADB: f"it is not an SQLite database, so it was left alone. Move it away, {ELSEWHERE}.",
    sqlite3.SQLITE_CORRUPT: f"the file is damaged. Keep a copy and try `sqlite3 FILE .recover`, {ELSEWHERE}.",
    sqlite3.SQLITE_READONLY: f"it may not be written. Check the permissions of the file and its folder, {ELSEWHERE}.",
    sqlite3.SQLITE_CANTOPEN: f"it cannot be opened. Check that its folder may be written, {ELSEWHERE}.",
    sqlite3.SQLITE_PERM: f"access is denied. Check the permissions of the file and its folder, {ELSEWHERE}.",
    sqlite3.SQLITE_FULL: f"the disk is full. Free some space and try again, {ELSEWHERE}. {KEPT}",
    sqlite3.SQLITE_IOERR: f"the disk cannot be read or written. Check its free space and health, {ELSEWHERE}. {KEPT}",
    sqlite3.SQLITE_BUSY: f"another program is writing to it. Try again when that has ended. {KEPT}",
}
"""Messages by SQLite's primary result code (https://www.sqlite.org/rescode.html)."""


def queries_beside(module: str) -> dict[str, str]:
    """The queries of the file queries.sql beside a module, by name. `{NAME}` stands for a part above it."""
    found = {name: "\n".join(lines) for name, lines in read_sections(module, "queries.sql")}
    for part in [name for name in found if name.startswith(PART)]:
        mark, own = f"{{{part.removeprefix(PART)}}}", found[part]
        found = {name: sql.replace(mark, own) for name, sql in found.items()}
    return found


QUERIES = queries_beside(__file__)


class LabelTables:
    """A connection to the tables of a label store. Every method raises LabelStoreError for an error of SQLite."""

    def __init__(self, db: Database, path: Path) -> None:
        self._db = db
        self.path = path

    @classmethod
    def in_memory(cls) -> Self:
        """Empty tables in memory. They may name prompts and memories that they do not hold."""
        db = database_in_memory()
        migrations().apply(db)
        return cls(db, Path(IN_MEMORY))

    def close(self) -> None:
        self._db.close()

    def copied(self) -> Database:
        """All that is held, in memory."""
        copy = database_in_memory()
        try:
            with self.explaining():
                self._db.conn.backup(copy.conn)
        except LabelStoreError:
            copy.close()
            raise
        return copy

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn SQLite's errors into LabelStoreError."""
        try:
            yield
        except sqlite3.Error as error:
            raise explained(error, self.path) from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction: kept when the block ends, undone if the block raises.

        It takes the write lock first. A transaction that reads before it writes can fail when another process writes
        in between, and waiting does not help (https://www.sqlite.org/rescode.html#busy_snapshot). Inside of another
        transaction the block is a part of that.
        """
        if self._db.conn.in_transaction:
            yield
            return
        with self.explaining():
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

    def script(self, statements: str, parameters: Parameters = ()) -> None:
        """Run several statements, each with the same *parameters*."""
        for statement in filter(str.strip, statements.split(";")):
            self.execute(statement, parameters)

    def insert(self, table: str, row: Mapping[str, Any], *, upsert: str = "") -> int:
        """Insert *row* and return its rowid. *upsert* is the SQL after ON CONFLICT, for rows that may exist."""
        conflict = f" ON CONFLICT {upsert}" if upsert else ""
        values = {name: storable(value) for name, value in row.items()}
        places = ", ".join(f":{name}" for name in row)
        with self.explaining():
            cursor = self._db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places}){conflict}", values)
        return int(cursor.lastrowid or 0)

    def upsert(self, table: str, row: Mapping[str, Any], keys: Sequence[str]) -> None:
        """Insert *row*, or replace all other columns of the row with the same *keys*."""
        changes = ", ".join(f"{name} = excluded.{name}" for name in row if name not in keys)
        self.insert(table, row, upsert=f"({', '.join(keys)}) DO UPDATE SET {changes}")


def database_in_memory() -> Database:
    return database_of(sqlite3.connect(IN_MEMORY, isolation_level=None))


def database_of(connection: sqlite3.Connection) -> Database:
    """*connection* as a database of sqlite-utils, without its plugins.

    sqlite-utils loads numpy and pandas where they are installed, only to store their kinds of values, which are not
    used here. They take longer to load than everything else, so they are hidden meanwhile.
    """
    hidden = [package for package in ("numpy", "pandas") if package not in sys.modules]
    for package in hidden:
        sys.modules[package] = None  # type: ignore[assignment]
    try:
        from sqlite_utils import Database
    finally:
        for package in hidden:
            del sys.modules[package]
    return Database(connection, execute_plugins=False)


def explained(error: sqlite3.Error, path: Path) -> LabelStoreError:
    """SQLite's *error* for the store at *path*, in words that a person can act on."""
    primary = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    advice = ADVICE.get(primary, f"SQLite says: {error}. {KEPT}")
    return LabelStoreError(f"Label store {path}: {advice}")


# The schema


@cache
def migrations() -> Migrations:
    """The steps as sqlite-utils takes them. A command that opens no store does without sqlite-utils."""
    from sqlite_utils.migrations import Migrations

    made = Migrations("memsift.labels")
    for step in STEPS:
        made(name=step)(partial(take, step))  # type: ignore[type-var]
    return made


def take(step: str, db: Database) -> None:
    """Bring the schema of *db* from the step before to *step*."""
    db.conn.create_function("event_uid", -1, event_uid, deterministic=True)
    statement = ""
    for line in (MIGRATIONS / f"{step}.sql").read_text(encoding="utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):  # a trigger is one, with the semicolons in it
            # SQLite keeps the text of a table, and the first stores have it with this indent
            db.execute(indent(statement, "    "))
            statement = ""


def event_uid(*columns: str | int | None) -> str:
    """The name of an event that had none. It is a hash of its columns, the same in every copy of its store."""
    return hashlib.sha256(json.dumps(columns).encode()).hexdigest()[:32]
