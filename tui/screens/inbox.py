"""Inbox: what the checks found, worst first, with a key for each way to settle it."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.getters import query_one

from engine.installation import install_command
from engine.lean.record import replace
from engine.quality.decisions import ACCEPTED, REJECTED
from tui.keys import bindings, keyed
from tui.plain import plain
from tui.screens.curating_screen import CuratedList
from tui.screens.list_screen import CHOOSING
from tui.widgets.lists.inbox import InboxList, task_text
from tui.widgets.lists.rows import RowList
from tui.workspace.quality.findings import (
    RULES,
    Checked,
    check_all,
    settle,
    unsettle,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.content import Content

    from engine.memory import MemorySummary
    from tui.workspace.curate.curating import Done
    from tui.workspace.quality.findings import Task

NOTHING_FOUND = "The checks found nothing: these memories are in order.\n\n{app.reload} looks again."
NO_MATCH = "No finding fits the filter. Press {go.back} to see all."
NO_PACKAGE = "\n\nThe check {} did not run: it needs the package {}. Install it with: {}"
OFF_MEMORY = "This finding is about the folder, not about a memory."
ONLY_SAFETY = "Only a risky memory can be kept out."


class InboxScreen(CuratedList):
    """The findings about the open roots, and the memory of the finding under the cursor."""

    MODE = "inbox"
    PLACEHOLDER = "Press {list.filter} and type: words of titles, reasons or checks"
    RULES, LIST = RULES, InboxList
    ON_ROWS = (
        *("select", "select_all", "copy", "copy_path", "open", "retire", "retag", "edit", "edit_file", "merge"),
        *("approve", "block"),
    )
    CHOOSING = (*CHOOSING, "undo", "check")
    BINDINGS = bindings(
        shown="list.filter inbox.approve inbox.block change.retire change.edit change.merge change.undo "
        "copy.text copy.path change.file",
        hidden="list.select list.all list.order list.turn inbox.check browse.open change.tags change.redo",
    )
    HELP = (
        "What the checks found, the worst first. {inbox.approve} says that a finding is fine as it is: a risky memory "
        "is approved then. {change.retire}, {change.edit} and {change.merge} change the memory. Each key acts on the "
        "selected findings, and {change.undo} takes it back."
    )

    tasks = query_one(InboxList)

    def __init__(self) -> None:
        super().__init__()
        self._checked: Checked | None = None
        self._settled: list[list[Task]] = []

    def begin(self) -> None:
        """Run the checks again if the memories have changed."""
        if self._reading != self.app.workspace.reading:
            self._reading = self.app.workspace.reading
            self._leave_out_changed()
            self.show_progress("Checking …")
            self.run_checks()

    @work(thread=True, exclusive=True, group="checks", exit_on_error=False)
    def run_checks(self) -> None:
        workspace = self.app.workspace

        def tell(check: str, found: int) -> None:
            self.call_later(self.show_progress, f"Checking {check} · {found:,} found")

        reading = workspace.reading
        db, clock = workspace.store.path, workspace.now
        found = check_all(workspace.index, workspace.roots, db, os.environ, tell, clock=clock)
        self.call_later(self.show_findings, found, reading)

    def show_findings(self, checked: Checked, reading: int) -> None:
        """List what the checks found, unless the memories were read again since *reading*."""
        if reading == self.app.workspace.reading:
            self._progress = ""
            self._show_tasks(checked)

    def _leave_out_changed(self) -> None:
        """Take findings off the list whose memories have changed. The checks tell which of them still hold."""
        if self._checked:
            now = {_state(memory) for memory in self.app.workspace.index.summaries()}
            kept = tuple(task for task in self._checked.tasks if now.issuperset(map(_state, task.about)))
            self._show_tasks(replace(self._checked, tasks=kept))

    def _show_tasks(self, checked: Checked) -> None:
        """List the findings, with the cursor near its place, but none that was settled since the checks began."""
        settled = {_text_of(task) for tasks in self._settled for task in tasks}
        self._checked = replace(checked, tasks=tuple(task for task in checked.tasks if _text_of(task) not in settled))
        self.show_matching(is_near=True)

    # The list

    @property
    def all_rows(self) -> Sequence[Task] | None:
        return self._checked.tasks if self._checked else None

    def nothing(self) -> Content:
        return plain(keyed(self.app, NO_MATCH if self.all_rows else NOTHING_FOUND + self._not_run()))

    def _not_run(self) -> str:
        missing = self._checked.missing if self._checked else {}
        return "".join(NO_PACKAGE.format(check, package, install_command()) for check, package in missing.items())

    def show_title(self) -> None:
        if self._progress or self._checked is None:
            self.list_pane.border_title = plain(self._progress)
            return
        missing = ", ".join(f"{check} needs {package}" for check, package in self._checked.missing.items())
        self.entitle(self.of_all(len(self._checked.tasks), "findings"), self.choice.kind, missing)

    def show_current(self, *, from_start: bool = True) -> None:
        task = self.tasks.current
        if task:
            memories = [memory for summary in task.about if (memory := self.app.workspace.memory(summary.id))]
            if task.memory:
                self.note_seen(task.memory)
            self.detail.show(
                task_text(task, memories, self.tasks.marker, partial(keyed, self.app)), from_start=from_start
            )
            self.refresh_bindings()

    def show_again(self) -> None:
        super().show_again()
        self._give_room()

    def show_rows(self, records: Sequence[Task], *, is_near: bool = False) -> None:
        super().show_rows(records, is_near=is_near)
        self._give_room()

    def _give_room(self) -> None:
        """Give rows that the list does not need to the detail below it."""
        if not self.is_enlarged and not self.has_class("-beside"):
            self.query_one("#listed").styles.max_height = self.list_pane.gutter.height + 1 + max(1, self.rows.count)

    # Keys

    def chosen(self) -> list[MemorySummary]:
        """The memories of the selected findings; without any, that of the finding under the cursor."""
        found = {task.memory.id: task.memory for task in self.tasks.chosen if task.memory}
        return list(found.values())

    @property
    def current_memory(self) -> MemorySummary | None:
        return self.tasks.current.memory if self.tasks.current else None

    def action_merge(self) -> None:
        """Merge the selected memories; else those of the finding under the cursor, or of the next with several."""
        start = self.tasks.cursor
        around = [*self.tasks.records[start:], *self.tasks.records[:start]]
        task = next((task for task in around if task.memory and task.others), None)
        if task and task.memory and not self.tasks.selected:
            self.tasks.go_to(task.id)
            self._ask_kept([task.memory, *task.others])
        else:
            super().action_merge()

    def action_check(self) -> None:
        self.ask_kind("Show the findings of which check?", RULES.counts(self.all_rows or ()))

    def action_approve(self) -> None:
        self._settle(self.tasks.chosen, ACCEPTED, "dismissed")

    def action_block(self) -> None:
        self._settle([task for task in self.tasks.chosen if task.finding.check == "safety"], REJECTED, "kept out")

    def _settle(self, tasks: list[Task], verdict: str, word: str) -> None:
        """Decide about *tasks*, and take them off the list."""
        with self.app.telling_errors():
            settled = settle(tasks, verdict, self.app.workspace.index, os.environ)
            if not settled or self._checked is None:
                self.app.tell(OFF_MEMORY, severity="warning")
                return
            self._settled.append(settled)
            self.tasks.selected = set()
            self._show_tasks(self._checked)
            self.app.tell(f"{len(settled):,} {word}. {keyed(self.app, self.UNDO_KEY)} takes it back.")

    def action_undo(self) -> None:
        """Take back the last decision; without one since the last change of memories, that change."""
        if not self._settled:
            super().action_undo()
            return
        with self.app.telling_errors():
            tasks = self._settled[-1]
            unsettle(tasks, os.environ)
            self._settled.pop()
            self._reading = 0
            self.begin()
            self.app.tell(f"Took back the decision about {len(tasks):,}.")

    def tell_change(self, done: Done, sentence: str, *, is_undo: bool = False) -> None:
        """After a change of memories, u takes that change back, not a decision before it."""
        super().tell_change(done, sentence, is_undo=is_undo)
        if done.numbers and not is_undo:
            self._settled.clear()

    @on(RowList.Selected)
    def action_open(self) -> None:
        if memory := self.current_memory:
            self.read_memory(memory.id, memory.id)

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:
        if reason := super().why_off(action, parameters):
            return reason
        current = self.tasks.current if self.is_mounted and action in self.ON_ROWS else None
        if current and current.memory is None and not action.startswith("select"):
            return OFF_MEMORY
        return ONLY_SAFETY if action == "block" and current and current.finding.check != "safety" else ""


def _state(memory: MemorySummary) -> tuple[str, str, str]:
    """What a check of a memory depends on."""
    return memory.id, memory.digest, memory.status


def _text_of(task: Task) -> tuple[str, str]:
    """The finding and the text that it is about."""
    return task.id, task.memory.digest if task.memory else ""
