"""Keeping a root's index in step: the lines that list a memory, changed one memory at a time.

The index is never compared as a whole, because other programs and other operations change other lines of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from engine.curation.files import FileChange, ListedLines, text_at, write
from engine.lean.record import replace
from engine.stores.registry import file_store_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.stores.writing import Writing

MAX_INDEX_BYTES = 100_000_000


class IndexFile:
    """The index of a root, read once. `planned` and `apply` change its lines in memory, `save` writes them."""

    def __init__(self, root: str, writing: Writing) -> None:
        self._root, self._writing, self._name = root, writing, file_store_of(root).INDEX_FILE
        self._before = self._text = text_at(os.path.join(root, self._name), MAX_INDEX_BYTES)

    def planned(self, changes: Iterable[FileChange]) -> list[FileChange]:
        """*changes* with the lines of the index before and after."""
        found = []
        for change in changes:
            listed = self._found(self._lines(), change.name)
            wanted = self._wanted(change, listed)
            rest = _without(self._lines(), listed)
            if wanted is None:
                listing = ListedLines()
            else:
                best = self._best(rest, wanted)
                at = listed.at if listed.lines and best == self._best(rest, listed.lines) else best
                listing = ListedLines(wanted, at, rest[at - 1] if at else "", at == best)
            self._put(rest, listing)
            found.append(replace(change, listed=listed, listing=listing))
        return found

    def apply(self, change: FileChange) -> None:
        """Give the memory of *change* the lines that were planned, unless it has them."""
        if self._text is None and change.listing.lines:
            self._text = self._writing.new_index(())
        lines = self._lines()
        listed = self._found(lines, change.name)
        if listed.lines != change.listing.lines:
            self._put(_without(lines, listed), change.listing)

    def save(self) -> None:
        """Write the index if it changed. Raises CurationError, as ChangedSinceError if another wrote it, too."""
        if self._text is not None and self._text != self._before:
            write(FileChange(self._root, self._name, self._before, self._text), MAX_INDEX_BYTES)
            self._before = self._text

    def _lines(self) -> list[str]:
        return self._text.splitlines(keepends=True) if self._text is not None else []

    def _found(self, lines: Sequence[str], name: str) -> ListedLines:
        """The lines that list the file *name*; of several places the first."""
        for start, line in enumerate(lines):
            if name in line and self._is_entry(line, name):
                entry = next(self._writing.entries(_bare(lines[start:])))
                found, rest = lines[start : start + entry.end], [*lines[:start], *lines[start + entry.end :]]
                above = lines[start - 1] if start else ""
                return ListedLines(tuple(found), start, above, start == self._best(rest, found))
        return ListedLines()

    def _is_entry(self, line: str, name: str) -> bool:
        return any(entry.name == name for entry in self._writing.entries(_bare([line])))

    def _wanted(self, change: FileChange, listed: ListedLines) -> tuple[str, ...] | None:
        """The lines that list the memory afterwards; None: no line."""
        old = listed.lines[0].rstrip("\r\n") if listed.lines else ""
        line = (
            self._writing.entry_line(change.name, change.after, old, change.before or "")
            if change.after is not None
            else ""
        )
        if not line:
            return None
        if self._text is None:
            names = file_store_of(self._root).listing(self._root).names
            self._text = self._writing.new_index(sorted(names - {change.name}))
            if self._text is None:
                return None
        is_same = line == old
        return listed.lines if is_same else (f"{line}{_line_end(self._text)}", *listed.lines[1:])

    def _best(self, rest: Sequence[str], entry: Sequence[str]) -> int:
        """The place that the format gives to an entry among the lines *rest*."""
        return self._writing.place(_bare(rest), entry[0].rstrip("\r\n"))

    def _put(self, rest: list[str], new: ListedLines) -> None:
        """Set the text: *rest* with the lines of *new* at their place."""
        if self._text is None:
            return
        if new.lines:
            at = self._place_of(rest, new)
            if at and not rest[at - 1].endswith("\n"):
                rest[at - 1] += _line_end(self._text)
            rest[at:at] = new.lines
        self._text = "".join(rest)

    def _place_of(self, rest: Sequence[str], new: ListedLines) -> int:
        """Where the format says, for lines in order; else the planned place, or below the same line."""
        if new.is_in_order:
            return self._best(rest, new.lines)
        if new.at <= len(rest) and (rest[new.at - 1] if new.at else "") == new.above:
            return new.at
        if rest.count(new.above) == 1:
            return rest.index(new.above) + 1
        return self._best(rest, new.lines)


def _without(lines: Sequence[str], gone: ListedLines) -> list[str]:
    return [*lines[: gone.at], *lines[gone.at + len(gone.lines) :]]


def _bare(lines: Sequence[str]) -> list[str]:
    return [line.rstrip("\r\n") for line in lines]


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
