"""Whether a root and its memories are still what the index says, by the size and times of their files."""

from __future__ import annotations

import os

from engine.lean.json_text import dumps
from engine.search.stamps import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from engine.lean.sqlite import Connection
    from engine.memory import Memory, MemorySummary
    from engine.search.stamps import Stamp

    T = TypeVar("T")

ROUNDS = 5
"""How often more is looked for where files changed, each time twice as much: to read a file again takes 0.1 ms."""


def is_fresh(db: Connection, root: str) -> bool:
    """Whether no folder and no list of *root* changed since they were read: a few `stat` calls.

    It sees whatever comes, goes or is renamed into place, but not a file that is rewritten where it is.
    """
    places = db.execute("select name, size, mtime, ctime from place").fetchall()
    return bool(places) and all(stamp(os.path.join(root, os.fsdecode(name))) == tuple(known) for name, *known in places)


def changed(db: Connection, summaries: list[MemorySummary]) -> set[str]:
    """The ids of those of *summaries* whose files are gone, or may have changed since they were read."""
    sql = """select memory.id, size, mtime, ctime from memory join file using (rowid)
             where memory.id in (select value from json_each(?))"""
    listed = dumps([summary.id for summary in summaries], ascii_only=False)
    return others(summaries, {memory_id: tuple(known) for memory_id, *known in db.execute(sql, (listed,))})


def others(summaries: list[MemorySummary], stamps: Mapping[str, Stamp]) -> set[str]:
    """The ids of those of *summaries* whose files have other stamps than these, by id."""
    return {summary.id for summary in summaries if stamps.get(summary.id) != stamp(summary.file)}


def filled(
    limit: int,
    find: Callable[[int], list[T]],
    keep: Callable[[list[T]], list[T]],
    count: Callable[[list[T]], int] = len,
) -> list[T]:
    """What *keep* leaves of the first *limit* that *find* gives. Where fewer are left, others take their place.

    *count*: how many of some count as found. There may be more of them in the end.
    """
    wanted = limit
    kept: list[T] = []
    for _ in range(ROUNDS):
        found = find(wanted)
        kept = keep(found)
        if count(kept) >= limit or count(found) < wanted:
            break
        wanted *= 2
    return kept


def read_again(root: str, summary: MemorySummary) -> Memory | None:
    """The memory as its file says now; None if there is none of this id."""
    from engine.stores.files import UnreadableFileError
    from engine.stores.registry import store_of

    try:
        memory = store_of(root).read_file(root, os.path.relpath(summary.file, root))
    except (UnreadableFileError, OSError):
        return None
    return memory if memory.summary.id == summary.id else None
