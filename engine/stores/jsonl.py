"""JSON Lines: a memory in each line. Other programs' names of the fields are read as well as ours.

The graph of an MCP memory server is read, too: a memory for each observation of an entity, and for each relation.
"""

from __future__ import annotations

import os
import time

from engine.lean.json_text import loads, without_lone_surrogates
from engine.lean.sha256 import hex_digest
from engine.memory import Memory, MemorySummary, Skipped, content_digest
from engine.stores.claude_memory import sections_of
from engine.stores.files import UnreadableFileError, bytes_of, require_inside
from engine.stores.markdown.text import as_words, short
from engine.stores.registry import GRAPH, Listing, memories_of_rows, name_in

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
KNOWN = (*IDS, *TITLES, *TEXTS, *TAGS, *CATEGORIES, *CREATED, *UPDATED, *STATUSES)
"""The names of a field. The first that is there and has a value counts."""

LASTING = {
    **dict.fromkeys(("archived", "paused", "dormant"), "archived"),
    **dict.fromkeys(("retired", "deleted", "superseded", "rejected", "deprecated"), "retired"),
}
"""The status in a line -> the status of its memory. Any other memory is active."""

DEFAULT_CATEGORY = "note"
ENTITY, RELATION = "entity", "relation"
"""The `type` of a line in the graph of an MCP memory server."""

MOST_FIELDS = 10
"""Names of unknown fields that are shown."""

TRANSCRIPT_KEY = "sessionId"
"""In each row of Claude Code's transcripts."""

MILLISECONDS = 100_000_000_000
"""A number of this size is a time in milliseconds, not in seconds: as seconds it would be the year 5138."""


def listing(root: str) -> Listing:
    """The JSON Lines files in a folder itself, or the file that *root* is. Raises OSError."""
    if not os.path.isdir(root):
        return Listing({root}, (root,))
    names = os.listdir(root)
    rows = {name for name in names if name.endswith(SUFFIX) and not name.startswith(".")}
    return Listing(rows | ({GRAPH} & {*names}), ("",))


def read(root: str, relative: str, wanted: Collection[str] = ()) -> Iterator[Memory | Skipped]:  # noqa: ARG001
    """The memories in a file, and the lines that are none. Raises UnreadableFileError."""
    path = os.path.join(root, relative)
    require_inside(root, path)
    name = without_lone_surrogates(name_in(root, relative))
    content = bytes_of(path, MOST_BYTES).removeprefix(b"\xef\xbb\xbf")
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
    rows = _whole(content) if name.endswith(GRAPH) else None
    numbered = [(1, row) for row in rows] if rows else ((at, row) for at, line in lines for row in _objects(line))
    parts = ((f"{name}:{number}", (number, part)) for number, row in numbered for part in _observations(row))
    yield from memories_of_rows(parts, lambda part: _memory(_row(part[1]), path, part[0]), name, "lines")


def _whole(content: bytes) -> list[dict[str, Any]] | None:
    """The entities and relations of a graph that is a single JSON object; None for JSON Lines."""
    try:
        graph = loads(content.decode("utf-8"))
        kinds = {ENTITY: graph["entities"], RELATION: graph.get("relations") or []}
        return [{**row, "type": kind} if isinstance(row, dict) else {} for kind, rows in kinds.items() for row in rows]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None


def _objects(line: bytes) -> list[bytes | dict[str, Any]]:
    """The objects of a line that holds several, and the rest of it as it is; any other line as it is."""
    if b"}{" not in line.replace(b" ", b"") or len(line) > MOST_LINE_BYTES:
        return [line]
    from json import JSONDecoder

    found: list[bytes | dict[str, Any]] = []
    text, at = "", 0
    try:
        text = line.decode("utf-8").strip()
        while text[at : at + 1] == "{":
            row, at = JSONDecoder().raw_decode(text, at)
            found.append(row)
            while text[at : at + 1].isspace():
                at += 1
    except (ValueError, RecursionError):
        pass
    rest = text[at:].encode()
    return [*found, *([rest] if rest else [])] or [line]


def _observations(line: bytes | dict[str, Any]) -> Iterator[bytes | dict[str, Any]]:
    """A row for each observation of an entity, and one for a relation. Any other line stays as it is.

    The id is the entity's name, and from the second observation on also a hash of the text. So a label survives when
    other observations come and go.
    """
    try:
        row = _row(line) if isinstance(line, dict) or b"entity" in line or b"relationType" in line else {}
    except UnreadableFileError:
        row = {}
    name, kind = _line(row, ("name",)), row.get("type")
    if kind == RELATION and (text := " ".join(_line(row, (end,)) for end in ("from", "relationType", "to"))).strip():
        yield {"id": text, "text": text, "category": RELATION}
    elif kind != ENTITY or not name or not isinstance(row.get("observations"), list):
        yield line
    else:
        texts = [text for text in row["observations"] if isinstance(text, str) and text.strip()]
        for number, text in enumerate(texts):
            own = f"{name}#{hex_digest(text)[:12]}" if number else name
            title, tags = short(f"{name}: {text}"), [_line(row, ("entityType",))]
            yield {"id": own, "title": title, "text": text, "tags": tags, "category": ENTITY}
        if not texts:
            yield {"name": name, "observations": []}


def _row(line: bytes | dict[str, Any]) -> dict[str, Any]:
    if isinstance(line, dict):
        return line
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
    # a text with a space, a list or an object may be the text of a memory
    unknown = [
        without_lone_surrogates(name)
        for name, value in row.items()
        if name not in KNOWN and (isinstance(value, (list, dict)) or (isinstance(value, str) and " " in value.strip()))
    ]
    if not whole and (unknown or not title):
        names = ", ".join(map(short, unknown[:MOST_FIELDS]))
        reason = f"has no text in a field that is known; its fields: {names}" if names else "has no title and no text"
        raise UnreadableFileError(reason)
    if not title:
        title = short(whole)
        sections = () if title == whole else sections
    category, tags = _line(row, CATEGORIES).lower() or DEFAULT_CATEGORY, _tags(_value(row, TAGS))
    created = _moment(_value(row, CREATED))
    # the id of a line without one is a hash of its text, so that lines above it may come and go
    texts = "\n".join([category, title, *(line for section in sections for line in section.lines)])
    summary = MemorySummary(
        id=_line(row, IDS) or hex_digest(texts)[:12],
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
