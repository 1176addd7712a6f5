"""Finding the memories that a command names, and changing them through the engine's curator."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.curation.curator import Curator
from engine.curation.journal import INCOMPLETE
from engine.curation.operations import MOVE
from engine.errors import MemsiftError, UnknownMemoryError
from engine.explaining.explain import near_ids
from engine.lean.record import Record
from engine.paths import root_key, state_home
from engine.roots import distinct_id
from engine.stores.files import write_whole
from tui.workspace import opening
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from engine.curation.journal import Journal
    from engine.curation.operations import Plan
    from engine.memory import MemorySummary


class FoundMemory(Record):
    """A memory and the root that holds it."""

    root: str
    memory: MemorySummary

    @property
    def name(self) -> str:
        """The id with its root, which tells it apart where several roots have the id."""
        return f"{self.memory.id}@{root_key(self.root)}"


def distinct_ids(found: Sequence[FoundMemory]) -> list[str]:
    """The id of each memory as the app shows it where *found* are the memories of all open roots."""
    taken: set[str] = set()
    ids = []
    for memory in found:
        ids.append(distinct_id(memory.memory.id, memory.root, taken))
        taken.add(ids[-1])
    return ids


def memories_of(roots: Sequence[str]) -> list[FoundMemory]:
    """Every memory of *roots*, by root and path. Raises RootError."""
    found = []
    for root in roots:
        with opening.opened_index(root) as index:
            found += [FoundMemory(root, summary) for summary in index.summaries()]
    return found


def to_change(ids: Sequence[str], roots: Sequence[str], environ: Mapping[str, str]) -> list[FoundMemory]:
    """As `chosen`, for a change. An operation whose process died is finished first: it may move or remove a memory.

    The error says where a memory was moved to. Raises JournalError.
    """
    with opened_curator(environ) as curator:
        return chosen(ids, roots, partial(_moved, curator.journal))


def _moved(journal: Journal, memory_id: str) -> str:
    """A sentence about the last move of a memory; empty if it was not moved."""
    moves = [deed for deed in journal.deeds(memory_id) if (deed.kind, deed.undone_by) == (MOVE, None)]
    return f"Operation {moves[-1].number} moved it to {moves[-1].roots[-1]}: name that with --root." if moves else ""


def chosen(ids: Sequence[str], roots: Sequence[str], moved: Callable[[str], str] = lambda _: "") -> list[FoundMemory]:
    """The memories with these ids, in this order, as their files are now. Errors as for `named`.

    All memories are read only for the error, because a root may have very many.
    """
    found: list[FoundMemory] = []
    for root in roots:
        with opening.opened_index(root) as index:
            found += [FoundMemory(root, memory.summary) for memory_id in ids if (memory := index.memory(memory_id))]
    is_plain = len(found) == len({holding.memory.id for holding in found}) == len(ids)
    return named(ids, found if is_plain else memories_of(roots), moved)


def named(
    ids: Sequence[str], found: Sequence[FoundMemory], moved: Callable[[str], str] = lambda _: ""
) -> list[FoundMemory]:
    """The memories with these ids, in this order. UnknownMemoryError, with similar ids, also for an id in two roots.

    *moved* says where the memory of an unknown id went, or nothing.
    """
    return [_named(memory_id, found, moved) for memory_id in ids]


def _named(memory_id: str, found: Sequence[FoundMemory], moved: Callable[[str], str]) -> FoundMemory:
    fitting = [memory for memory in found if memory.memory.id == memory_id] or [
        memory for memory in found if memory.name == memory_id
    ]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        roots = " and ".join(memory.root for memory in fitting)
        names = " or ".join(memory.name for memory in fitting)
        raise UnknownMemoryError(
            f"There is a memory {memory_id!r} in {roots}. Name a single root with --root, or say {names}."
        )
    near = near_ids(memory_id, [memory.memory.id for memory in found])
    instead = f"There is {', '.join(map(repr, near))}." if near else "`memsift list` prints the ids of memories."
    raise UnknownMemoryError(f"There is no memory {memory_id!r} in these roots. {moved(memory_id) or instead}")


@contextmanager
def opened_curator(environ: Mapping[str, str]) -> Iterator[Curator]:
    """The curator. stderr tells which operations of a process that died were finished. Raises JournalError."""
    with closing(Curator(environ)) as curator:
        for sentence in recovered(curator):
            tell(sentence)
        yield curator


def recovered(curator: Curator) -> list[str]:
    """A sentence for each operation of a process that died, which was finished when *curator* was opened."""
    ends = {INCOMPLETE: "a file of it has changed since, so only the rest is finished now"}
    return [
        f"Operation {deed.number} ({deed.summary}) was interrupted, and {ends.get(deed.state, 'it is finished now')}."
        for deed in curator.recovered
    ]


def mark_rejected(found: Sequence[FoundMemory], environ: Mapping[str, str], *, is_rejected: bool) -> None:
    """Say that the texts of memories were rejected, so that they are not made again; or take that back.

    Raises JournalError.
    """
    memories = []
    for holding in found:
        with opening.opened_index(holding.root) as index:
            memories += [memory] if (memory := index.memory(holding.memory.id)) else []
    with opened_curator(environ) as curator:
        curator.mark(memories, "rejected", is_rejected=is_rejected)


def carry_out(curator: Curator, plan: Plan) -> int:
    """Perform *plan*, and tell what was done and how to undo it; the operation's number. Raises CurationError."""
    outcome = curator.perform(plan)
    undo = f"memsift undo {outcome.number}"
    tell(f"{plan.summary}. To {'do it again' if plan.undoes else 'undo'}: {undo}")
    if outcome.forgotten:
        tell(f"The journal is full: the {outcome.forgotten:,} oldest operations were thrown away and cannot be undone.")
    return outcome.number


def edited_in_editor(text: str, suffix: str, environ: Mapping[str, str]) -> str | None:
    """*text* as the person left it in their editor; None if they left it unchanged. Raises MemsiftError.

    The line ends and the end of the file stay as they were, whatever the editor makes of them.
    """
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    editor = environ.get("VISUAL") or environ.get("EDITOR")
    try:
        new = click.edit(plain, editor=editor, extension=suffix, require_save=False)
    except click.ClickException as error:
        raise MemsiftError(
            f"The editor cannot be used: {error.message}. Set EDITOR, or use --set and --body."
        ) from None
    if new is not None and not plain.endswith("\n"):
        new = new.removesuffix("\n")
    if new is None or new == plain:
        return None
    return new.replace("\n", "\r\n") if "\r\n" in text else new


def keep_refused(file: str, text: str, environ: Mapping[str, str]) -> str:
    """Keep a text that was refused, because a person wrote it. *file*: where it belongs. Gives the path of the copy."""
    path = str(Path(state_home(environ)) / f"refused-{Path(file).name}")
    write_whole(path, text.encode("utf-8"))
    return path


def resolved(roots: Sequence[str]) -> list[str]:
    """The roots of the options --root, or all that the hook uses."""
    return [os.path.realpath(root) for root in opening.known_roots(roots, os.environ)]
