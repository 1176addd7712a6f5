"""The base of screens on which memories are changed: their keys, the worker that changes, and what is told of it."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.app import SuspendNotSupported
from textual.worker import get_current_worker

from engine.curation.files import text_at
from engine.curation.operations import Archive, Edit, Merge, Move, Restore, Retire, Rewrite, Tag
from engine.errors import ChangedSinceError, CurationError
from engine.roots import home_of
from engine.stores.markdown.parts import is_part
from engine.stores.roots import readable_root
from engine.stores.writing import ACTIVE, writing_of
from labels.records import REASONS
from tui.dialogs.choices import ChooseByDigit
from tui.dialogs.dialog import FullText
from tui.dialogs.memories import MemoryForm, MergeMemories, PickMemory
from tui.dialogs.questions import AskLine
from tui.keys import keyed
from tui.plain import plain
from tui.screens.base_screen import ModeScreen
from tui.screens.list_screen import ListScreen
from tui.workspace.curate.curating import check, edited_in_editor, keep_refused, perform, redo, undo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from textual.worker import Worker

    from engine.curation.operations import Operation
    from engine.memory import MemorySummary
    from engine.stores.writing import Changes
    from tui.workspace.curate.curating import Done

CHANGES = "changes"
"""The workers that change memories."""

WRONG = "wrong"
"""The reason that leaves a tombstone: the same text is not made again."""

ARCHIVE = "archive"
"""The choice to archive the memory in place of retiring it."""

ANOTHER = "another"
"""The choice of a reason that is not in the list."""

RETIREMENTS = {
    ANOTHER: "another reason, or none",
    **{reason: reason for reason in REASONS},
    WRONG: "wrong: the same text is not made again",
    ARCHIVE: "archive it instead: it stays right, but is not injected any more",
}
MOST_MERGED = 10
INACTIVE = ("retired", "archived")

OF_NOTES = ("retire", "restore", "retag", "edit", "merge", "move")
A_PART = "It is a part of MEMORY.md: {change.file} opens the file in your editor."
NO_EDITOR = "This terminal cannot be given to an editor. {change.edit} opens a form."
ONE_AT_A_TIME = "Edit one at a time; {go.back} selects none."

TAGS_HINT = "Tags, separated by commas. Leave out the tags that are to go."
MANY_TAGS_HINT = "Tags for all of them, separated by commas. A minus sign before a tag takes it away."


class CuratingScreen(ModeScreen):
    """Changes the memories that `chosen` gives, in a worker. One change at a time, each in the journal.

    UNDO_KEY takes a change back, in words, with the ids of keys.
    """

    UNDO_KEY = "{change.undo}"

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, str | None] = {}

    def chosen(self) -> list[MemorySummary]:
        """The memories that a key acts on: the selected ones, else the one under the cursor."""
        raise NotImplementedError

    def end_selection(self) -> None:
        """Forget which memories were selected: they are changed now."""
        raise NotImplementedError

    def show_progress(self, text: str) -> None:
        raise NotImplementedError

    # Keys

    def action_retire(self) -> None:
        self._choose("Retired", (ACTIVE,), self._ask_reason)

    def _ask_reason(self, memories: list[MemorySummary], read: Mapping[str, str | None]) -> None:
        def retire(reason: str) -> None:
            operations = [Retire(*self.home(memory), reason, reason == WRONG) for memory in memories]
            self.change("Retired", operations, read)

        def choose(reason: str) -> None:
            if reason == ARCHIVE:
                self.change("Archived", [Archive(*self.home(memory), "") for memory in memories], read)
            elif reason == ANOTHER:
                hint = "The reason is kept in the memory. It may be empty."
                self.ask(AskLine(f"Why retire {_named(memories)}?", hint=hint), retire)
            else:
                retire(reason)

        self.ask(ChooseByDigit(f"Retire {_named(memories)}: why?", RETIREMENTS, REASONS[0], 72), choose)

    def action_restore(self) -> None:
        def restore(memories: list[MemorySummary], read: Mapping[str, str | None]) -> None:
            self.change("Restored", [Restore(*self.home(memory)) for memory in memories], read)

        self._choose("Restored", INACTIVE, restore)

    def action_retag(self) -> None:
        self._choose("Changed the tags of", (), self._ask_tags)

    def _ask_tags(self, memories: list[MemorySummary], read: Mapping[str, str | None]) -> None:
        check(Tag(*self.home(memories[0]), ("tag",), ()), read)
        is_single = len(memories) == 1
        old = memories[0].tags if is_single else ()

        def retag(line: str) -> None:
            given = [tag.strip() for tag in line.split(",") if tag.strip()]
            gone = [tag for tag in old if tag not in given]
            add = [tag for tag in given if is_single or not tag.startswith("-")]
            if not is_single:
                gone = [tag[1:].strip() for tag in given if tag.startswith("-")]
            operations = [Tag(*self.home(memory), tuple(add), tuple(gone)) for memory in memories]
            self.change("Changed the tags of", operations, read)

        hint = TAGS_HINT if is_single else MANY_TAGS_HINT
        self.ask(AskLine(f"Tags of {_named(memories)}", ", ".join(old), hint), retag)

    def action_edit(self) -> None:
        """Open the form of the memory under the cursor."""
        with self.app.telling_errors():
            memory, read, text = self._to_edit()
            root, own = self.home(memory)
            form = writing_of(root, own.file).form(text.removeprefix("\ufeff"))

            def allowed(changes: Changes) -> None:
                check(Edit(root, own, changes), read)

            def edit(changes: Changes) -> None:
                self.change("Edited", [Edit(root, own, changes)], read)

            self.ask(MemoryForm(f"Edit {memory.id}", form, allowed), edit)

    def action_edit_file(self) -> None:
        """Open the file of the memory under the cursor in the person's editor."""
        with self.app.telling_errors():
            memory, _, text = self._to_edit()
            try:
                with self.app.suspend():
                    new = edited_in_editor(text, memory.file, os.environ, is_in_place=is_part(memory))
            except SuspendNotSupported:
                self.app.tell(keyed(self.app, NO_EDITOR), severity="warning")
                return
            self.refresh(layout=True)
            if new is None:
                self.app.tell("The text is unchanged, so nothing was done.")
            elif is_part(memory):
                self.app.take_changes(is_reread=False)
            else:
                self.change("Edited", [Rewrite(*self.home(memory), text, new)], {})

    def _to_edit(self) -> tuple[MemorySummary, dict[str, str | None], str]:
        """The memory to edit, its file as it was shown, and its text. Raises CurationError."""
        memories = self.chosen()
        if len(memories) != 1:
            raise CurationError(f"{len(memories):,} memories are selected. {keyed(self.app, ONE_AT_A_TIME)}")
        self._require_writable(memories)
        read = self._texts(memories)
        return memories[0], read, read[memories[0].file] or ""

    def action_merge(self) -> None:
        """Ask which of the selected memories is kept; with a single memory, first ask for another."""

        def picked(other: str) -> None:
            if memory := self.app.workspace.memory(other):
                self._ask_kept([*self.chosen(), memory.summary])

        with self.app.telling_errors():
            chosen = self.chosen()
            self._require_writable(chosen)
            if len(chosen) > MOST_MERGED:
                raise CurationError(f"{len(chosen):,} memories are selected. Merge at most {MOST_MERGED} at a time.")
            if len(chosen) == 1:
                self.ask(PickMemory(self.app.workspace.index, "Merge with which memory?"), picked)
            else:
                self._ask_kept(chosen)

    def _ask_kept(self, chosen: list[MemorySummary]) -> None:
        with self.app.telling_errors():
            roots = {self.home(summary)[0] for summary in chosen}
            if len(roots) > 1:
                key = keyed(self.app, "{change.move}")
                raise CurationError(
                    f"They lie in {len(roots)} folders. Move them into one with {key}, then merge them."
                )
            read = self._texts(chosen)
            found = [memory for summary in chosen if (memory := self.app.workspace.memory(summary.id))]

            def merge(kept_id: str) -> None:
                (kept,) = (summary for summary in chosen if summary.id == kept_id)
                others = tuple(self.home(summary)[1] for summary in chosen if summary is not kept)
                self.change("Merged", [Merge(*self.home(kept), others)], read)

            self.ask(MergeMemories(found), merge)

    def action_move(self) -> None:
        self._choose("Moved", (), self._ask_target)

    def _ask_target(self, memories: list[MemorySummary], read: Mapping[str, str | None]) -> None:
        def move(path: str) -> None:
            with self.app.telling_errors():
                if path.strip():
                    target = readable_root(str(Path(path.strip()).expanduser()))
                    self.change("Moved", [Move(*self.home(memory), target) for memory in memories], read)

        hint = "The path of another folder of memories, in the same format."
        self.ask(AskLine(f"Move {_named(memories)} to which folder?", hint=hint), move)

    def action_undo(self) -> None:
        self._undo()

    def action_redo(self) -> None:
        self._undo(is_redo=True)

    # Changing

    def home(self, memory: MemorySummary) -> tuple[str, MemorySummary]:
        """The root of a memory, and the memory under its own id."""
        return home_of(self.app.workspace.index, memory)

    def _require_writable(self, memories: Iterable[MemorySummary]) -> None:
        """Raises CurationError for a memory in a format that is only read."""
        for memory in memories:
            root, own = self.home(memory)
            writing_of(root, own.file)

    def _choose(
        self,
        words: str,
        statuses: Sequence[str],
        act: Callable[[list[MemorySummary], Mapping[str, str | None]], object],
    ) -> None:
        """Call *act* with the chosen memories that have one of *statuses*, or with all, and their texts as shown."""
        with self.app.telling_errors():
            chosen = self.chosen()
            fitting = [memory for memory in chosen if not statuses or memory.status in statuses]
            self._require_writable(fitting)
            if chosen and not fitting:
                raise CurationError(f"{_named(chosen)}: {_statuses(chosen)}, so nothing is {words.lower()}.")
            if others := [memory for memory in chosen if statuses and memory.status not in statuses]:
                left_out = f"{len(others):,} of {len(chosen):,} are left out: {_statuses(others)}."
                self.app.tell(left_out, severity="warning")
            if fitting:
                act(fitting, self._texts(fitting))

    def _texts(self, memories: Iterable[MemorySummary]) -> dict[str, str | None]:
        """The texts of the files as they were shown, or as they are now. Raises CurationError."""
        return {
            memory.file: self._seen[memory.file] if memory.file in self._seen else text_at(memory.file)
            for memory in memories
        }

    def note_seen(self, memory: MemorySummary) -> str:
        """The text of a file that is shown now. It is remembered, so that the change of another program is noticed."""
        self._seen.clear()
        with suppress(CurationError):
            self._seen[memory.file] = text_at(memory.file)
        return self._seen.get(memory.file) or ""

    @work(thread=True, group=CHANGES, exit_on_error=False)
    def change(self, words: str, operations: Sequence[Operation], read: Mapping[str, str | None]) -> None:
        """Perform the operations. *words* begin the sentence about many of them."""
        with self.app.changing:
            done = perform(
                self.app.workspace.roots, operations, read, partial(self._tell_progress, get_current_worker())
            )
            if done.numbers:
                self.app.batches.append(done.numbers)
        self._keep_refused(operations, done)
        key = keyed(self.app, self.UNDO_KEY)
        self.call_later(self.tell_change, done, _performed(done, words, len(operations), key))

    def _keep_refused(self, operations: Sequence[Operation], done: Done) -> None:
        refused = operations[0]
        if done.error and isinstance(refused, Rewrite):
            path = keep_refused(refused.memory.file, refused.text, os.environ)
            self.app.call_from_thread(self.app.tell, f"Your text is in {path}.", seconds=20.0)

    @work(thread=True, group=CHANGES, exit_on_error=False)
    def _undo(self, *, is_redo: bool = False) -> None:
        """Take the last change back, or do again the last one that was taken back."""
        with self.app.changing:
            tell, take = partial(self._tell_progress, get_current_worker()), redo if is_redo else undo
            done = take(self.app.workspace.roots, self.app.batches, tell)
        self.call_later(self.tell_change, done, _undone(done, "Did again" if is_redo else "Took back"), is_undo=True)

    def _tell_progress(self, worker: Worker[None], done: int, total: int) -> bool:
        """Tell how far a worker is; whether it should go on."""
        if total > 1:
            self.call_later(self.tell_progress, done, total)
        return not worker.is_cancelled

    @property
    def is_changing(self) -> bool:
        return any(worker.group == CHANGES and not worker.is_finished for worker in self.workers)

    def stop_changing(self) -> None:
        """End the changes under way after the operation that is being done."""
        self.workers.cancel_group(self, CHANGES)

    def tell_progress(self, done: int, total: int) -> None:
        self.show_progress(f"{done:,} of {total:,} changed · {keyed(self.app, '{go.back}')} stops")

    def tell_change(self, done: Done, sentence: str, *, is_undo: bool = False) -> None:  # noqa: ARG002
        """Show the memories as they are now, and say in a *sentence* what was done, or taken back if *is_undo*."""
        self.show_progress("")
        if done.numbers or isinstance(done.error, ChangedSinceError):
            self.end_selection()
            self._seen.clear()
            self.app.take_changes(is_reread=done.is_reread)
        if done.sentences:
            self.app.tell(sentence)
        if done.error and done.error.detail:
            self.app.push_screen(FullText("Not changed", plain(f"{done.error}\n\n{done.error.detail}")))
        elif done.error:
            self.app.tell_error(done.error)


class CuratedList(ListScreen, CuratingScreen):
    """A list of rows about memories that can be changed."""

    def __init__(self) -> None:
        super().__init__()
        self._reading = 0
        self._progress = ""

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:
        if reason := super().why_off(action, parameters):
            return reason
        memory = self.current_memory if self.is_mounted and not self.rows.selected else None
        if memory is None or action not in OF_NOTES:
            return ""
        if is_part(memory):
            return keyed(self.app, A_PART)
        if action not in ("retire", "restore"):
            return ""
        status = memory.status
        fitting = (ACTIVE,) if action == "retire" else INACTIVE
        return "" if status in fitting else f"It is {status}."

    def end_selection(self) -> None:
        self.select(set())

    def show_progress(self, text: str) -> None:
        self._progress = text
        self.show_title()

    def step_back(self) -> bool:
        if not self.is_changing:
            return super().step_back()
        self.stop_changing()
        return True


def _performed(done: Done, words: str, total: int, key: str) -> str:
    """A sentence about the operations that were performed of *total* ones, with the key that undoes them."""
    if len(done.sentences) == 1 and total == 1:
        return f"{done.sentences[0]}. {key} takes it back."
    rest = f" of {total:,}" if len(done.numbers) < total else ""
    return f"{words} {len(done.numbers):,} memories{rest}. {key} takes all of it back."


def _undone(done: Done, words: str) -> str:
    first, *others = done.sentences or ("",)
    return f"{words}: {first}{f', and {len(others):,} more' if others else ''}."


def _named(memories: Sequence[MemorySummary]) -> str:
    return memories[0].id if len(memories) == 1 else f"{len(memories):,} memories"


def _statuses(memories: Iterable[MemorySummary]) -> str:
    """The statuses of *memories* in words, as in "already retired"."""
    return f"already {' or '.join(sorted({memory.status for memory in memories}))}"
