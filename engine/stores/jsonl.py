"""JSON Lines: a memory in each line. Other programs' names of the fields are read as well as ours."""

from __future__ import annotations

import os
import time

from engine.lean.json_text import loads, without_lone_surrogates
from engine.lean.sha256 import hex_digest
from engine.memory import Memory, MemorySummary, Section, Skipped, content_digest
from engine.stores.claude_memory import sections_of
from engine.stores.files import UnreadableFileError, bytes_of, require_inside
from engine.stores.markdown_text import as_words, short
from engine.stores.registry import Listing, memories_of_rows, name_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

SUFFIX = ".jsonl"
MOST_BYTES, MOST_LINE_BYTES = 20_000_000, 1_000_000
IDS = ("id", "memory_id", "key", "hash")
TITLES = ("title", "name", "summary", "description")
TEXTS = ("text", "content", "body", "memory", "fact", "statement", "value")
TAGS = ("tags", "keywords", "labels", "concepts")
CATEGORIES = ("category", "type", "kind")
CREATED, UPDATED = ("created_at", "created", "timestamp", "date"), ("updated_at", "updated", "modified")
STATUSES = ("record_status", "status", "state")
"""The names of a field. The first that is there and has a value counts."""

LASTING = {
    **dict.fromkeys(("archived", "paused", "dormant"), "archived"),
    **dict.fromkeys(("retired", "deleted", "superseded", "rejected", "deprecated"), "retired"),
}
"""The status in a line -> the status of its memory. Any other memory is active."""

DEFAULT_CATEGORY = "note"
TRANSCRIPT_KEY = "sessionId"
"""In each row of Claude Code's transcripts."""

MILLISECONDS = 100_000_000_000
"""A number of this size is a time in milliseconds, not in seconds: as seconds it would be the year 5138."""


def listing(root: str) -> Listing:
    """The JSON Lines files in a folder itself, or the file that *root* is. Raises OSError."""
    if not os.path.isdir(root):
        return Listing({root}, (root,))
    names = os.listdir(root)
    return Listing({name for name in names if name.endswith(SUFFIX) and not name.startswith(".")}, ("",))


def read(root: str, relative: str, wanted: Collection[str] = ()) -> Iterator[Memory | Skipped]:  # noqa: ARG001
    """The memories in a file, and the lines that are none. Raises UnreadableFileError."""
    path = os.path.join(root, relative)
    require_inside(root, path)
    name = without_lone_surrogates(name_in(root, relative))
    lines = enumerate(bytes_of(path, MOST_BYTES).removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1)
    rows = ((f"{name}:{number}", (number, line)) for number, line in lines if line.strip())
    yield from memories_of_rows(rows, lambda row: _memory(_row(row[1]), path, row[0]), name, "lines")


def _row(line: bytes) -> dict[str, Any]:
    if len(line) > MOST_LINE_BYTES:
        raise UnreadableFileError(f"is longer than {MOST_LINE_BYTES // 1000:,} kB")
    try:
        row = loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise UnreadableFileError("is not UTF-8 text") from None
    except RecursionError:
        raise UnreadableFileError("is nested too deeply") from None
    except ValueError:
        raise UnreadableFileError("is not valid JSON") from None
    if not isinstance(row, dict):
        raise UnreadableFileError("holds no JSON object")
    if TRANSCRIPT_KEY in row:
        raise UnreadableFileError("is a row of a transcript, no memory")
    return row


def _memory(row: dict[str, Any], path: str, number: int) -> Memory:
    sections = sections_of(_value(row, TEXTS))
    whole = " ".join(" ".join(line for section in sections for line in section.lines).split())
    title = _line(row, TITLES)
    if not (title or whole):
        raise UnreadableFileError("has no title and no text")
    if not title:
        title = short(whole)
        sections = () if title == whole else sections
    category, tags = _line(row, CATEGORIES).lower() or DEFAULT_CATEGORY, _tags(_value(row, TAGS))
    created = _moment(_value(row, CREATED))
    summary = MemorySummary(
        id=_line(row, IDS) or _key(category, title, sections),
        category=category,
        title=title,
        tags=tags,
        path=f"{without_lone_surrogates(path)}:{number}",
        file=path,
        status=LASTING.get(_line(row, STATUSES).lower(), "active"),
        created_at=created,
        updated_at=_moment(_value(row, UPDATED)) or created,
        digest=content_digest(category, title, tags, sections),
    )
    return Memory(summary, sections)


def _key(category: str, title: str, sections: tuple[Section, ...]) -> str:
    """The id of a line without one: a hash of its text, so that lines above it may come and go."""
    return hex_digest("\n".join([category, title, *(line for section in sections for line in section.lines)]))[:12]


def _value(row: dict[str, Any], names: tuple[str, ...]) -> object:
    return next((row[name] for name in names if row.get(name) not in (None, "", [], {})), None)


def _line(row: dict[str, Any], names: tuple[str, ...]) -> str:
    """The first text or number among the fields, on one line."""
    found = (row.get(name) for name in names)
    values = (str(value) for value in found if isinstance(value, (str, int)) and not isinstance(value, bool))
    return next((text for value in values if (text := " ".join(without_lone_surrogates(value).split()))), "")


def _tags(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    return as_words(tuple(without_lone_surrogates(tag) for tag in listed if isinstance(tag, str)))


def _moment(value: object) -> str:
    """A time as text; a number counts seconds or milliseconds since 1970."""
    if isinstance(value, str):
        return without_lone_surrogates(value).strip()
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return ""
    try:
        seconds = value / 1000 if value >= MILLISECONDS else value
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):
        return ""
