"""claude-mem: the observations and session summaries of its SQLite database, which is opened read-only.

A process of claude-mem may write it at the same time, into the write-ahead log beside it. Columns differ by version.
"""

from __future__ import annotations

import os

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
        tables = [_Table(db, kind, table) for kind, table in KINDS.items()]
        if not any(table.is_there for table in tables):
            raise UnreadableFileError(f"has none of claude-mem's tables: {' and '.join(KINDS.values())}")
        for table in tables:
            yield from table.memories(name, path, wanted)
    except DAMAGE as error:
        raise UnreadableFileError(f"cannot be read as a database ({error})") from None
    finally:
        db.close()


def opened_database(path: str) -> Connection:
    """The database, opened so that nothing is written. UnreadableFileError if there is none."""
    try:
        if not is_regular(os.stat(path)):
            raise UnreadableFileError("is not a file")
        has_log = _size(f"{path}-wal") > 0
        return for_reading(path, immutable=not has_log, wait_s=WAIT_SECONDS)
    except OSError as error:
        raise UnreadableFileError(f"cannot be read ({error.strerror})") from None
    except DAMAGE as error:
        raise UnreadableFileError(f"cannot be read as a database ({error})") from None


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


class _Table:
    """A table, with the columns that this version of claude-mem has."""

    def __init__(self, db: Connection, kind: str, table: str) -> None:
        self._db, self._kind, self._table = db, kind, table
        # A view or a virtual table of a stranger could compute for ever when it is read.
        made = db.execute("select sql from sqlite_master where type = 'table' and name = ?", (table,)).fetchone()
        is_table = made and str(made[0]).startswith("CREATE TABLE ")
        self._columns = [row[1] for row in db.execute(f"pragma table_info({table})")] if is_table else []

    @property
    def is_there(self) -> bool:
        return "id" in self._columns

    def memories(self, name: str, path: str, wanted: Collection[str]) -> Iterator[Memory | Skipped]:
        rows = ((f"{name} {self._kind} {row.get('id')}", row) for row in self._rows(wanted))
        yield from memories_of_rows(rows, lambda row: self._memory(row, path), name, f"rows of {self._table}")
        if not wanted and (left := self._count() - MOST_ROWS) > 0:
            yield Skipped(name, f"holds more than {MOST_ROWS:,} {self._table}; the {left:,} oldest are not read")

    def _rows(self, wanted: Collection[str]) -> Iterator[dict[str, Any]]:
        """The newest rows, oldest first; of those that are *wanted*, if any are."""
        if not self.is_there:
            return
        known = (*LINES[self._table], *FILES, "id", "project", "type", "title", "subtitle", "concepts", "created_at")
        chosen = [column for column in self._columns if column in known]
        start = f"{self._kind}-"
        numbers = [int(number) for name in wanted if (number := name.removeprefix(start)).isdecimal()]
        if wanted and not numbers:
            return
        where = f"where id in ({','.join(map(str, numbers))})" if wanted else ""
        newest = f"select id from {self._table} {where} order by id desc limit {MOST_ROWS}"
        # SQLite cuts a huge text, before it takes memory here.
        short_columns = (name if name == "id" else f"substr({name}, 1, {MOST_CHARACTERS})" for name in chosen)
        sql = f"select {', '.join(short_columns)} from {self._table} where id in ({newest}) order by id"
        for values in self._db.execute(sql):
            yield dict(zip(chosen, values, strict=True))

    def _count(self) -> int:
        if not self.is_there:
            return 0
        return int(self._db.execute(f"select count(*) from {self._table}").fetchone()[0])

    def _memory(self, row: Mapping[str, Any], path: str) -> Memory:
        texts = [(column, _lines(row.get(column))) for column in LINES[self._table]]
        sections = _sections([pair for pair in texts if pair[1]], row)
        title = _title(row, texts)
        if not title:
            raise UnreadableFileError("has no title and no text")
        category = clean_text(row.get("type")).lower() or self._kind.replace("summary", "session_summary")
        tags = tuple(
            dict.fromkeys(line for line in (*_lines(row.get("concepts")), clean_text(row.get("project"))) if line)
        )
        created = clean_text(row.get("created_at"))
        summary = MemorySummary(
            id=f"{self._kind}-{row['id']}",
            category=category,
            title=title,
            tags=tags,
            path=f"{without_lone_surrogates(path)} {self._kind} {row['id']}",
            file=path,
            status="active",
            created_at=created,
            updated_at=created,
            digest=content_digest(category, title, tags, sections),
        )
        return Memory(summary, sections)


def _title(row: Mapping[str, Any], texts: list[tuple[str, tuple[str, ...]]]) -> str:
    title, subtitle = short(clean_text(row.get("title"))), clean_text(row.get("subtitle"))
    return title or short(subtitle) or next((short(lines[0]) for _, lines in texts if lines), "")


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
