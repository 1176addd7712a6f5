"""Changes of memories on a screen: the keys, the worker that changes, and the sentence about it."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported
from textual.worker import get_current_worker

from engine.curation.files import text_at
from engine.curation.operations import Archive, Edit, Merge, Move, Restore, Retire, Rewrite, Tag
from engine.errors import ChangedSinceError, CurationError
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
from tui.screens.base_screen import ScreenPart
from tui.workspace.curate.curating import difference, edited_in_editor, keep_refused, merged_form, perform, redo, undo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from textual.worker import Worker

    from engine.curation.operations import Operation
    from engine.memory import MemorySummary
    from engine.stores.writing import Changes
    from tui.runner import Runner
    from tui.screens.base_screen import ModeScreen
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
    ARCHIVE: "archive it: it is still right, but is not injected any more",
}
MOST_MERGED = 10
INACTIVE = ("retired", "archived")

OF_NOTES = ("retire", "restore", "retag", "edit", "merge", "move")
NO_EDITOR = "No editor can open in this terminal. {change.edit} opens a form."
ONE_AT_A_TIME = "Edit one at a time; {go.back} selects none."


class MemoryChanges(ScreenPart):
    """Changes memories in a worker of a *screen*, one change at a time, each in the journal.

    *chosen* gives the selected memories, else the one under the cursor. *tell* shows how far a change is, and gets an
    empty text at its end. *forget* ends the selection afterwards. Its argument is true for a change, and false for an
    undo or no change. *undo_key*: the key that takes a change back, in words, with the ids of keys.
    """

    def __init__(
        self,
        screen: ModeScreen,
        chosen: Callable[[], list[MemorySummary]],
        tell: Callable[[str], object],
        forget: Callable[[bool], object] = lambda _: None,
        undo_key: str = "{change.undo}",
    ) -> None:
        self._screen, self._chosen, self._tell, self._forget = screen, chosen, tell, forget
        self._undo_key = undo_key
        self._seen: dict[str, str | None] = {}

    @property
    def app(self) -> Runner:
        return self._screen.app

    @property
    def undo_key(self) -> str:
        """The key that takes a change back, as it is in force."""
        return keyed(self.app, self._undo_key)

    # Keys

    def action_retire(self) -> None:
        self._choose("Retired", (ACTIVE,), self._ask_reason)

    def _ask_reason(self, memories: list[MemorySummary], read: Mapping[str, str | None]) -> None:
        def retire(reason: str) -> None:
            operations = [Retire(memory.root, memory.own, reason, reason == WRONG) for memory in memories]
            self.change("Retired", operations, read)

        def choose(reason: str) -> None:
            if reason == ARCHIVE:
                self.change("Archived", [Archive(memory.root, memory.own, "") for memory in memories], read)
            elif reason == ANOTHER:
                hint = "The reason is kept in the memory. It may be empty."
                self._screen.ask(AskLine(f"Why retire {_name_of(memories)}?", hint=hint), retire)
            else:
                retire(reason)

        self._screen.ask(ChooseByDigit(f"Retire {_name_of(memories)}: why?", RETIREMENTS, REASONS[0], 72), choose)

    def action_restore(self) -> None:
        def restore(memories: list[MemorySummary], read: Mapping[str, str | None]) -> None:
            self.change("Restored", [Restore(memory.root, memory.own) for memory in memories], read)

        self._choose("Restored", INACTIVE, restore)

    def action_retag(self) -> None:
        self._choose("Changed the tags of", (), self._ask_tags)

    def _ask_tags(self, memories: list[MemorySummary], read: Mapping[str, str | None]) -> None:
        difference(Tag(memories[0].root, memories[0].own, ("tag",), ()), read)
        is_single = len(memories) == 1
        old = memories[0].tags if is_single else ()

        def retag(line: str) -> None:
            given = [tag.strip() for tag in line.split(",") if tag.strip()]
            gone = [tag for tag in old if tag not in given]
            add = [tag for tag in given if is_single or not tag.startswith("-")]
            if not is_single:
                gone = [tag[1:].strip() for tag in given if tag.startswith("-")]
            operations = [Tag(memory.root, memory.own, tuple(add), tuple(gone)) for memory in memories]
            self.change("Changed the tags of", operations, read)

        hint = "Separate tags with commas. " + ("Delete a tag to remove it." if is_single else "-TAG removes a tag.")
        self._screen.ask(AskLine(f"Tags of {_name_of(memories)}", ", ".join(old), hint), retag)

    def action_edit(self) -> None:
        """Open the form of the memory under the cursor."""
        with self.app.telling_errors():
            memory, read, text = self._to_edit()
            root, own = memory.root, memory.own
            form = writing_of(root, own.file).form(text.removeprefix("\ufeff"))

            def allowed(changes: Changes) -> None:
                difference(Edit(root, own, changes), read)

            def edit(changes: Changes) -> None:
                self.change("Edited", [Edit(root, own, changes)], read)

            note = keyed(self.app, "{change.phrases} in Browse edits the phrases that find this memory.")
            self._screen.ask(MemoryForm(f"Edit {memory.id}", form, allowed, note=note), edit)

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
            self._screen.refresh(layout=True)
            if new is None:
                self.app.tell("The text is unchanged, so nothing was done.")
            elif is_part(memory):
                self.app.take_changes(is_reread=False)
            else:
                self.change("Edited", [Rewrite(memory.root, memory.own, text, new)], {})

    def _to_edit(self) -> tuple[MemorySummary, dict[str, str | None], str]:
        """The memory to edit, its file as it was shown, and its text. Raises CurationError."""
        memories = self._chosen()
        if len(memories) != 1:
            raise CurationError(f"{len(memories):,} memories are selected. {keyed(self.app, ONE_AT_A_TIME)}")
        self._require_writable(memories)
        read = self._texts(memories)
        return memories[0], read, read[memories[0].file] or ""

    def action_merge(self) -> None:
        """Ask which of the selected memories is kept; with a single memory, first ask for another."""

        def picked(other: str) -> None:
            if memory := self.app.workspace.memory(other):
                self.ask_kept([*self._chosen(), memory.summary])

        with self.app.telling_errors():
            chosen = self._chosen()
            self._require_writable(chosen)
            if len(chosen) > MOST_MERGED:
                raise CurationError(f"{len(chosen):,} memories are selected. Merge at most {MOST_MERGED} at a time.")
            if len(chosen) == 1:
                self._screen.ask(PickMemory(self.app.workspace.index, "Merge with which memory?"), picked)
            else:
                self.ask_kept(chosen)

    def ask_kept(self, chosen: list[MemorySummary]) -> None:
        with self.app.telling_errors():
            roots = {summary.root for summary in chosen}
            if len(roots) > 1:
                key = keyed(self.app, "{change.move}")
                raise CurationError(
                    f"They lie in {len(roots)} folders. Move them into one with {key}, then merge them."
                )
            read = self._texts(chosen)
            kept, *others = chosen
            form, suggested = merged_form(kept, others, read)

            def merging(changes: Changes) -> Merge:
                return Merge(kept.root, kept.own, tuple(other.own for other in others), changes=changes)

            def merge(changes: Changes) -> None:
                self.change("Merged", [merging(changes)], read)

            def show(changes: Changes) -> str:
                return difference(merging(changes), read)

            names = [memory.name for memory in chosen]
            names = names if len({*names}) == len(names) else [memory.id for memory in chosen]
            title = f"Keep {names[0]}, retire {', '.join(names[1:])}"
            swap = partial(self.ask_kept, [*others, kept])
            self._screen.ask(MergeMemories(title, form, suggested, show, swap), merge)

    def action_move(self) -> None:
        self._choose("Moved", (), self._ask_target)

    def _ask_target(self, memories: list[MemorySummary], read: Mapping[str, str | None]) -> None:
        def move(path: str) -> None:
            with self.app.telling_errors():
                if path.strip():
                    target = readable_root(str(Path(path.strip()).expanduser()))
                    self.change("Moved", [Move(memory.root, memory.own, target) for memory in memories], read)

        hint = "The path of another folder of memories, in the same format."
        self._screen.ask(AskLine(f"Move {_name_of(memories)} to which folder?", hint=hint), move)

    def action_undo(self) -> None:
        """Take the last change back."""
        self._work(partial(self._undo, undo, "Took back"))

    def action_redo(self) -> None:
        """Do the last change again that was taken back."""
        self._work(partial(self._undo, redo, "Did again"))

    def why_off(self, action: str, memory: MemorySummary | None) -> str:
        """The reason why a key cannot change a *memory*; empty while it can, and for other keys."""
        if memory is None or action not in OF_NOTES:
            return ""
        if is_part(memory):
            return keyed(self.app, "It is a part of MEMORY.md: {change.file} opens the file in your editor.")
        if action == "retag" and memory.has_name:
            return keyed(self.app, "It has a name in place of tags: {change.edit} changes it.")
        statuses = {"retire": (ACTIVE,), "restore": INACTIVE}.get(action, (memory.status,))
        return "" if memory.status in statuses else f"It is {memory.status} already."

    # Changing

    def _require_writable(self, memories: Iterable[MemorySummary]) -> None:
        """Raises CurationError for a memory in a format that is only read."""
        for memory in memories:
            writing_of(memory.root, memory.own.file)

    def _choose(
        self,
        words: str,
        statuses: Sequence[str],
        act: Callable[[list[MemorySummary], Mapping[str, str | None]], object],
    ) -> None:
        """Call *act* with the chosen memories that have one of *statuses*, or with all, and their texts as shown."""
        with self.app.telling_errors():
            chosen = self._chosen()
            fitting = [memory for memory in chosen if not statuses or memory.status in statuses]
            self._require_writable(fitting)
            if chosen and not fitting:
                raise CurationError(f"{_name_of(chosen)}: {_statuses(chosen)}, so nothing is {words.lower()}.")
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

    def _work(self, change: Callable[[], object]) -> None:
        self._screen.run_worker(change, group=CHANGES, thread=True, exit_on_error=False)

    def change(self, words: str, operations: Sequence[Operation], read: Mapping[str, str | None]) -> None:
        """Perform the operations in a worker. *words* begin the sentence about many of them."""
        self._work(partial(self._change, words, operations, read))

    def _change(self, words: str, operations: Sequence[Operation], read: Mapping[str, str | None]) -> None:
        with self.app.changing:
            done = perform(
                self.app.workspace.roots, operations, read, partial(self._tell_progress, get_current_worker())
            )
            if done.numbers:
                self.app.batches.append(done.numbers)
        refused = operations[0]
        if done.error and isinstance(refused, Rewrite):
            path = keep_refused(refused.memory.file, refused.text, os.environ)
            self.app.call_from_thread(self.app.tell, f"Your text is in {path}.", seconds=20.0)
        if len(done.sentences) == len(operations) == 1:
            sentence = f"{done.sentences[0]}. {self.undo_key} takes it back."
        else:
            rest = f" of {len(operations):,}" if len(done.numbers) < len(operations) else ""
            sentence = f"{words} {len(done.numbers):,} memories{rest}. {self.undo_key} takes all of it back."
        self._screen.call_later(self._show, done, sentence)

    def _undo(self, take: Callable[..., Done], words: str) -> None:
        with self.app.changing:
            done = take(self.app.workspace.roots, self.app.batches, partial(self._tell_progress, get_current_worker()))
        first, *others = done.sentences or ("",)
        more = f", and {len(others):,} more" if others else ""
        self._screen.call_later(self._show, done, f"{words}: {first}{more}.", is_undo=True)

    def _tell_progress(self, worker: Worker[None], done: int, total: int) -> bool:
        """Tell how far a worker is; whether it should go on."""
        if total > 1:
            text = f"{done:,} of {total:,} changed · {keyed(self.app, '{go.back}')} stops"
            self._screen.call_later(self._tell, text)
        return not worker.is_cancelled

    @property
    def is_under_way(self) -> bool:
        return any(
            (worker.node, worker.group) == (self._screen, CHANGES) and not worker.is_finished
            for worker in self._screen.workers
        )

    def step_back(self) -> bool:
        """End the changes under way after the operation that is being done."""
        was_under_way = self.is_under_way
        self._screen.workers.cancel_group(self._screen, CHANGES)
        return was_under_way

    def _show(self, done: Done, sentence: str, *, is_undo: bool = False) -> None:
        """Show the memories as they are now, and say in a *sentence* what was done, or taken back if *is_undo*."""
        self._tell("")
        if done.numbers or isinstance(done.error, ChangedSinceError):
            self._forget(bool(done.numbers) and not is_undo)
            self._seen.clear()
            self.app.take_changes(is_reread=done.is_reread)
        if done.sentences:
            self.app.tell(sentence)
        if done.error and done.error.detail:
            self.app.push_screen(FullText("Not changed", plain(f"{done.error}\n\n{done.error.detail}")))
        elif done.error:
            self.app.tell_error(done.error)


def _name_of(memories: Sequence[MemorySummary]) -> str:
    return memories[0].id if len(memories) == 1 else f"{len(memories):,} memories"


def _statuses(memories: Iterable[MemorySummary]) -> str:
    """The statuses of *memories* in words, as in "already retired"."""
    return f"already {' or '.join(sorted({memory.status for memory in memories}))}"
