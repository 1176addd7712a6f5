"""Memories -> rows of the index. Nothing here commits."""

from __future__ import annotations

import os

from engine.lean.json_text import dumps
from engine.lean.sha256 import hex_digest
from engine.search.rows import FINGERPRINT, TAG_SEPARATOR, check_sum_of, fingerprint, words_check, words_of
from engine.search.schema import FULL_TEXT, HEADLINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.lean.sqlite import Connection
    from engine.memory import Memory, MemorySummary
    from engine.search.changes import Changes


def insert(db: Connection, root: str, rowid: int, memory: Memory, changes: Changes | None) -> None:
    """Add a memory, in *changes* as well; None where this SQLite has no FTS5."""
    summary, words = memory.summary, words_of(memory)
    row = _summary_row(root, summary)
    db.execute(f"insert into memory values (?{', ?' * 12})", (rowid, *row, check_sum_of(row)))
    db.execute("insert into words values (?, ?, ?, ?, ?)", (rowid, *words, words_check(words)))
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
    return bool(found and found == (check_sum_of(row), memory.summary.digest, memory.summary.status))


def _mix(db: Connection, memory_id: str, digest: str, sign: int) -> None:
    one = int(hex_digest(f"{memory_id}\0{digest}")[:16], 16)
    value = (int(fingerprint(db), 16) + sign * one) % 2**64
    db.execute("insert or replace into meta values (?, ?)", (FINGERPRINT, f"{value:016x}"))


def _summary_row(root: str, summary: MemorySummary) -> list[object]:
    name = os.fsencode(_relative(root, summary.file))
    tags = TAG_SEPARATOR.join(summary.tags)
    first = [summary.id, summary.category, summary.title, tags, summary.path, name, summary.status]
    return [*first, summary.created_at, summary.updated_at, summary.digest, summary.priority]


def _relative(root: str, file: str) -> str:
    """A memory's file as the index names it; `os.path.join(root, ...)` gives it back."""
    return file.removeprefix(root.rstrip(os.sep) + os.sep)
