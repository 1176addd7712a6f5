"""SQLite without the packages around it: the C module, and connections as the index wants them.

`import sqlite3` costs a cold process 5.3 ms and `import _sqlite3` 3.4, of which 2.5 are the C module's own import of
`functools`, from which it takes `lru_cache` for its cache of statements. While it loads, a stand-in takes the place of
`functools`, whose cache keeps all statements: there are few. Where any of this is missing, `sqlite3` does.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3 as lean
else:

    def _keeping(prepare):
        statements = {}

        def prepared(sql):
            if sql not in statements:
                statements[sql] = prepare(sql)
            return statements[sql]

        return prepared

    def _load():
        if "functools" in sys.modules:
            import _sqlite3

            return _sqlite3
        sys.modules["functools"] = type(sys.implementation)(lru_cache=lambda _: _keeping)
        try:
            import _sqlite3
        finally:
            del sys.modules["functools"]
        return _sqlite3

    try:
        lean = _load()
    except (ImportError, AttributeError, TypeError):
        import sqlite3 as lean

if TYPE_CHECKING:
    Connection = lean.Connection

DatabaseError = lean.DatabaseError
"""What SQLite raises for a file that is damaged, locked, full, not writable or no database."""

DAMAGE = (DatabaseError, ValueError, TypeError, AttributeError, LookupError)
"""What reading a file that was overwritten at random may end in: SQLite does not check the type of what it finds."""

BUSY_SECONDS = 2.0
READ_PRAGMAS = "pragma query_only=1; pragma temp_store=memory;"
ONE_ANSWER = "pragma cache_size=16;"
"""For a process that reads a hundred pages and ends: memory that is used again costs a fifth of its time less."""

WRITE_PRAGMAS = "pragma page_size=8192; pragma temp_store=memory; pragma synchronous=normal; pragma cache_size=-32000;"
"""A search reads some of each of many pages. With 16 kB the file is a tenth smaller, but a prompt takes 0.02 more."""


def in_memory() -> Connection:
    """An empty database that is nowhere on disk. It may be used from several threads, one at a time."""
    return _with_stems(lean.connect(":memory:", check_same_thread=False, isolation_level=None))


def for_reading(path: str, *, immutable: bool = False, one_answer: bool = False) -> Connection:
    """The database at *path*, read-only. *immutable*: nobody can write it, so no lock or journal is looked at.

    *one_answer*: it is asked once, so little of what was read is kept.

    Raises DatabaseError, if not here then at the first statement.
    """
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    uri = f"file:{quoted}?mode=ro{'&immutable=1' if immutable else ''}"
    db = lean.connect(uri, uri=True, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)
    return _prepared(db, READ_PRAGMAS + ONE_ANSWER * one_answer)


def for_writing(path: str) -> Connection:
    """The database at *path*, made if there is none. Raises DatabaseError."""
    db = lean.connect(path, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)
    return _with_stems(_prepared(db, WRITE_PRAGMAS))


def _with_stems(db: Connection) -> Connection:
    """*db* with the function that fills its column of stems."""
    from engine.search.stems import stem

    db.create_function("stem", 1, stem, deterministic=True)
    return db


def _prepared(db: Connection, pragmas: str) -> Connection:
    try:
        db.executescript(pragmas)
    except DAMAGE:
        db.close()
        raise
    return db
