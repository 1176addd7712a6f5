"""The formats of memories: a module for each, and the names by which a root shows its format.

A new format is a module of this package that offers the functions of `Store`, and a line in `FORMATS`. If a root may be
a file of this format, there is a line in `FILE_FORMATS` as well.
"""

from __future__ import annotations

import os

from engine.lean.record import Record
from engine.memory import Memory, Skipped
from engine.stores.files import UnreadableFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from collections.abc import Set as AbstractSet
    from typing import Any, Protocol

    class Store(Protocol):
        """A format's module. A root is a resolved path: a folder, or a file.

        Names of files are relative to a folder, with `/` between folders. In a root that is a file, the file's name is
        the root itself, so `os.path.join(root, name)` is its path in both cases.
        """

        def listing(self, root: str) -> Listing:
            """The files that may hold memories. Raises OSError."""

        def read(self, root: str, relative: str, wanted: Collection[str] = (), /) -> Iterable[Memory | Skipped]:
            """The memories in a file in their order, and the parts of it that are none.

            *wanted*: ids of memories; a store may leave out all others. Raises UnreadableFileError, at once or while
            the result is read, with a reason that follows the file's name.
            """

    class FileStore(Store, Protocol):
        """A format with one memory in each file, and with a file that lists them. Only such a format can be written."""

        INDEX_FILE: str

        def read_file(self, root: str, relative: str, /) -> Memory:
            """The memory in a file. Raises UnreadableFileError with a reason that follows the file's name."""


class Listing(Record):
    """The files of a root that may hold memories.

    `places`: folders and files whose times change when a file comes or goes; "" is the root. `skipped`: entries that
    are not read. `notices`: problems of a list that cost no memory.
    """

    names: AbstractSet[str]
    places: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()
    notices: tuple[Skipped, ...] = ()


CATEGORY_FOLDERS = ("sessions", "decisions", "runbooks", "constraints", "tech-debt", "preferences")

NOTES = ("*.md", "*.markdown")

FORMATS = (
    ("claude_memory", (".claude/memory", "index.md", *CATEGORY_FOLDERS)),
    ("claude_mem", ("claude-mem.db",)),
    ("markdown", (".codex/memories", "raw_memories.md", "memory_summary.md")),
    ("auto_memory", ("projects/*/memory", "agent-memory/*", "agent-memory-local/*", "MEMORY.md")),
    ("jsonl", ("*.jsonl",)),
    ("markdown", (*NOTES, ".obsidian")),
)
"""Module name -> signs of the format. A root is of the first format of which it has a sign, else of the first.

A sign with `/` is the end of the root's path; any other sign is the name of something in the root, and `*` in it stands
for any beginning.
"""

FILE_FORMATS = (
    ("claude_mem", ("*.db", "*.sqlite", "*.sqlite3")),
    ("jsonl", ("*.jsonl",)),
    ("markdown", NOTES),
)
"""Module name -> the names of a file that can be a root."""

LIST_SIGN = b" -> "
"""In each line of the index.md of claude-memory that names a file."""

MOST_LISTED = 100
"""Rows of a file that are listed as skipped. Of the others only their number is."""

LOOKED_AT, FOLDERS_LOOKED_AT = 65_536, 100
"""Bytes of an index.md, and folders in a root, that are looked at to tell formats apart."""


def store_of(root: str) -> Store:
    """The store for *root*, which is resolved. The other formats are not imported: the hook has no time for them."""
    module: Any = __import__(f"engine.stores.{format_of(root) or FORMATS[0][0]}", fromlist=["read"])
    store: Store = module
    return store


def file_store_of(root: str) -> FileStore:
    """The store for *root*, whose format can be written: see `engine.stores.writing.writing_of`."""
    store: Any = store_of(root)
    return store  # type: ignore[no-any-return]


def format_of(root: str) -> str:
    """The module's name for the format of *root*; empty for a file that no format reads."""
    if os.path.isfile(root):
        return next((module for module, signs in FILE_FORMATS if _has_sign([os.path.basename(root)], signs)), "")
    names = _names(root)
    fitting = (module for module, signs in FORMATS if _ends_like(root, signs) or _has_sign(names, signs))
    found = next(fitting, "")
    if found == FORMATS[0][0] and not _ends_like(root, FORMATS[0][1]) and _holds_notes(root, names):
        return "markdown"
    return found or ("markdown" if _has_notes_below(root) else FORMATS[0][0])


def memories_of_rows(
    rows: Iterable[tuple[str, Any]], memory_of: Callable[[Any], Memory], name: str, kind: str
) -> Iterator[Memory | Skipped]:
    """The memories in a file of many, and the rows that are none. *rows*: (name for people, row) pairs."""
    skipped = 0
    for place, row in rows:
        try:
            yield memory_of(row)
        except UnreadableFileError as error:
            skipped += 1
            if skipped <= MOST_LISTED:
                yield Skipped(place, str(error))
    if skipped > MOST_LISTED:
        yield Skipped(name, f"has {skipped - MOST_LISTED:,} more {kind} that are no memories")


def name_in(root: str, relative: str) -> str:
    """The name of a file for people and ids: relative to its folder, also where the root is the file."""
    return os.path.basename(root) if relative == root else relative


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _ends_like(root: str, signs: tuple[str, ...]) -> bool:
    """Whether the path of *root* ends as one of *signs* says."""
    parts = root.split(os.sep)
    ends = (sign.split("/") for sign in signs if "/" in sign)
    return any(len(parts) > len(end) and all(map(_is_like, parts[-len(end) :], end)) for end in ends)


def _has_sign(names: list[str], signs: tuple[str, ...]) -> bool:
    """Whether *names* of what is in a root hold a sign."""
    return any(
        any(_is_like(name, sign) for name in names) if sign[0] == "*" else sign in names
        for sign in signs
        if "/" not in sign
    )


def _is_like(name: str, sign: str) -> bool:
    return name.endswith(sign[1:]) and not name.startswith(".") if sign[0] == "*" else name == sign


def _holds_notes(root: str, names: list[str]) -> bool:
    """Whether a folder with names of claude-memory is a folder of notes: they are common names in vaults, too."""
    inside = [name for folder in CATEGORY_FOLDERS if folder in names for name in _names(os.path.join(root, folder))]
    if any(name.endswith(".json") for name in inside):
        return False
    has_notes = _has_sign(inside, NOTES)
    if "index.md" in names:
        has_notes = has_notes or _has_sign([name for name in names if name != "index.md"], NOTES)
        return has_notes and not _is_list(root)
    return has_notes


def _is_list(root: str) -> bool:
    from engine.stores.files import read_regular

    try:
        return LIST_SIGN in read_regular(os.path.join(root, "index.md"), LOOKED_AT)
    except OSError:
        return False


def _has_notes_below(root: str) -> bool:
    """Whether a folder in *root*, or in a folder of it, holds notes."""
    folders = [root]
    for folder in folders:
        names = _names(folder)
        if _has_sign(names, NOTES):
            return True
        paths = (os.path.join(folder, name) for name in names if not name.startswith("."))
        below = [path for path in paths if os.path.isdir(path) and not os.path.islink(path)]
        folders += below[: max(0, FOLDERS_LOOKED_AT - len(folders))]
    return False
