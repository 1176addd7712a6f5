"""Rows of the index -> memories. See `engine.search.storing` for the way back."""

from __future__ import annotations

import os
from _imp import source_hash

from engine.lean.json_text import loads
from engine.lean.sqlite import DatabaseError
from engine.memory import MemorySummary
from engine.search.schema import COLUMNS, META
from engine.search.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from engine.lean.sqlite import Connection
    from engine.memory import Memory, Skipped

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


def fingerprint(db: Connection) -> str:
    """16 hex digits for all memories: the sum of a hash of each, so that a change costs no look at the others.

    Raises DatabaseError for one that was damaged.
    """
    value = dict(db.execute(META)).get(FINGERPRINT, "0")
    try:
        return f"{int(value, 16):016x}"
    except (TypeError, ValueError) as error:
        raise DatabaseError("the fingerprint is damaged") from error


def summary_of(root: str, row: tuple[Any, ...]) -> MemorySummary:
    """The summary in a row of SUMMARY and `check_sum`. Raises DatabaseError for a row that was damaged."""
    *values, check_sum = row
    if check_sum_of(values) != check_sum:
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
    if words_check(words) != check_sum:
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
    from engine.lean.json_text import without_lone_surrogates
    from engine.memory import Skipped

    listed = [Skipped(place, reason) for place, reason in db.execute(LISTED)]
    files = [(os.fsdecode(name), reason) for name, reason in db.execute(UNUSED)]
    return (*listed, *(Skipped(without_lone_surrogates(name), reason) for name, reason in sorted(files)))


def column_words(words: Words, fields: str) -> tuple[str, ...]:
    """The words that *fields* covers."""
    return words[: COLUMNS[fields]]


def check_sum_of(values: Iterable[object]) -> bytes:
    return text_check(repr(tuple(values)))


def words_check(words: Words) -> bytes:
    return text_check("\0".join(words))


def text_check(text: str) -> bytes:
    """A check sum of a text for this interpreter: 8 bytes, by SipHash, with which it tells changed sources from others.

    As quick as a CRC, which lies in a module of its own: 0.25 ms of a cold process with its library.
    """
    return source_hash(0, text.encode("utf-8", "surrogatepass"))
