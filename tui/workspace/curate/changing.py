"""Changing memories from the screens: several operations at once, and taking the last change back.

Any thread may call these functions. They change files and the index file, and leave the workspace as it is.
"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from engine.curation.curator import Curator
from engine.curation.files import diff, text_at
from engine.curation.journal import DONE, UNDO
from engine.errors import ChangedSinceError, JournalError, MemsiftError
from engine.lean.record import Record
from engine.opening import reread
from tui.workspace.curate.curating import recovered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.curation.journal import Deed
    from engine.curation.operations import Operation, Plan

    Tell = Callable[[int, int], bool]
    """Called before each operation, with the number of operations that are done, and of all. False ends the work."""


class Done(Record):
    """Performed operations: their numbers and sentences, oldest first. `error` ended them, or is None.

    `is_reread`: whether the index file holds the changes.
    """

    numbers: tuple[int, ...] = ()
    sentences: tuple[str, ...] = ()
    error: MemsiftError | None = None
    is_reread: bool = True


def check(operation: Operation, read: Mapping[str, str | None]) -> None:
    """Raises MemsiftError if the operation would be refused now. *read* as for `perform`."""
    with closing(Curator(os.environ)) as curator:
        require_as_read(read)
        curator.plan(operation)


def perform(roots: Sequence[str], operations: Sequence[Operation], read: Mapping[str, str | None], tell: Tell) -> Done:
    """Perform the operations on memories of *roots*, each with a number of its own.

    All of them are planned first, so none is performed if one is refused. *read*: the texts of files as they were
    shown. A file with another text is refused. An error is in the result, not an exception.
    """
    try:
        with closing(Curator(os.environ)) as curator:
            try:
                require_as_read(read)
                plans = [curator.plan(operation) for operation in operations]
            except MemsiftError as error:
                if told := recovered(curator):  # the memories were shown as they were before
                    raise ChangedSinceError(f"{' '.join(told)} {error}", getattr(error, "detail", "")) from None
                raise
            return _carried_out(roots, curator, plans, tell)
    except MemsiftError as error:
        if not isinstance(error, ChangedSinceError):
            return Done(error=error)
        return Done(error=error, is_reread=_reread(roots, lambda _: None))


def undo(roots: Sequence[str], batches: Sequence[tuple[int, ...]], tell: Tell) -> Done:
    """Take back the last change of memories in *roots*, also a change by a command.

    If it belongs to one of *batches*, the whole batch is taken back. `sentences` are those of the changes taken back.
    """
    try:
        with closing(Curator(os.environ)) as curator:
            by_number = {change.number: change for root in roots for change in curator.journal.deeds(root=root)}
            deeds = _last([by_number[number] for number in sorted(by_number)], batches)
            done = Done(error=None if deeds else JournalError("There is no change to take back in these memories."))
            for place, deed in enumerate(deeds):
                if done.error or not tell(place, len(deeds)):
                    break
                done = _taken_back(roots, curator, deed, done)
            return done
    except MemsiftError as error:
        return Done(error=error)


def _last(deeds: Sequence[Deed], batches: Sequence[tuple[int, ...]]) -> list[Deed]:
    """The newest operation that can be taken back, with the others of its batch; the newest first."""
    found = [deed for deed in reversed(deeds) if deed.state == DONE and deed.kind != UNDO and deed.undone_by is None]
    batch = next((numbers for numbers in batches if found and found[0].number in numbers), ())
    return [deed for deed in found if deed.number in batch] or found[:1]


def _taken_back(roots: Sequence[str], curator: Curator, deed: Deed, done: Done) -> Done:
    try:
        plan = curator.plan_undo(deed.number)
    except MemsiftError as error:
        return Done(done.numbers, done.sentences, error, done.is_reread)
    now = _carried_out(roots, curator, [plan], lambda *_: True)
    if now.error:
        return Done(done.numbers, done.sentences, now.error, done.is_reread)
    sentences = (*done.sentences, deed.summary)
    return Done((*done.numbers, deed.number), sentences, None, done.is_reread and now.is_reread)


def _carried_out(roots: Sequence[str], curator: Curator, plans: Sequence[Plan], tell: Tell) -> Done:
    """Perform *plans* until one is refused or *tell* ends the work. Then bring the index files up to date."""
    numbers: list[int] = []
    error: MemsiftError | None = None
    for plan in plans:
        if not tell(len(numbers), len(plans)):
            break
        try:
            numbers.append(curator.perform(plan).number)
        except MemsiftError as refused:
            error = refused
            break
    done = plans[: len(numbers)]
    changed = [root for root in roots if any(root in plan.roots for plan in done)]
    is_reread = _reread(changed, lambda root: _names(root, done))
    return Done(tuple(numbers), tuple(plan.summary for plan in done), error, is_reread)


def _reread(roots: Sequence[str], names: Callable[[str], set[bytes] | None]) -> bool:
    """Bring the index files of *roots* up to date with the files *names*, or with all; whether all of them are."""
    known = [reread(root, os.environ, names(root)) for root in roots]
    return all(known)


def _names(root: str, plans: Sequence[Plan]) -> set[bytes] | None:
    """The changed files of *root*; None if any appeared or went, so that all files must be looked at."""
    changes = [file for plan in plans for file in plan.effect.files if file.root == root]
    if any(change.before is None or change.after is None for change in changes):
        return None
    return {os.fsencode(change.name) for change in changes}


def require_as_read(read: Mapping[str, str | None]) -> None:
    """Raises ChangedSinceError, with the difference, if a file has another text than in *read*, by path."""
    for path, text in read.items():
        now = text_at(path)
        if now != text:
            raise ChangedSinceError(
                f"{path} was changed by another program since it was shown. Nothing was done. It is shown anew now.",
                diff(Path(path).name, text, now),
            )
