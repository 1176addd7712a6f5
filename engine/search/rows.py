"""Memories -> rows of the index and back. Nothing here commits."""

from __future__ import annotations

from engine import lean_os as os
from engine.json_text import dumps, loads
from engine.search.bags import text_check
from engine.search.schema import COLUMNS, FULL_TEXT, HEADLINE
from engine.search.sqlite import DatabaseError
from engine.search.tokens import tokens
from engine.sha256 import hex_digest
from engine.summary import MemorySummary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from engine.memory import Memory, Skipped
    from engine.search.changes import Changes
    from engine.search.sqlite import Connection

    Words = tuple[str, str, str]
    """The tokens of title, tags and body, each as one text with spaces between."""

SUMMARY = "id, category, title, tags, path, file, status, created_at, updated_at, digest, priority"
LISTED = "select place, reason from skipped order by number"
UNUSED = "select name, reason from file where reason is not null"
FINGERPRINT = "fingerprint"
TAG_SEPARATOR = "\n"


def words_of(memory: Memory) -> Words:
    title, tags = memory.summary.title, " ".join(memory.summary.tags)
    return " ".join(tokens(title)), " ".join(tokens(tags)), " ".join(tokens(memory.body))


def insert(db: Connection, root: str, rowid: int, memory: Memory, changes: Changes | None) -> None:
    """Add a memory, in *changes* as well; None where this SQLite has no FTS5."""
    summary, words = memory.summary, words_of(memory)
    row = _summary_row(root, summary)
    db.execute(f"insert into memory values (?{', ?' * 12})", (rowid, *row, _check_sum(row)))
    db.execute("insert into words values (?, ?, ?, ?, ?)", (rowid, *words, _words_check(words)))
    _mix(db, summary.id, summary.digest, 1)
    sections = dumps([[section.heading, *section.lines] for section in memory.sections], ascii_only=False)
    db.execute("insert into section values (?, ?)", (rowid, sections))
    if changes:
        db.execute("insert into headline(rowid, title, tags) values (?, ?, ?)", (rowid, *words[:2]))
        db.execute("insert into full_text(rowid, title, tags, body) values (?, ?, ?, ?)", (rowid, *words))
        changes.add(rowid, words, is_active=summary.status == "active")


def remove(db: Connection, rowid: int, changes: Changes | None) -> bool:
    """Take a memory out; whether it was in. FTS5 reads what it has to forget from `words`, so that goes last."""
    found = db.execute("select id, digest from memory where rowid = ?", (rowid,)).fetchone()
    if not found:
        return False
    memory_id, digest = found
    _mix(db, memory_id, digest, -1)
    if changes:
        changes.remove(rowid, db.execute("select title, tags, body from words where rowid = ?", (rowid,)).fetchone())
    for table in (*((HEADLINE, FULL_TEXT) if changes else ()), "memory", "section", "words"):
        db.execute(f"delete from {table} where rowid = ?", (rowid,))
    return True


def is_stored(db: Connection, root: str, rowid: int, memory: Memory) -> bool:
    """Whether the row holds this very memory."""
    found = db.execute("select check_sum, digest, status from memory where rowid = ?", (rowid,)).fetchone()
    row = _summary_row(root, memory.summary)
    return bool(found and found == (_check_sum(row), memory.summary.digest, memory.summary.status))


def fingerprint(db: Connection) -> str:
    """16 hex digits for all memories: the sum of a hash of each, so that a change costs no look at the others.

    Raises DatabaseError for one that was damaged.
    """
    row = db.execute(f"select value from meta where key = '{FINGERPRINT}'").fetchone()
    try:
        return f"{int(row[0], 16) if row else 0:016x}"
    except (TypeError, ValueError) as error:
        raise DatabaseError("the fingerprint is damaged") from error


def summary_of(root: str, row: tuple[Any, ...]) -> MemorySummary:
    """The summary in a row of SUMMARY and `check_sum`. Raises DatabaseError for a row that was damaged."""
    *values, check_sum = row
    if _check_sum(values) != check_sum:
        raise DatabaseError("a memory's row is damaged")
    _id, category, title, tags, path, file, status, created_at, updated_at, digest, _priority = values
    return MemorySummary(
        id=_id,
        category=category,
        title=title,
        tags=tuple(tags.split(TAG_SEPARATOR)) if tags else (),
        path=path,
        file=os.path.join(root, os.fsdecode(file)),
        status=status,
        created_at=created_at,
        updated_at=updated_at,
        digest=digest,
    )


def words_in(row: tuple[Any, ...]) -> Words:
    """The words in a row of title, tags, body and check_sum. Raises DatabaseError for a row that was damaged."""
    title, tags, body, check_sum = row
    if not isinstance(title, str) or not isinstance(tags, str) or not isinstance(body, str):
        raise DatabaseError("the words of a memory are damaged")
    words = (title, tags, body)
    if _words_check(words) != check_sum:
        raise DatabaseError("the words of a memory are damaged")
    return words


def bag_in(row: tuple[Any, ...]) -> str:
    """The bag in a row of content and check_sum. Raises DatabaseError for a row that was damaged."""
    bag, check_sum = row
    if not isinstance(bag, str) or text_check(bag) != check_sum:
        raise DatabaseError("the words of a memory are damaged")
    return bag


def memory_of(summary: MemorySummary, content: str) -> Memory:
    """The whole memory. Raises DatabaseError where the sections are not those that were stored."""
    from engine.memory import Memory, Section, content_digest

    try:
        sections = tuple(Section(heading, tuple(lines)) for heading, *lines in loads(content))
    except (ValueError, TypeError) as error:
        raise DatabaseError("the sections of a memory are damaged") from error
    if content_digest(summary.category, summary.title, summary.tags, sections) != summary.digest:
        raise DatabaseError("the sections of a memory are damaged")
    return Memory(summary, sections)


def skipped_in(db: Connection) -> tuple[Skipped, ...]:
    """What is not shown as a memory: folders and lines of a list in their order, then files by path."""
    from engine.memory import Skipped
    from engine.surrogates import without_lone_surrogates

    listed = [Skipped(place, reason) for place, reason in db.execute(LISTED)]
    files = [(os.fsdecode(name), reason) for name, reason in db.execute(UNUSED)]
    return (*listed, *(Skipped(without_lone_surrogates(name), reason) for name, reason in sorted(files)))


def column_words(words: Words, fields: str) -> tuple[str, ...]:
    """The words that *fields* covers."""
    return words[: COLUMNS[fields]]


def relative(root: str, file: str) -> str:
    """A memory's file as the index names it; `os.path.join(root, ...)` gives it back."""
    return file.removeprefix(root.rstrip(os.sep) + os.sep)


def _mix(db: Connection, memory_id: str, digest: str, sign: int) -> None:
    one = int(hex_digest(f"{memory_id}\0{digest}")[:16], 16)
    value = (int(fingerprint(db), 16) + sign * one) % 2**64
    db.execute("insert or replace into meta values (?, ?)", (FINGERPRINT, f"{value:016x}"))


def _summary_row(root: str, summary: MemorySummary) -> list[object]:
    name = os.fsencode(relative(root, summary.file))
    tags = TAG_SEPARATOR.join(summary.tags)
    first = [summary.id, summary.category, summary.title, tags, summary.path, name, summary.status]
    return [*first, summary.created_at, summary.updated_at, summary.digest, summary.priority]


def _check_sum(values: Iterable[object]) -> bytes:
    return text_check(repr(tuple(values)))


def _words_check(words: Words) -> bytes:
    return text_check("\0".join(words))
