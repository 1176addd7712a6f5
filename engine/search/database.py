"""The tables of an index file, and whether they are up to date with the files of their root.

- `about` has one row: root, format, and sums over all memories. `place`: the folders and lists that were read.
  `skipped`: lines of a list that are no memories, and notices.
- `memory` has a row for each memory of a file, or with a `reason` for a file without one. `part` is its place in the
  file, and all rows of a file have the file's stamp. `stems` are those of title, tags and body, a line each,
  compressed: FTS5 must be told them to forget a memory (before SQLite 3.43).
- `size`: the tokens of each memory, and whether it is active, in a table of its own that is quick to join.
- `phrase` has a row for each phrase by which a memory may be asked for: the memory's id and the `mass` of its words
  (`engine.search.phrases`), as it was with `phrased` memories. `phrase_text` and `phrase_stem` show their stems.
- `full_text` is FTS5's inverted index of the stems; it keeps no text. `stem` and `posting` show its lists: the number
  of memories and occurrences of each stem, and each occurrence.
"""

from __future__ import annotations

import os
import sys
import time

from engine.lean.sqlite import DatabaseError
from engine.memory import MemorySummary
from engine.stores.files import is_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from engine.lean.sqlite import Connection

    Stamp = tuple[int, int, int]
    """Size in bytes (-1 without a file), modification and change time in ns."""

FORMAT = "33"
"""Change it when the tables, the results of `tokens`, `stem` or the safety scan, or the reading of a store change."""

FILES = ("", "-journal", "-wal", "-shm")
"""Suffixes of the index and of SQLite's own files. The index is deleted first: then no journal is played back."""

TABLES = """
create table about(
    format text, root text, store text, memories int, tokens int, fingerprint text, phrased int default 0,
    phrases text default '0'
);
create table place(name blob primary key, size int, mtime int, ctime int) without rowid;
create table skipped(number integer primary key, place text, reason text, is_notice int, double_of text default '');
create table memory(
    rowid integer primary key, name blob, part int, size int, mtime int, ctime int, reason text, stems blob,
    id text, category text, title text, tags text, path text, status text, created_at text, updated_at text,
    digest text, risk real, is_loaded int
);
create index memory_name on memory(name);
create index memory_id on memory(id);
create table size(row integer primary key, tokens int, is_active int);
create index size_retired on size(row) where is_active = 0;
create table phrase(row integer primary key, id text, mass real, text text);
"""
SEARCHABLE = """
create virtual table full_text using {module}(title, tags, body, content='', tokenize="{tokenizer}");
create virtual table stem using fts5vocab(full_text, row);
create virtual table posting using fts5vocab(full_text, instance);
create virtual table phrase_text using {module}(stems, content='', detail=none, columnsize=0, tokenize="{tokenizer}");
create virtual table phrase_stem using fts5vocab(phrase_text, row);
insert into full_text(full_text, rank) values ('hashsize', 32000000);
"""
"""The last line is the size in bytes of what FTS5 gathers before it writes a segment."""

TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
"""Exactly the characters that `tokens` keeps, with marks and the GAP."""

ABSENT = (-1, 0, 0)
UNSETTLED = -1
"""A change time that no file has. It marks a file that may change without getting a new time, or was read by line."""

TICK_NS, COARSE_TICK_NS = 50_000_000, 2_100_000_000
"""Two writes within this distance may get the same time: more than a tick of the kernel; 2 s for whole seconds."""

DATABASES = (".db", ".sqlite", ".sqlite3")
"""Files whose changes are in a file of their own at first, the write-ahead log of SQLite."""

SUMMARY = "id, category, title, tags, path, name, status, created_at, updated_at, digest, risk, is_loaded"
TAG_SEPARATOR = "\n"


def is_openable(path: str) -> bool:
    """Whether a regular file or nothing lies at *path* and where SQLite keeps its own files.

    SQLite would wait for ever on a pipe, and would follow a link out of the cache.
    """
    for suffix in FILES:
        try:
            if not is_regular(os.lstat(path + suffix)):
                return False
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return True


def create(db: Connection, root: str, store: str, module: str = "fts5") -> None:
    """Make the tables in an empty database; without FTS5 in this SQLite, all others."""
    for statement in TABLES.strip().split(";\n"):
        db.execute(statement)
    db.execute("insert into about values (?, ?, ?, 0, 0, '0', 0, '0')", (_format(), _root_name(root), store))
    try:
        for statement in SEARCHABLE.format(module=module, tokenizer=TOKENIZER).strip().split(";\n"):
            db.execute(statement)
    except DatabaseError as error:
        if "no such module" not in str(error):
            raise


def check(db: Connection, root: str, store: str = "") -> None:
    """Raise DatabaseError unless *db* is an index of *root* in this format, and of *store* if given."""
    row = db.execute("select format, root, store from about").fetchone()
    if row is None or row[:2] != (_format(), _root_name(root)) or (store and row[2] != store):
        raise DatabaseError("the index is of another format or root")


def store_name(db: Connection) -> str:
    """The name of the store of the root when it was read: see `store_of`."""
    return str(db.execute("select store from about").fetchone()[0])


def has_fts5(db: Connection) -> bool:
    """Whether the index can be searched by FTS5."""
    return bool(db.execute("select 1 from sqlite_master where name = 'full_text'").fetchone())


def summaries_of(db: Connection, root: str, rows: str) -> dict[int, MemorySummary]:
    """The summaries of memories by the numbers of their rows. *rows*: these numbers as JSON."""
    sql = f"select rowid, {SUMMARY} from memory where rowid in (select value from json_each(?))"
    return {row: summary(root, values) for row, *values in db.execute(sql, (rows,))}


def summary(root: str, values: Sequence[Any]) -> MemorySummary:
    """The summary in the columns of SUMMARY. TypeError, as for other damage, if one of them has no value."""
    if None in values:
        raise TypeError("the index is damaged")
    memory_id, category, title, tags, path, name, status, created_at, updated_at, digest, risk, is_loaded = values
    return MemorySummary(
        id=memory_id,
        category=category,
        title=title,
        tags=tuple(tags.split(TAG_SEPARATOR)) if tags else (),
        path=path,
        file=os.path.join(root, os.fsdecode(name)),
        status=status,
        created_at=created_at,
        updated_at=updated_at,
        digest=digest,
        risk=float(risk),
        is_loaded=bool(is_loaded),
        root=root,
    )


def stamp(path: str | bytes) -> Stamp:
    """The stamp of a file, with links followed. That of a database covers its write-ahead log."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ABSENT
    own = found.st_size, found.st_mtime_ns, found.st_ctime_ns
    name = os.fsdecode(path)
    return _with_log(name, own) if name.endswith(DATABASES) else own


def _with_log(path: str, own: Stamp) -> Stamp:
    """*own* and the stamp of the log of a database in a single stamp."""
    try:
        log = os.stat(f"{path}-wal")
    except OSError:
        return own
    return own[0] + log.st_size, max(own[1], log.st_mtime_ns), max(own[2], log.st_ctime_ns)


def settled_stamp(path: str, since_ns: int | None = None) -> Stamp:
    """The stamp to store for a file whose reading began at *since_ns*: now, by default.

    A file that changed since then, or within a tick before, may change again without getting a new time. Its stored
    stamp is UNSETTLED: it equals no stamp of a file, so the file is read again next time. A time in the future, left
    from a clock that was set back, is stored as it is: no later change can get that time until the clock reaches it.
    """
    now_ns = time.time_ns()
    found = stamp(path)
    size, modified, changed = found
    tick = COARSE_TICK_NS if modified % 1_000_000_000 == 0 else TICK_NS
    begun = now_ns if since_ns is None else since_ns
    return (size, modified, UNSETTLED) if size >= 0 and begun - tick < changed < now_ns + tick else found


def is_fresh(db: Connection, root: str) -> bool:
    """Whether no folder and no list of *root* changed since it was read: a few `stat` calls.

    It sees any file that comes, goes or is renamed into place, but no file that is rewritten where it is.
    """
    places = db.execute("select name, size, mtime, ctime from place").fetchall()
    return bool(places) and all(stamp(os.path.join(root, os.fsdecode(name))) == tuple(known) for name, *known in places)


def _format() -> str:
    """The format, and the version of Python, which may classify letters in another way."""
    return f"{FORMAT} {sys.version_info[0]}.{sys.version_info[1]}"


def _root_name(root: str) -> str:
    return root.encode("utf-8", "surrogateescape").hex()
