"""SQLite by its C module alone, and the connections that indexes and caches need.

What `sqlite3` adds to the C module is for dates, and slow to load: see README.md beside this file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3 as module

    Connection = module.Connection
else:
    import _sqlite3 as module

DatabaseError = module.DatabaseError
"""What SQLite raises for a file that is damaged, locked, full, not writable or no database."""

DAMAGE = (DatabaseError, ValueError, TypeError, AttributeError, LookupError)
"""What reading a damaged file may end in: SQLite does not check the types of the values in it."""

BUSY_SECONDS = 2.0
READ_PRAGMAS = "pragma query_only=1; pragma temp_store=memory; pragma cache_size=-256;"
WRITE_PRAGMAS = "pragma temp_store=memory; pragma synchronous=normal; pragma cache_size=-64000;"


def in_memory() -> Connection:
    """An empty database that is nowhere on disk. Threads may use it one at a time."""
    return module.connect(":memory:", check_same_thread=False, isolation_level=None)


def for_reading(path: str, *, immutable: bool = False, wait_s: float = BUSY_SECONDS) -> Connection:
    """The database at *path*, read-only. *immutable*: no process can write it, so no lock or journal is looked at.

    Raises DatabaseError, if not here then at the first statement.
    """
    mode = "ro&immutable=1" if immutable else "ro"
    return _connected(path, mode, wait_s, READ_PRAGMAS)


def for_writing(path: str, *, wait_s: float = BUSY_SECONDS) -> Connection:
    """The database at *path*, a file that exists: SQLite would make it by the umask. Raises DatabaseError."""
    return _connected(path, "rw", wait_s, WRITE_PRAGMAS)


def _connected(path: str, mode: str, wait_s: float, pragmas: str) -> Connection:
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    uri = f"file:{quoted}?mode={mode}"
    db = module.connect(uri, uri=True, timeout=wait_s, check_same_thread=False, isolation_level=None)
    try:
        db.executescript(pragmas)
    except DAMAGE:
        db.close()
        raise
    return db
