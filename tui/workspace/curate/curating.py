"""The memories that a command names, and changes of memories by commands and screens."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.curation.curator import Curator
from engine.curation.files import diff, diff_of, text_at
from engine.curation.journal import DONE, INCOMPLETE, UNDO
from engine.curation.operations import MOVE
from engine.errors import ChangedSinceError, JournalError, MemsiftError, UnknownMemoryError
from engine.explaining.explain import near_ids
from engine.lean.record import Record, replace
from engine.moved import note_first_commit
from engine.opening import reread
from engine.paths import root_key, state_home
from engine.roots import distinct_id
from engine.stores.files import write_whole
from engine.stores.writing import writing_of
from tui.workspace import opening
from tui.workspace.stderr import tell, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from engine.curation.journal import Deed, Journal
    from engine.curation.operations import Operation, Plan
    from engine.memory import MemorySummary
    from engine.stores.writing import FormField

    Tell = Callable[[int, int], bool]
    """Called before each operation, with the number of operations that are done, and of all. False ends the work."""


class FoundMemory(Record):
    """A memory and the root that holds it."""

    root: str
    memory: MemorySummary

    @property
    def name(self) -> str:
        """The id with its root, which tells it apart where several roots have the id."""
        return f"{self.memory.id}@{root_key(self.root)}"


def distinct_ids(found: Sequence[FoundMemory]) -> list[str]:
    """The id of each memory in the app while the roots of *found* are open together: no two are the same."""
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

    Only these memories are read. All memories are read where an error must name similar ids.
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
    """The memories with these ids, in this order.

    Raises UnknownMemoryError, with similar ids, for an unknown id and for an id that two roots hold. *moved* gives a
    sentence about the place to which the memory of an unknown id was moved, or an empty text.
    """
    named_ones: list[FoundMemory] = []
    for memory_id in ids:
        fitting = [memory for memory in found if memory_id in (memory.memory.id, memory.name)]
        fitting = [memory for memory in fitting if memory.memory.id == memory_id] or fitting
        if not fitting:
            near = near_ids(memory_id, [memory.memory.id for memory in found])
            instead = (
                f"There is {', '.join(map(repr, near))}." if near else "`memsift list` prints the ids of memories."
            )
            raise UnknownMemoryError(f"There is no memory {memory_id!r} in these roots. {moved(memory_id) or instead}")
        if fitting[1:]:
            roots = " and ".join(memory.root for memory in fitting)
            names = " or ".join(memory.name for memory in fitting)
            raise UnknownMemoryError(
                f"There is a memory {memory_id!r} in {roots}. Name a single root with --root, or say {names}."
            )
        named_ones += fitting
    return named_ones


@contextmanager
def opened_curator(environ: Mapping[str, str]) -> Iterator[Curator]:
    """The curator. stderr tells which operations of a process that died were finished. Raises JournalError."""
    with closing(Curator(environ)) as curator:
        for sentence in recovered(curator):
            tell(sentence)
        yield curator


def recovered(curator: Curator) -> list[str]:
    """A sentence for each operation that *curator* finished when it was opened, because its process had died."""
    ends = {INCOMPLETE: "a file of it has changed since, so only the rest is finished now"}
    return [
        f"Operation {deed.number} ({deed.summary}) was interrupted, and {ends.get(deed.state, 'it is finished now')}."
        for deed in curator.recovered
    ]


def mark_rejected(found: Sequence[FoundMemory], environ: Mapping[str, str], *, is_rejected: bool) -> None:
    """Note that a person rejected the texts of memories, so that they are not made again; or take the note back.

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
    with uninterrupted():
        outcome = curator.perform(plan)
        for root in plan.roots:
            note_first_commit(root, os.environ)
        undo = f"memsift undo {outcome.number}"
        tell(f"{plan.summary}. To {'do it again' if plan.undoes else 'undo'}: {undo}")
        if outcome.forgotten:
            gone = f"the {outcome.forgotten:,} oldest operations were thrown away and cannot be undone"
            tell(f"The journal is full: {gone}.")
    return outcome.number


def edited_in_editor(text: str, file: str, environ: Mapping[str, str], *, is_in_place: bool = False) -> str | None:
    """The *text* of a file as the person left it in their editor; None if they left it unchanged. Raises MemsiftError.

    They edit a copy, or *is_in_place* the file, where memsift does not write the text. The line ends and the end of the
    file stay as they were in a copy, whatever the editor makes of them.
    """
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    editor = environ.get("VISUAL") or environ.get("EDITOR")
    try:
        if is_in_place:
            click.edit(editor=editor, filename=file)
            return new if (new := text_at(file)) != text else None
        new = click.edit(plain, editor=editor, extension=Path(file).suffix, require_save=False)
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
    """Keep a copy of a text that a person wrote for *file* and that was refused. Gives the path of the copy."""
    path = str(Path(state_home(environ)) / f"refused-{Path(file).name}")
    write_whole(path, text.encode("utf-8"))
    return path


def resolved(roots: Sequence[str]) -> list[str]:
    """The roots of the options --root, or all that the hook uses."""
    return [os.path.realpath(root) for root in opening.known_roots(roots, os.environ)]


TODAY = "2000-01-01T00:00:00Z"
"""Any time: a form shows none."""


class Done(Record):
    """The operations that were performed: their numbers and sentences, oldest first. `error` ended the work, if any.

    `is_reread`: whether the index file holds the changes.
    """

    numbers: tuple[int, ...] = ()
    sentences: tuple[str, ...] = ()
    error: MemsiftError | None = None
    is_reread: bool = True


def difference(operation: Operation, read: Mapping[str, str | None]) -> str:
    """The difference that an operation would make. Raises MemsiftError for a refused one. *read*: see `perform`."""
    with closing(Curator(os.environ)) as curator:
        require_as_read(read)
        return diff_of(curator.plan(operation).effect.files)


def merged_form(
    kept: MemorySummary, others: Sequence[MemorySummary], read: Mapping[str, str | None]
) -> tuple[Sequence[FormField], dict[str, str]]:
    """The form of *kept* after a merge, and longer texts for it: with the lines of *others* that it lacks.

    Raises CurationError.
    """
    memories = [kept, *others]
    texts = [(read[memory.file] or "").removeprefix("\ufeff") for memory in memories]
    writings = [writing_of(memory.root, memory.own.file) for memory in memories]
    forms = [
        {field.name: field.text for field in writing.form(text)} for writing, text in zip(writings, texts, strict=True)
    ]
    by_id = {other.own.id: text for other, text in zip(others, texts[1:], strict=True)}
    merged = writings[0].form(writings[0].merged(texts[0], by_id, "", TODAY))
    suggested: dict[str, str] = {}
    for field in merged:
        own, gap = forms[0][field.name].rstrip(), "\n" if field.is_list else "\n\n"
        known = {*filter(None, field.text.splitlines())}
        lacking = [
            "\n".join(line for line in form.get(field.name, "").splitlines() if line not in known).strip("\n")
            for form in forms[1:]
        ]
        if field.is_long and any(lacking):
            longer = gap.join(filter(None, [own, *lacking]))
            suggested[field.name] = field.text.replace(own, longer, 1) if own else longer
    return merged, suggested


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
            return _carried_out(roots, curator, plans, len(plans), tell)
    except ChangedSinceError as error:
        return Done(error=error, is_reread=_reread(roots, lambda _: None))
    except MemsiftError as error:
        return Done(error=error)


def undo(roots: Sequence[str], batches: Sequence[tuple[int, ...]], tell: Tell) -> Done:
    """Take back the last change of memories in *roots*, also a change by a command.

    If it belongs to one of *batches*, the whole batch is taken back. `sentences` are those of the changes taken back.
    """
    return _undo(roots, partial(_last, batches), "There is no change to take back in these memories.", tell)


def redo(roots: Sequence[str], batches: Sequence[tuple[int, ...]], tell: Tell) -> Done:
    """Do again the change that was taken back last, unless another change has followed. Else as `undo`."""
    return _undo(roots, partial(_last_undone, batches), "There is no change to do again in these memories.", tell)


def _undo(roots: Sequence[str], choose: Callable[[Sequence[Deed]], list[Deed]], nothing: str, tell: Tell) -> Done:
    """Take back the operations that *choose* gives of all in *roots*. *nothing* is told if there is none."""
    try:
        with closing(Curator(os.environ)) as curator:
            by_number = {change.number: change for root in roots for change in curator.journal.deeds(root=root)}
            deeds = choose([by_number[number] for number in sorted(by_number)])
            if not deeds:
                return Done(error=JournalError(nothing))
            plans = (curator.plan_undo(deed.number) for deed in deeds)
            done = _carried_out(roots, curator, plans, len(deeds), tell)
            back = deeds[: len(done.numbers)]
            numbers, sentences = tuple(deed.number for deed in back), tuple(deed.summary for deed in back)
            return replace(done, numbers=numbers, sentences=sentences)
    except MemsiftError as error:
        return Done(error=error)


def _last(batches: Sequence[tuple[int, ...]], deeds: Sequence[Deed]) -> list[Deed]:
    """The newest operation that can be taken back, with the others of its batch; the newest first."""
    found = [deed for deed in reversed(deeds) if deed.state == DONE and deed.kind != UNDO and deed.undone_by is None]
    batch = next((numbers for numbers in batches if found and found[0].number in numbers), ())
    return [deed for deed in found if deed.number in batch] or found[:1]


def _last_undone(batches: Sequence[tuple[int, ...]], deeds: Sequence[Deed]) -> list[Deed]:
    """The newest undo that no change has followed, with the others of its batch; the newest first."""
    done = {deed.number: deed for deed in deeds if deed.state == DONE}
    newest = max((number for number, deed in done.items() if deed.kind != UNDO), default=0)
    found = []
    for deed in reversed(done.values()):
        undone = done.get(deed.undoes or 0)
        if deed.number > newest and deed.undone_by is None and undone and undone.kind != UNDO:
            found.append(replace(deed, summary=undone.summary))
    batch = next((numbers for numbers in batches if found and found[0].undoes in numbers), ())
    return [deed for deed in found if deed.undoes in batch] or found[:1]


def _carried_out(roots: Sequence[str], curator: Curator, plans: Iterable[Plan], count: int, tell: Tell) -> Done:
    """Perform *plans* until one is refused or *tell* ends the work. Then bring the index files up to date."""
    numbers: list[int] = []
    done: list[Plan] = []
    error: MemsiftError | None = None
    try:
        for plan in plans:
            if not tell(len(done), count):
                break
            numbers.append(curator.perform(plan).number)
            done.append(plan)
    except MemsiftError as refused:
        error = refused
    changed = [root for root in roots if any(root in plan.roots for plan in done)]
    is_reread = _reread(changed, lambda root: _names(root, done))
    return Done(tuple(numbers), tuple(plan.summary for plan in done), error, is_reread)


def _reread(roots: Sequence[str], names: Callable[[str], set[bytes] | None]) -> bool:
    """Bring the index files of *roots* up to date, and say whether each of them is.

    *names* gives the changed files of a root, or None to look at all of its files.
    """
    known = [reread(root, os.environ, names(root)) for root in roots]
    return all(known)


def _names(root: str, plans: Sequence[Plan]) -> set[bytes] | None:
    """The names of the changed files of *root*; None if a file is new or gone."""
    changes = [file for plan in plans for file in plan.effect.files if file.root == root]
    if any(change.before is None or change.after is None for change in changes):
        return None
    return {os.fsencode(change.name) for change in changes}


def require_as_read(read: Mapping[str, str | None]) -> None:
    """Raise ChangedSinceError, with the difference, if a file has another text now. *read*: path -> text."""
    for path, text in read.items():
        now = text_at(path)
        if now != text:
            raise ChangedSinceError(
                f"{path} was changed by another program since it was shown. Nothing was done. It is shown anew now.",
                diff(Path(path).name, text, now),
            )
