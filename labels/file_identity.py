"""Which file lies at a path: to notice that another program moved, replaced, deleted or overwrote an open store."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

File = tuple[int, int]
"""Device and inode."""

NO_FILE = (-1, -1)

opened: dict[int, tuple[Path, File]] = {}
"""The files of this process' connections, by the ids of these. Of one path, only one file may be open at a time: SQLite
would use the same write-ahead log for both."""


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
    with suppress(sqlite3.Error), closing(connect_read_only(path)) as db:
        found: tuple[int, str] | None = db.execute(sql, [number]).fetchone()
        return found
    return None


def connect_read_only(path: Path) -> sqlite3.Connection:
    """The file as it is without its log, so that SQLite makes no file beside it."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
