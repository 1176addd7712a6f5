"""claude-mem: the observations and session summaries of its SQLite database, which is opened read-only.

A process of claude-mem may write it at the same time, into the write-ahead log beside it. Columns differ by version.
"""

from __future__ import annotations

import os
from functools import partial

from engine.lean.json_text import clean_text, loads, without_lone_surrogates
from engine.lean.sqlite import DAMAGE, for_reading
from engine.memory import Memory, MemorySummary, Section, Skipped, content_digest
from engine.stores.files import UnreadableFileError, is_regular, require_inside
from engine.stores.markdown.text import short
from engine.stores.registry import Listing, memories_of_rows, name_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from engine.lean.sqlite import Connection

DATABASE = "claude-mem.db"
WAIT_SECONDS = 0.5

KINDS = {"observation": "observations", "summary": "session_summaries"}
"""Kind of a memory, which begins its id -> its table."""

LINES = {
    "observations": ("narrative", "text", "facts"),
    "session_summaries": ("request", "investigated", "learned", "completed", "next_steps", "notes"),
}
"""The columns of a memory's body. `text` is from old versions, and may repeat `narrative`."""

FILES = ("files_read", "files_modified", "files_edited")
MOST_ROWS, MOST_CHARACTERS, MOST_FILES = 50_000, 100_000, 20
"""Rows of a table, newest first; characters of a value; files that are shown."""


def listing(root: str) -> Listing:
    """The database in a folder, or that *root* is. Raises OSError."""
    if not os.path.isdir(root):
        return Listing({root}, (root,))
    names = os.listdir(root)
    return Listing({DATABASE} & {*names}, ("", DATABASE))


def read(root: str, relative: str, wanted: Collection[str] = ()) -> Iterator[Memory | Skipped]:
    """The memories in a database, and the rows that are none. Raises UnreadableFileError."""
    path = os.path.join(root, relative)
    require_inside(root, path)
    db = opened_database(path)
    name = without_lone_surrogates(name_in(root, relative))
    try:
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        columns = {kind: found for kind, table in KINDS.items() if "id" in (found := _columns(db, table))}
        if not columns:
            raise UnreadableFileError(f"has none of claude-mem's tables: {' and '.join(KINDS.values())}")
        for kind, found in columns.items():
            table = KINDS[kind]
            rows = ((f"{name} {kind} {row['id']}", row) for row in _rows(db, kind, found, wanted))
            yield from memories_of_rows(rows, partial(_memory, path, kind), name, f"rows of {table}")
            (count,) = db.execute(f"select count(*) from {table}").fetchone()
            if not wanted and count > MOST_ROWS:
                left = count - MOST_ROWS
                yield Skipped(name, f"holds more than {MOST_ROWS:,} {table}; the {left:,} oldest are not read")
    except DAMAGE as error:
        raise UnreadableFileError(f"cannot be read as a database ({error})") from None
    finally:
        db.close()


def opened_database(path: str) -> Connection:
    """The database, opened so that nothing is written. UnreadableFileError if there is none."""
    try:
        if not is_regular(os.stat(path)):
            raise UnreadableFileError("is not a file")
        log = f"{path}-wal"
        has_log = os.path.exists(log) and os.path.getsize(log) > 0
        return for_reading(path, immutable=not has_log, wait_s=WAIT_SECONDS)
    except OSError as error:
        raise UnreadableFileError(f"cannot be read ({error.strerror})") from None
    except DAMAGE as error:
        raise UnreadableFileError(f"cannot be read as a database ({error})") from None


def _columns(db: Connection, table: str) -> list[str]:
    """The columns that a table has in this version of claude-mem; none without the table."""
    # A view or a virtual table of a stranger could compute for ever when it is read.
    made = db.execute("select sql from sqlite_master where type = 'table' and name = ?", (table,)).fetchone()
    is_table = made and str(made[0]).startswith("CREATE TABLE ")
    return [row[1] for row in db.execute(f"pragma table_info({table})")] if is_table else []


def _rows(db: Connection, kind: str, columns: list[str], wanted: Collection[str]) -> Iterator[dict[str, Any]]:
    """The newest rows, oldest first; of those that are *wanted*, if any are."""
    table = KINDS[kind]
    known = (*LINES[table], *FILES, "id", "project", "type", "title", "subtitle", "concepts", "created_at")
    chosen = [column for column in columns if column in known]
    numbers = [int(number) for name in wanted if (number := name.removeprefix(f"{kind}-")).isdecimal()]
    if wanted and not numbers:
        return
    where = f"where id in ({','.join(map(str, numbers))})" if wanted else ""
    newest = f"select id from {table} {where} order by id desc limit {MOST_ROWS}"
    # SQLite cuts a huge text, before it takes memory here.
    short_columns = (name if name == "id" else f"substr({name}, 1, {MOST_CHARACTERS})" for name in chosen)
    for values in db.execute(f"select {', '.join(short_columns)} from {table} where id in ({newest}) order by id"):
        yield dict(zip(chosen, values, strict=True))


def _memory(path: str, kind: str, row: Mapping[str, Any]) -> Memory:
    texts = [(column, _lines(row.get(column))) for column in LINES[KINDS[kind]]]
    sections = _sections([pair for pair in texts if pair[1]], row)
    title, subtitle = short(clean_text(row.get("title"))), short(clean_text(row.get("subtitle")))
    title = title or subtitle or next((short(lines[0]) for _, lines in texts if lines), "")
    if not title:
        raise UnreadableFileError("has no title and no text")
    category = clean_text(row.get("type")).lower() or kind.replace("summary", "session_summary")
    words = (*_lines(row.get("concepts")), clean_text(row.get("project")))
    tags = tuple(dict.fromkeys(filter(None, words)))
    created = clean_text(row.get("created_at"))
    summary = MemorySummary(
        id=f"{kind}-{row['id']}",
        category=category,
        title=title,
        tags=tags,
        path=f"{without_lone_surrogates(path)} {kind} {row['id']}",
        file=path,
        status="active",
        created_at=created,
        updated_at=created,
        digest=content_digest(category, title, tags, sections),
    )
    return Memory(summary, sections)


def _sections(texts: list[tuple[str, tuple[str, ...]]], row: Mapping[str, Any]) -> tuple[Section, ...]:
    subtitle = clean_text(row.get("subtitle"))
    files = tuple(dict.fromkeys(line for column in FILES for line in _lines(row.get(column))))[:MOST_FILES]
    kept: dict[tuple[str, ...], str] = {(subtitle,): "Subtitle"} if subtitle else {}
    for column, lines in (*texts, ("files", files)):
        if lines:
            kept.setdefault(lines, column.replace("_", " ").capitalize())
    return tuple(Section(heading, lines) for lines, heading in kept.items())


def _lines(value: object) -> tuple[str, ...]:
    """The items of a JSON list, or the lines of a text that is none. A list that was cut or is broken is a text."""
    text = clean_text(value)
    if text.startswith("["):
        try:
            items = loads(text)
        except (ValueError, RecursionError):
            return tuple(text.splitlines())
        return tuple(" ".join(line.split()) for item in items if (line := clean_text(item)))
    return tuple(text.splitlines())
