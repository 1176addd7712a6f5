"""Changes of files, as records; and writing a file so that a reader sees the old text or the new text, never a part."""

from __future__ import annotations

import os
from difflib import unified_diff
from typing import TYPE_CHECKING

from engine.errors import ChangedSinceError, CurationError
from engine.lean.record import Record
from engine.stores.files import (
    MAX_FILE_BYTES,
    is_inside,
    make_folder,
    make_names_last,
    open_named,
    open_shared,
    read_regular,
    remove,
    write_whole,
)
from engine.stores.writing import writing_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class Hunk(Record):
    """Lines of an index before and after a change, with their ends: from line `at` (from 0) on, below the line `above`.

    `is_in_order`: added lines go where the format puts a new entry.
    """

    at: int
    above: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    is_in_order: bool = False


class IndexChange(Record):
    """A change of an index, and the SHA-256 of its whole text before and after (64 hex digits)."""

    hunks: tuple[Hunk, ...] = ()
    was: str = ""
    becomes: str = ""

    def reversed(self) -> IndexChange:
        shift, hunks = 0, []
        for hunk in self.hunks:
            hunks.append(Hunk(hunk.at + shift, hunk.above, hunk.after, hunk.before, hunk.is_in_order))
            shift += len(hunk.after) - len(hunk.before)
        return IndexChange(tuple(hunks), self.becomes, self.was)


class FileChange(Record):
    """A memory's file before and after a change; None: there is no file. `name` is relative to the resolved `root`.

    `index`: the change of what lists it. `renamed`: the name that the memory of a new file had until now.
    """

    root: str
    name: str
    before: str | None
    after: str | None
    index: IndexChange = IndexChange()
    renamed: str = ""

    @property
    def path(self) -> str:
        return os.path.join(self.root, self.name)

    def reversed(self) -> FileChange:
        return FileChange(self.root, self.name, self.after, self.before, self.index.reversed())


def text_at(path: str, most: int = MAX_FILE_BYTES) -> str | None:
    """The text of a file as it is, with any byte order mark; None without a file.

    Raises CurationError, also for a file of more than *most* bytes.
    """
    try:
        raw = read_regular(path, most + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CurationError(f"{path} cannot be read ({error.strerror or error}).") from None
    if len(raw) > most:
        raise CurationError(f"{path} is larger than {most // 1000:,} kB. memsift does not change it.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise CurationError(f"{path} is not UTF-8 text. memsift does not change it.") from None


def require_unchanged(change: FileChange, most: int = MAX_FILE_BYTES) -> None:
    """Raises ChangedSinceError, with the difference, if the file is not as `before`. *most* as for `text_at`."""
    now = text_at(change.path, most)
    if now != change.before:
        problem = f"{change.path} was changed since it was read. Look at it, and try again."
        raise ChangedSinceError(problem, diff(change.name, change.before, now))


def write(change: FileChange, most: int = MAX_FILE_BYTES, *, is_private: bool = False) -> None:
    """Write the file of *change*, or remove it, and make that last. An existing file keeps its mode.

    *is_private*: a new file and new folders are for their owner alone, whatever the umask.
    What a link leads to is written, but not outside of the root; a link itself is removed. Raises CurationError, and
    leaves the file as it was: also if it is neither as before nor as after, the moment before it is written.
    """

    def look() -> None:
        if text_at(change.path, most) != change.after:
            require_unchanged(change, most)

    path = os.path.realpath(change.path)
    if not is_inside(change.root, path):
        raise CurationError(f"{change.path} points outside the root. memsift does not change it.")
    folder = os.path.dirname(path)
    try:
        if change.after is None:
            look()
            remove(change.path)
            make_names_last(os.path.dirname(change.path))
        else:
            make_folder(folder) if is_private else os.makedirs(folder, exist_ok=True)
            write_whole(path, change.after.encode("utf-8"), open_named if is_private else open_shared, look=look)
    except OSError as error:
        raise CurationError(f"{path} cannot be written ({error.strerror or error}).") from None


def diff(name: str, before: str | None, after: str | None) -> str:
    """The difference of two texts in the unified form; empty for equal texts."""
    old, new = ((text or "").splitlines(keepends=True) for text in (before, after))
    names = ("/dev/null" if before is None else f"a/{name}", "/dev/null" if after is None else f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in unified_diff(old, new, *names))


def diff_of(changes: Iterable[FileChange]) -> str:
    """The difference that *changes* make: of each file, and of its lines in the index."""
    parts: list[str] = []
    for change in changes:
        parts.append(diff(change.name, change.before, change.after))
        if change.index.hunks:
            name = writing_of(change.root, change.name).INDEX_FILE
            parts.append(f"--- a/{name}\n+++ b/{name}\n")
        for old, new in zip(change.index.hunks, change.index.reversed().hunks, strict=True):
            parts.append(f"@@ -{old.at + 1},{len(old.before)} +{new.at + 1},{len(old.after)} @@\n")
            parts += [f"-{line.rstrip()}\n" for line in old.before] + [f"+{line.rstrip()}\n" for line in old.after]
    return "".join(parts)
