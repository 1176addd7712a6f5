"""What SQLite and the file system say of a label store, in words that a person can act on."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from engine.errors import LabelStoreError

if TYPE_CHECKING:
    from pathlib import Path

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
"""By SQLite's primary result code (https://www.sqlite.org/rescode.html)."""


def explained(error: sqlite3.Error, path: Path) -> LabelStoreError:
    """The error to raise when SQLite raised *error* for the store at *path*."""
    primary = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    advice = ADVICE.get(primary, f"SQLite says: {error}. {KEPT}")
    return LabelStoreError(f"Label store {path}: {advice}")


def unusable_place(error: OSError, path: Path) -> LabelStoreError:
    """The error to raise when the file system does not let *path* be made or read."""
    return LabelStoreError(f"Label store {path}: {error.strerror or error}. Check its folder, {ELSEWHERE}.")
