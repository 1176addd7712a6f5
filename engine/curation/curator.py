"""The curator performs operations: lock, look again, journal, files, index. And it undoes them."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from engine.curation.files import FileChange, IndexChange, diff, require_unchanged, text_at, write
from engine.curation.index_lines import IndexFile
from engine.curation.journal import DONE, INCOMPLETE, PENDING, UNDO, Deed, Effect, Journal, text_hash, tombstone_of
from engine.curation.operations import Create, Plan, memory_in
from engine.errors import ChangedSinceError, CurationError, JournalError, TombstoneError
from engine.lean.record import Record, replace
from engine.paths import journal_file
from engine.phrases.writing import carry
from engine.stores.files import remove_leftovers
from engine.stores.lock import WAIT_S, locked
from engine.stores.writing import writing_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.curation.operations import Operation
    from engine.memory import Memory
    from engine.stores.writing import Writing

MOST_TRIES = 5
"""How often an index is written that another program changes at the same time."""

UNCHANGED = "Nothing was changed."
HALF_DONE = "The change is half done. The next change with memsift finishes it, if it can."
ALL_BUT_NOTED = "All files are changed. The next change with memsift enters it into the journal; then it can be undone."


def utc_now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class PerformedOperation(Record):
    """A performed operation: its number, by which it can be undone, and how many old operations were thrown away."""

    number: int
    plan: Plan
    forgotten: int = 0


class Curator:
    """Changes memories of any root, through one journal. Close it after use.

    `recovered` are the operations of processes that died, which were finished when the curator was opened.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        journal: Journal | None = None,
        now: Callable[[], str] = utc_now,
        wait_s: float = WAIT_S,
    ) -> None:
        """Raises JournalError. *wait_s*: how long to wait for another program that changes the same root."""
        self._environ, self._now, self._wait_s = environ, now, wait_s
        self.journal = journal or Journal(journal_file(environ))
        try:
            self.recovered = self._recover()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.journal.close()

    def plan(self, operation: Operation) -> Plan:
        """The changes that *operation* would make, with those of the index. Raises CurationError."""
        plan = operation.plan(self._now())
        if isinstance(operation, Create) and not operation.is_forced:
            memory = memory_in(plan.effect.files[0])
            if stone := self.journal.tombstone(text_hash(memory.summary.title, memory.body)):
                because = f" ({stone.reason})" if stone.reason else ""
                rejected = f"This text was rejected on {stone.at[:10]} as {stone.title!r}{because}"
                raise TombstoneError(f"{rejected}, so it is not made again. --force makes it all the same.")
        return self._with_index(plan)

    def perform(self, plan: Plan) -> PerformedOperation:
        """Carry out a plan. Raises ChangedSinceError, with the difference, if a file changed after it was planned."""
        with self._locked(plan.roots, self._wait_s):
            for change in plan.effect.files:
                require_unchanged(change)
            plan = plan if plan.undoes else self._with_index(plan)
            effect = plan.effect
            deed = Deed(0, self._now(), plan.kind, plan.summary, plan.memories, plan.roots, PENDING, plan.undoes, None)
            try:
                number, forgotten = self.journal.begin(deed, effect)
            except JournalError as error:
                raise JournalError(f"{error} {UNCHANGED}") from None
            try:
                self._carry_out(effect.files)
                carry(effect.carried, self._environ)
            except CurationError as error:
                told = self._take_back(number, effect)
                if told == UNCHANGED and isinstance(error, ChangedSinceError):
                    raise ChangedSinceError(f"{error} {told}", error.detail) from None
                raise CurationError(f"{error} {told}") from None
            try:
                self.journal.finish(number, effect)
            except JournalError as error:
                raise JournalError(f"{error} {ALL_BUT_NOTED}") from None
        return PerformedOperation(number, plan, forgotten)

    def mark(self, memories: Sequence[Memory], reason: str, *, is_rejected: bool) -> None:
        """Set a tombstone for the text of each memory, or take it away. The memories stay. Raises JournalError."""
        stones = [tombstone_of(memory, reason, self._now()) for memory in memories]
        self.journal.set_tombstones(stones if is_rejected else (), () if is_rejected else stones)

    def plan_undo(self, number: int | None = None) -> Plan:
        """The changes that undo an operation, or the last operation. Raises JournalError and ChangedSinceError."""
        deed = self._undoable(number)
        effect = self.journal.effect(deed.number).reversed()
        for change in effect.files:
            if not os.path.isdir(change.root):
                problem = f"{change.root} does not exist any more, so operation {deed.number} stays."
                fix = f"If it was moved, say where it is now: memsift adopt {quote(change.root)} --root PATH"
                raise CurationError(f"{problem} {fix}")
            if (now := text_at(change.path)) != change.before:
                problem = f"{change.path} was changed after operation {deed.number} ({deed.summary})"
                fix = "Undo or repair the later change first; `memsift history` lists the changes of memsift."
                difference = diff(change.name, change.before, now)
                raise ChangedSinceError(f"{problem}, so that is not undone. {fix}", difference)
        summary = f"Undid {deed.number} ({deed.summary})"
        return Plan(UNDO, summary, deed.memories, deed.roots, effect, undoes=deed.number)

    def _undoable(self, number: int | None) -> Deed:
        deed = self.journal.last() if number is None else self.journal.deed(number)
        if deed is None and number is None:
            raise JournalError("There is nothing to undo. `memsift history` lists the operations.")
        if deed is None:
            raise JournalError(f"There is no operation {number} in the journal. `memsift history` lists them.")
        if deed.undone_by is not None:
            raise JournalError(f"Operation {number} is undone already, by operation {deed.undone_by}.")
        if deed.state != DONE:
            raise JournalError(f"Operation {number} is {deed.state}, so it cannot be undone as a whole.")
        return deed

    def _with_index(self, plan: Plan) -> Plan:
        """*plan* with the changes of the indexes, and with a word on what a client will not load any more."""
        indexes: dict[tuple[str, str], IndexFile] = {}
        files = []
        for file in plan.effect.files:
            writing = writing_of(file.root, file.name)
            key = file.root, writing.INDEX_FILE
            if key not in indexes:
                earlier = partial(self._earlier, plan.memories, writing)
                indexes[key] = IndexFile(file.root, writing, earlier)
            files += indexes[key].planned([file])
        notices = [f"; {name} {index.notice}" for (_, name), index in indexes.items() if index.notice]
        summary = plan.summary if any(notice in plan.summary for notice in notices) else plan.summary + "".join(notices)
        return replace(plan, summary=summary, effect=replace(plan.effect, files=tuple(files)))

    def _earlier(self, memories: Sequence[str], writing: Writing, change: FileChange) -> IndexChange | None:
        """How the index changed when a memory that comes back was put away; None if the journal does not say."""
        deeds = [deed for memory in memories for deed in self.journal.deeds(memory, change.root) if deed.state == DONE]
        for deed in sorted(deeds, key=lambda deed: -deed.number):
            for file in self.journal.effect(deed.number).files:
                is_same = (file.root, file.name) == (change.root, change.name)
                if is_same and _is_listed(writing, file, file.before) and not _is_listed(writing, file, file.after):
                    return file.index
        return None

    def _carry_out(self, files: Sequence[FileChange]) -> None:
        """Write the files, those that arrive before those that go, then the indexes."""
        listed: dict[tuple[str, Writing], list[FileChange]] = {}
        for change in files:
            listed.setdefault((change.root, writing_of(change.root, change.name)), []).append(change)
        for change in files:
            if change.before != change.after:
                write(change)
        for (root, writing), changes in listed.items():
            _save_index(root, writing, changes)

    def _take_back(self, number: int, effect: Effect) -> str:
        """Give the files of an operation that failed their old text; a sentence on how that went."""
        try:
            written = [file for file in effect.files if text_at(file.path) == file.after]
            self._carry_out([change.reversed() for change in reversed(written)])
            self.journal.cancel(number)
        except CurationError:
            return HALF_DONE
        return UNCHANGED

    def _locked(self, roots: Sequence[str], wait_s: float) -> ExitStack:
        """The locks on *roots*, always taken in the same order, so that two processes cannot wait for each other."""
        with ExitStack() as stack:
            for root in sorted(set(roots)):
                stack.enter_context(locked(root, writing_of(root).LOCK_FOLDER, self._environ, wait_s))
            return stack.pop_all()

    def _recover(self) -> tuple[Deed, ...]:
        """Finish the operations whose processes died. An operation whose root is locked is still going on."""
        found = []
        for deed in self.journal.pending():
            try:
                with self._locked(deed.roots, 0):
                    found.append(self._finish(deed.number))
            except CurationError:
                continue
        return tuple(filter(None, found))

    def _finish(self, number: int) -> Deed | None:
        """Finish an operation, of which any number of files may be written. None if another process has finished it."""
        deed = self.journal.deed(number)
        if deed is None or deed.state != PENDING:
            return None
        effect = self.journal.effect(number)
        usable = tuple(file for file in effect.files if text_at(file.path) in (file.before, file.after))
        self._carry_out(usable)
        for folder in {folder for file in effect.files for folder in (file.root, os.path.dirname(file.path))}:
            remove_leftovers(os.path.realpath(folder))
        is_whole = len(usable) == len(effect.files)
        carry(effect.carried if is_whole else (), self._environ)
        self.journal.finish(number, effect if is_whole else Effect(()), DONE if is_whole else INCOMPLETE)
        return self.journal.deed(number)


def _is_listed(writing: Writing, file: FileChange, text: str | None) -> bool:
    """Whether a file with this text holds a memory that its index lists."""
    return text is not None and bool(writing.entry_line(file.name, text))


def _save_index(root: str, writing: Writing, changes: Sequence[FileChange], tries_left: int = MOST_TRIES) -> None:
    """Write the changes of an index. Programs that take no lock change other lines of it at any moment."""
    index = IndexFile(root, writing)
    index.apply(changes)
    try:
        index.save()
    except ChangedSinceError:
        if tries_left == 1:
            raise
        _save_index(root, writing, changes, tries_left - 1)
