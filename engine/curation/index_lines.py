"""Keeping a root's index in step: what lists a memory there, changed one memory at a time.

An index is a person's text, and other programs and operations change other lines of it. So a change is kept as hunks of
lines, which are found again by their text where the index is not as it was.
"""

from __future__ import annotations

import os
from difflib import SequenceMatcher
from hashlib import sha256
from typing import TYPE_CHECKING

from engine.curation.files import FileChange, Hunk, IndexChange, text_at, write
from engine.lean.record import replace
from engine.stores.registry import store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engine.stores.writing import Writing

MAX_INDEX_BYTES = 100_000_000


class IndexFile:
    """The index of a root, read once. `planned` and `apply` change its lines in memory, `save` writes them.

    *earlier* gives the change of the index by which a memory was put away, if it is known: it comes back to its place.
    """

    def __init__(
        self, root: str, writing: Writing, earlier: Callable[[FileChange], IndexChange | None] = lambda _: None
    ) -> None:
        self._root, self._writing, self._earlier = root, writing, earlier
        self._before = self._text = text_at(os.path.join(root, writing.INDEX_FILE), MAX_INDEX_BYTES)
        self.notice = ""

    def planned(self, changes: Iterable[FileChange]) -> list[FileChange]:
        """*changes* with those of the index. `notice` says then what a client will not load any more."""
        found = []
        for change in changes:
            old = self._lines()
            is_wanted = change.after is not None and self._writing.entry_line(change.name, change.after)
            new = self._listing(old, change) if is_wanted else self._writing.without(old, change.name)
            hunks = hunks_of(old, new, self._writing.IS_SORTED)
            index = IndexChange(hunks, _digest(old), _digest(new)) if hunks else IndexChange()
            if len(new) > len(old):
                self.notice = self._writing.left_out("".join(new))
            self._set(new)
            found.append(replace(change, index=index))
        return found

    def apply(self, changes: Sequence[FileChange]) -> None:
        """Make the planned changes of the index, unless they are made already."""
        changes = [change for change in changes if change.index.hunks]
        if changes and _digest(self._lines()) == changes[-1].index.becomes:
            return
        for change in changes:
            self._set(self._applied(self._lines(), change))

    def save(self) -> None:
        """Write the index if it changed. Raises CurationError, as ChangedSinceError if another wrote it, too."""
        if self._text is not None and self._text != self._before:
            change = FileChange(self._root, self._writing.INDEX_FILE, self._before, self._text)
            write(change, MAX_INDEX_BYTES)
            self._before = self._text

    def _lines(self) -> list[str]:
        parts = (self._text or "").split("\n")
        return [*(f"{part}\n" for part in parts[:-1]), *filter(None, parts[-1:])]

    def _set(self, lines: Sequence[str]) -> None:
        if self._text is not None or lines:
            self._text = "".join(lines)

    def _is_listed(self, lines: Sequence[str], name: str) -> bool:
        return any(name in line and name in self._writing.links(line) for line in lines)

    def _listing(self, lines: list[str], change: FileChange) -> list[str]:
        """*lines* with a wanted memory: its line in step, its links renamed, or a new line."""
        if change.renamed and self._is_listed(lines, change.renamed):
            return [self._writing.relinked(line, change.renamed, change.name) for line in lines]
        if not self._is_listed(lines, change.name):
            if self._writing.IS_SORTED:
                return self._with_new(lines, change)
            if change.before not in (None, change.after) and self._writing.entry_line(change.name, change.before or ""):
                return lines  # a person left an active memory out, and a change of its text is no reason to list it
            earlier = self._earlier(change)
            if earlier is not None and not earlier.hunks:
                return lines
            back = _placed(lines, earlier.reversed(), self._best) if earlier else lines
            is_whole = back is not None and self._is_listed(back, change.name)
            return back if back is not None and is_whole else self._with_new(lines, change)
        entries = list(self._writing.entries(_bare(lines)))
        start = next((entry.start for entry in entries if entry.name == change.name), None)
        if start is None:
            return lines
        old = lines[start].rstrip("\r\n")
        line = self._writing.entry_line(change.name, change.after or "", old, change.before or "")
        if line == old:
            return lines
        rest = [*lines[:start], *lines[start + 1 :]]
        if self._best(rest, line) == self._best(rest, old):
            return [*lines[:start], line + lines[start][len(old) :], *lines[start + 1 :]]
        return self._with_line(rest, line, self._best(rest, line))

    def _with_new(self, lines: list[str], change: FileChange) -> list[str]:
        if self._text is None:
            names = store_of(self._root).listing(self._root).names
            made = self._writing.new_index(sorted(names - {change.name}))
            if made is None:
                return lines
            lines = made.splitlines(keepends=True)
        line = self._writing.entry_line(change.name, change.after or "")
        at = self._writing.place(_bare(lines), line, change.after or "", self._text_of)
        return self._with_line(lines, line, at)

    def _with_line(self, lines: Sequence[str], line: str, at: int) -> list[str]:
        end = "\r\n" if any(text.endswith("\r\n") for text in lines) else "\n"
        above = [*lines[:at]]
        if above and not above[-1].endswith("\n"):
            above[-1] += end
        return [*above, line + end, *lines[at:]]

    def _best(self, rest: Sequence[str], line: str) -> int:
        """The place that the format gives to a line among the lines *rest*."""
        return self._writing.place(_bare(rest), line.rstrip("\r\n"), "", self._text_of)

    def _text_of(self, name: str) -> str:
        return text_at(os.path.join(self._root, name)) or ""

    def _applied(self, lines: list[str], change: FileChange) -> list[str]:
        """*lines* with the planned change; if they are not as they were, with as much of it as fits, and in step."""
        found = _placed(lines, change.index, self._best)
        if found is not None and _digest(lines) == change.index.was:
            return found
        found = lines if found is None else found
        if not self._is_listed([line for hunk in change.index.hunks for line in hunk.after], change.name):
            return self._writing.without(found, change.name)
        return found if self._is_listed(found, change.name) else self._with_new(found, change)


def hunks_of(old: Sequence[str], new: Sequence[str], is_in_order: bool) -> tuple[Hunk, ...]:
    """The places in which two lists of lines differ."""
    start = next((number for number, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    start = min(len(old), len(new)) if start is None else start
    matcher = SequenceMatcher(None, old[start:], new[start:], autojunk=False)
    return tuple(
        Hunk(a, old[a - 1] if a else "", tuple(old[a:b]), tuple(new[c:d]), is_in_order)
        for tag, *places in matcher.get_opcodes()
        if tag != "equal"
        for a, b, c, d in [[start + place for place in places]]
    )


def _placed(lines: list[str], change: IndexChange, best: Callable[[Sequence[str], str], int]) -> list[str] | None:
    """*lines* with the hunks of *change*, each where its lines are now; None if the lines of one are not there."""
    is_same = _digest(lines) == change.was
    found, shift = lines, 0
    for hunk in change.hunks:
        at = hunk.at + shift if is_same else _place_of(found, hunk, hunk.at + shift, best)
        if at is None:
            return None
        found = [*found[:at], *found[at + len(hunk.before) :]]
        is_one = hunk.before and len(hunk.after) == 1
        if is_one and hunk.is_in_order and not is_same:  # its neighbours may be others now
            at = best(found, hunk.after[0])
        found = [*found[:at], *hunk.after, *found[at:]]
        shift += len(hunk.after) - len(hunk.before)
    return found


def _place_of(lines: Sequence[str], hunk: Hunk, at: int, best: Callable[[Sequence[str], str], int]) -> int | None:
    """The line from which *hunk* takes lines away, or before which it adds some; None if there is none.

    Of several places, the place that is nearest to *at* counts.
    """
    if not hunk.before:
        if hunk.is_in_order:
            return best(lines, hunk.after[0])
        places = [number + 1 for number, line in enumerate(lines) if line == hunk.above] or [0] * (not hunk.above)
    else:
        size = len(hunk.before)
        starts = range(len(lines) - size + 1)
        places = [start for start in starts if tuple(lines[start : start + size]) == hunk.before]
    if not places and not hunk.before:
        return best(lines, hunk.after[0])
    return min(places, key=lambda place: abs(place - at), default=None)


def _digest(lines: Sequence[str]) -> str:
    return sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def _bare(lines: Sequence[str]) -> list[str]:
    return [line.rstrip("\r\n") for line in lines]
