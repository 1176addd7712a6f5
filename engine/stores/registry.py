"""The formats of memories: a module for each, and what in a root shows them.

What a root is follows from what is in it; a root with files of several formats is read by all of them. A new format is
a module of this package that offers the functions of `Store`, a line in `FORMATS`, and its sign in `formats_of`.
"""

from __future__ import annotations

import os

from engine.lean.record import Record
from engine.memory import Memory, Skipped
from engine.stores.files import BACKUP, README, UnreadableFileError, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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

NOTES = ("*.md", "*.markdown", "*.mdc")

RULES = (".clinerules", ".cursorrules", ".windsurfrules")
"""Files of rules for an assistant without an ending."""

CODEX = ("raw_memories.md", "memory_summary.md")
LIST = "index.md"
"""The list of memories of claude-memory. In other folders it is a note."""

NO_NOTES, NOTES_LIST = "readme.md", "MEMORY.md"
"""The name of a file that describes the notes beside it, in lower case; and of the list of auto memory."""


BACKUPS = (".bak", ".orig", ".rej", "~")
"""Ends of names, before the ending, of the files that editors and version control leave beside the file that counts."""


class MemoryFormat(Record):
    """A format: its module, the names of its files, and the ends of paths of its folders.

    A root may be such a file. In a name, `*` at the start stands for any beginning. The ends count only for a folder in
    which no file shows a format, and `*` in them is any name.
    """

    module: str
    files: tuple[str, ...]
    ends: tuple[str, ...] = ()


CLAUDE_MEMORY = MemoryFormat("claude_memory", ("*.json",))
CLAUDE_MEM = MemoryFormat("claude_mem", ("claude-mem.db", "*.db", "*.sqlite", "*.sqlite3"))
AUTO_MEMORY = MemoryFormat("auto_memory", (), ("projects/*/memory", "agent-memory/*", "agent-memory-local/*"))
GRAPH = "memory.json"
JSON_LINES = MemoryFormat("jsonl", ("*.jsonl", GRAPH))
MARKDOWN = MemoryFormat("markdown", (*NOTES, *RULES), (".codex/memories",))
MODULES = {"markdown": "markdown.store", "auto_memory": "markdown.auto_memory"}
"""Format -> its module below engine.stores, where that has another name."""

FORMATS = (CLAUDE_MEMORY, CLAUDE_MEM, AUTO_MEMORY, JSON_LINES, MARKDOWN)
"""All formats."""

AUTO_MEMORY_ENDS = (".claude/memory", *AUTO_MEMORY.ends)
"""Ends of paths of folders whose notes are auto memory, also without MEMORY.md."""

READ = "Markdown (*.md, *.mdc), JSON Lines (*.jsonl), claude-memory (decisions/*.json and the like), claude-mem.db"

LIST_SIGN, GRAPH_SIGNS = b" -> ", (b'"entityType"', b'"relationType"')
"""In each line of the index.md of claude-memory that names a file; in the GRAPH of an MCP memory server."""

TYPE_SIGNS = (b"node_type: memory", *(b"type: " + kind for kind in (b"user", b"feedback", b"project", b"reference")))
"""In the front matter of auto memory."""

HOLDS_NO_MEMORIES = "holds no memories"
"""The beginning of the reason for a root without a file to read."""

MOST_LISTED = 100
"""Rows of a file that are listed as skipped. Of the others only their number is."""

LOOKED_AT, FOLDERS_LOOKED_AT, NOTES_LOOKED_AT, MOST_KINDS = 65_536, 100, 5, 5
"""Bytes of a file, folders in a root, and notes that are looked at to tell formats apart; endings that are named."""


class RootStore:
    """All formats that a root holds, as one store. Each file is read by its own format."""

    def __init__(self, formats: tuple[MemoryFormat, ...]) -> None:
        self.formats = formats
        self.name = "+".join(format_.module for format_ in formats)
        self._stores: dict[str, Store] = {format_.module: store_module(format_.module) for format_ in formats}

    def listing(self, root: str) -> Listing:
        """As for `Store`. A folder without any file to read has a reason among `skipped`."""
        parts = [store.listing(root) for store in self._stores.values()]
        names = {name for part in parts for name in part.names}
        if CLAUDE_MEMORY.module in self._stores:
            names.discard(LIST)
        places = dict.fromkeys(("", *(place for part in parts for place in part.places)))
        skipped = tuple(file for part in parts for file in part.skipped)
        if not names and {file.reason for file in skipped} <= {README} and os.path.isdir(root):
            skipped = (Skipped("the root", nothing_to_read(root)),)
        notices = tuple(notice for part in parts for notice in part.notices)
        return Listing(names, (root,) if names == {root} else tuple(places), skipped, notices)

    def read(self, root: str, relative: str, wanted: Collection[str] = ()) -> Iterable[Memory | Skipped]:
        """As for `Store`. A backup is read only if it is the root itself."""
        if relative != root and os.path.splitext(relative)[0].endswith(BACKUPS):
            raise UnreadableFileError(BACKUP)
        return self._stores[module_for(self.formats, relative)].read(root, relative, wanted)


def store_of(root: str, name: str = "") -> RootStore:
    """The store for *root*, which is resolved. Other formats are not imported: the hook has no time for them.

    *name*: that of the store, where it is known: to tell the formats apart, all files are listed.
    """
    known = {format_.module: format_ for format_ in FORMATS}
    return RootStore(tuple(known[module] for module in name.split("+") if name) or formats_of(root) or FORMATS[:1])


def store_module(name: str) -> Any:
    """The module of a format, a `Store`."""
    return __import__(f"engine.stores.{MODULES.get(name, name)}", fromlist=["read"])


def file_store_of(root: str, name: str = "") -> FileStore:
    """The store for the file *name* of a root, whose format can be written: see `engine.stores.writing.writing_of`."""
    store: FileStore = store_module(module_for(formats_of(root) or FORMATS[:1], name))
    return store


def module_for(formats: Sequence[MemoryFormat], name: str) -> str:
    """The module of those of *formats* to which the file *name* belongs: by default the first."""
    of_notes = next((format_ for format_ in formats if format_ in (AUTO_MEMORY, MARKDOWN)), None)
    for signs, format_ in ((JSON_LINES.files, JSON_LINES), (CLAUDE_MEM.files, CLAUDE_MEM), (NOTES, of_notes)):
        if format_ and format_ in formats and _has_sign([name], signs):
            return format_.module
    return formats[0].module


def format_of(root: str) -> str:
    """The names of the modules of the formats of *root*, joined by `+`; empty for a file that no format reads."""
    return "+".join(format_.module for format_ in formats_of(root))


def formats_of(root: str) -> tuple[MemoryFormat, ...]:
    """The formats of *root*, by what is in it; none for a file that no format reads. A new folder is for notes."""
    if os.path.isfile(root):
        fitting = (format_ for format_ in FORMATS[1:] if _has_sign([os.path.basename(root)], format_.files))
        return tuple(fitting)[:1]
    names = _names(root)
    inside = [os.path.join(root, folder) for folder in CATEGORY_FOLDERS if folder in names]
    graph = _start(os.path.join(root, GRAPH))
    has_json = any(_has_sign(_names(folder), CLAUDE_MEMORY.files) for folder in inside)
    found = {
        CLAUDE_MEMORY: has_json or LIST_SIGN in _start(os.path.join(root, LIST)),
        CLAUDE_MEM: CLAUDE_MEM.files[0] in names,
        _kind_of_notes(root, names): _has_notes(root),
        JSON_LINES: _has_sign(names, JSON_LINES.files[:1]) or any(map(graph.__contains__, GRAPH_SIGNS)),
    }
    by_path = tuple(format_ for format_ in FORMATS if _ends_like(root, format_.ends))
    new = CLAUDE_MEMORY if {*CATEGORY_FOLDERS, LIST} & {*names} else AUTO_MEMORY
    return tuple(format_ for format_, is_there in found.items() if is_there) or by_path[:1] or (new,)


def _kind_of_notes(root: str, names: list[str]) -> MemoryFormat:
    """AUTO_MEMORY for notes of Claude Code's auto memory, else MARKDOWN."""
    if _has_sign(names, CODEX) or _ends_like(root, MARKDOWN.ends):
        return MARKDOWN
    if NOTES_LIST in names or _ends_like(root, AUTO_MEMORY_ENDS):
        return AUTO_MEMORY
    notes = [name for name in sorted(names) if _has_sign([name], NOTES)][:NOTES_LOOKED_AT]
    typed = [name for name in notes if _is_typed(os.path.join(root, name))]
    return AUTO_MEMORY if typed and len(typed) * 2 > len(notes) else MARKDOWN


def _is_typed(path: str) -> bool:
    """Whether the front matter of a note has a type of auto memory, a name and a description."""
    front = _start(path).partition(b"\n---")[0]
    has_keys = front.startswith(b"---") and b"\nname:" in front and b"\ndescription:" in front
    return has_keys and any(map(front.__contains__, TYPE_SIGNS))


def nothing_to_read(root: str) -> str:
    """The reason for a folder without a file to read: the files that were seen, and the files that are read."""
    seen: dict[str, int] = {}
    folders = [root]
    for folder in folders:
        for name in _names(folder):
            path, (stem, ending) = os.path.join(folder, name), os.path.splitext(name)
            if os.path.isdir(path):
                folders += [path][: max(0, FOLDERS_LOOKED_AT - len(folders))]
            else:
                is_list = name.lower() in (NO_NOTES, LIST, NOTES_LIST.lower())
                kind = f"*{ending}" if ending and not is_list else stem + ending
                seen[kind] = seen.get(kind, 0) + 1
    kinds = sorted(seen, key=lambda kind: (-seen[kind], kind))
    shown = ", ".join(f"{seen[kind]:,} {kind[:MOST_LISTED]}" for kind in kinds[:MOST_KINDS])
    more = ", and others" if kinds[MOST_KINDS:] else ""
    files = f"of its files ({shown}{more}) none is read" if seen else "there is no file in it"
    return f"{HOLDS_NO_MEMORIES}: {files}. memsift reads {READ}"


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


def _ends_like(root: str, ends: tuple[str, ...]) -> bool:
    """Whether the path of *root* ends in one of *ends*."""
    parts = root.split(os.sep)[::-1]
    split = [end.split("/")[::-1] for end in ends]
    fitting = (end for end in split if all(_has_sign([part], (sign,)) for part, sign in zip(parts, end, strict=False)))
    return any(len(parts) > len(end) for end in fitting)


def _has_sign(names: Sequence[str], signs: tuple[str, ...]) -> bool:
    """Whether one of *names* is like a sign."""
    ends = tuple(sign[1:] for sign in signs if sign[:1] == "*")
    return not set(signs).isdisjoint(names) or any(name.lower().endswith(ends) and name[:1] != "." for name in names)


def _start(path: str) -> bytes:
    """The beginning of a file; empty if it cannot be read."""
    try:
        return read_regular(path, LOOKED_AT)
    except OSError:
        return b""


def _has_notes(root: str) -> bool:
    """Whether a folder, or a folder in it, holds notes. Lists and descriptions of notes alone are none."""
    folders = [root]
    for folder in folders:
        try:
            with os.scandir(folder) as found:
                entries = [entry for entry in found if entry.name[:1] != "."]
                below = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        if _has_sign([entry.name for entry in entries if entry.name.lower() not in (NO_NOTES, LIST)], NOTES):
            return True
        folders += below[: max(0, FOLDERS_LOOKED_AT - len(folders))]
    return False
