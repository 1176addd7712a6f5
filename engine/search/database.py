"""The tables of an index file, and the rows that other modules read from them.

`about` has one row: what the file is an index of, and sums over all memories. `place` holds the folders and lists that
were read, `skipped` the parts of a list that are no memories. `memory` has a row for each file, with a `reason` where
the file is no memory. A row of a memory that is not active has a negative number, so that FTS5 can leave it out.
`words` are the tokens of the memory: see `vocabulary`. `word` says in how many memories a word stands.

`full_text` and `headline` are FTS5's inverted indexes over the same tokens. They keep neither texts nor lengths: so
FTS5's own BM25 is quicker and inexact. It chooses the memories that are scored here.
"""

from __future__ import annotations

import os
import sys

from engine.lean.json_text import dumps
from engine.lean.sqlite import DatabaseError
from engine.memory import MemorySummary
from engine.stores.files import is_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from engine.lean.sqlite import Connection

FORMAT = "15"
"""Raise it when the tables change, when `tokens` or `stem` change, or when a store reads files in another way."""

FILES = ("", "-journal", "-wal", "-shm")
"""The suffixes of the index and of SQLite's own files. The index is deleted first: then no journal is played back."""

FULL_TEXT, HEADLINE = "full_text", "headline"
"""Title, tags and body; title and tags."""

TABLES = """
create table about(
    format text, root text, store text, memories int, tokens int, headline_tokens int, fingerprint text
);
create table place(name blob primary key, size int, mtime int, ctime int) without rowid;
create table skipped(number integer primary key, place text, reason text);
create table memory(
    rowid integer primary key, name blob unique, size int, mtime int, ctime int, reason text, words text,
    id text, category text, title text, tags text, path text, status text, created_at text, updated_at text, digest text
);
create index memory_id on memory(id);
create table word(text text primary key, number int unique, stem text, memories int, headlines int) without rowid;
create index word_stem on word(stem);
"""
SEARCHABLE = """
create virtual table full_text using {module}(title, tags, body, content='', columnsize=0, tokenize="{tokenizer}");
create virtual table headline using {module}(title, tags, content='', columnsize=0, tokenize="{tokenizer}");
"""
TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
"""Every character that `tokens` leaves in a token, marks and the GAP included, and nothing else."""

SUMMARY = "id, category, title, tags, path, name, status, created_at, updated_at, digest"
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
    """Make the tables in an empty database; without those of FTS5 where this SQLite has no such module."""
    for statement in TABLES.strip().split(";\n"):
        db.execute(statement)
    db.execute("insert into about values (?, ?, ?, 0, 0, 0, '0')", (_format(), _named(root), store))
    try:
        for statement in SEARCHABLE.format(module=module, tokenizer=TOKENIZER).strip().split(";\n"):
            db.execute(statement)
    except DatabaseError as error:
        if "no such module" not in str(error):
            raise


def check(db: Connection, root: str, store: str = "") -> None:
    """Raise DatabaseError unless *db* is an index of *root* in this format, and of *store* where one is named."""
    row = db.execute("select format, root, store from about").fetchone()
    if row is None or row[:2] != (_format(), _named(root)) or (store and row[2] != store):
        raise DatabaseError("the index is of another format or root")


def has_fts5(db: Connection) -> bool:
    """Whether the index can be searched by FTS5."""
    return bool(db.execute("select 1 from sqlite_master where name = 'headline'").fetchone())


def summaries_of(db: Connection, root: str, rows: Iterable[int]) -> dict[int, MemorySummary]:
    """The summaries of memories by the numbers of their rows."""
    sql = f"select rowid, {SUMMARY} from memory where rowid in (select value from json_each(?))"
    return {row: summary(root, values) for row, *values in db.execute(sql, (dumps([*rows]),))}


def summary(root: str, values: Sequence[Any]) -> MemorySummary:
    """The summary in the columns of SUMMARY."""
    memory_id, category, title, tags, path, name, status, created_at, updated_at, digest = values
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
    )


def _format() -> str:
    """The format, and the version of Python: another one may know other letters."""
    return f"{FORMAT} {sys.version_info[0]}.{sys.version_info[1]}"


def _named(root: str) -> str:
    return root.encode("utf-8", "surrogateescape").hex()
