"""Inbox: what the checks found, worst first, with a key for each way to settle it."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.content import Content

from engine.installation import install_command
from engine.quality.decisions import ACCEPTED, REJECTED, SAFETY
from engine.wording import counted
from tui.keys import bindings, keyed
from tui.plain import marked, one_line, plain, printable
from tui.plain_app import FindingsChanged
from tui.screens.base_screen import ModeScreen
from tui.screens.filtered_list import FilteredList
from tui.screens.memory_changes import MemoryChanges
from tui.screens.phrase_changes import PhraseChanges
from tui.widgets.lists.columns import Column, ColumnList
from tui.widgets.lists.memories import severity_tone, severity_word
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import HEADING, MUTED, memory_text
from tui.workspace.curate.tasks import (
    BY_CHECK,
    BY_TITLE,
    RULES,
    WORST,
    Checked,
    Task,
    flagged,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.memory import Memory, MemorySummary
    from tui.plain import Marks


PLACEHOLDER = "Press {list.filter} and type: words of titles, reasons or checks"
NOTHING_FOUND = "The checks found nothing: these memories are in order.\n\n{app.reload} looks again."
NO_MATCH = "No finding fits the filter. Press {go.back} to see all."
NO_PACKAGE = "\n\nThe check {} did not run: it needs the package {}. Install it with: {}"
LACKING = "\n\nBut {}. Phrases let prompts in other words find a memory: memsift phrases write"
OFF_MEMORY = "This finding is about the folder, not about a memory. Its text says what to do."
DECIDE = "{inbox.approve} accept, {inbox.block} keep out, {change.retire} retire"
FLAGGED = "bold reverse $text-error"


COLUMNS = (
    Column(
        lambda task: severity_word(task.finding.severity),
        "Severity",
        WORST,
        width=10,
        tone=lambda task: severity_tone(task.finding.severity),
    ),
    Column(lambda task: task.finding.check, "Check", BY_CHECK, width=11),
    Column(lambda task: task.title, "Memory", BY_TITLE, tone=lambda _: "", has_marks=True),
    Column(lambda task: task.finding.reason, "Why", width=36, from_width=78, has_marks=True),
)


class InboxList(ColumnList[Task]):
    """Findings, a row each."""

    NOUN = "finding"

    columns = COLUMNS

    def id_of(self, record: Task) -> str:
        return record.id


def task_text(task: Task, memories: Sequence[Memory], marker: Marks, say: Callable[[str], str]) -> tuple[Content, int]:
    """The reason, the way to settle it, the model's rating, and the memories that it is about, with flagged words.

    The number is the place of the first flagged word, or 0. *say* puts keys in the place of their ids.
    """
    finding = task.finding
    where = f" · {one_line(finding.where)}" if finding.where else ""
    lines = [
        plain(f"{finding.check} · {severity_word(finding.severity)} severity{where}").stylize_before(MUTED),
        *(marked(f"{why[:1].upper()}{why[1:]}", marker).stylize_before("bold") for why in (finding.reason, *task.more)),
        plain(say(_ways(task)) if task.memory else one_line(finding.action)),
    ]
    if task.rated:
        rating = f"{one_line(task.rated.model)} rates it {task.rated.overall:.1f}: {one_line(task.rated.decision)}"
        lines.append(plain(rating).stylize_before(MUTED))
    for memory in memories:
        lines += [Content(""), plain("─" * 24).stylize_before(HEADING), memory_text(memory)]
    text, head = Content("\n").join(lines), len(Content("\n").join(lines[:3]))
    words = dict.fromkeys(printable(part) for part in flagged(finding, memories[0])) if memories else ()
    places = [(at, at + len(part)) for part in words if (at := text.plain.find(part, head)) >= 0]
    for start, end in places:
        text = text.stylize(FLAGGED, start, end)
    return text, min(places)[0] if places else 0


def _ways(task: Task) -> str:
    """The keys that settle a finding about a memory."""
    if task.others:
        return "{change.merge} merge them · {change.retire} retire this one · {inbox.approve} accept both"
    if task.finding.check == SAFETY:
        return f"Read the marked words, then {DECIDE}."
    if task.finding.check in ("asked", "phrases"):
        return "{change.phrases} change the phrases · {inbox.approve} accept it"
    return "{change.edit} edit it · {change.retire} retire it · {inbox.approve} accept it"


class InboxScreen(ModeScreen):
    """The findings about the open roots, and the memory of the finding under the cursor."""

    TAB = "inbox"
    CSS_PATH = "filtered_list.tcss"
    AUTO_FOCUS = "InboxList"
    ON_ROWS = (
        *("select", "select_all", "copy", "copy_path", "open", "retire", "retag", "edit", "edit_file", "merge"),
        *("phrases", "approve", "block"),
    )
    CHOOSING = ("undo", "check")
    BINDINGS = bindings(
        shown="list.filter inbox.approve inbox.block change.retire change.edit change.merge change.undo "
        "copy.text copy.path change.file",
        hidden="list.select list.all list.order list.turn inbox.check browse.open change.tags change.phrases "
        "change.redo",
    )
    HELP = (
        "What the checks found, the worst first. {inbox.approve} accepts a finding; a risky memory is injected then. "
        "{change.retire}, {change.edit} and {change.merge} change the memory. Each key acts on the "
        "selected findings, and {change.undo} takes it back."
    )

    def __init__(self) -> None:
        super().__init__()
        self.tasks = InboxList()
        self.listing = FilteredList(self, self.tasks, RULES, PLACEHOLDER)
        self.changes = MemoryChanges(self, self.chosen, self.listing.show_progress, self._forget)
        self.phrases = PhraseChanges(self, self.chosen, lambda: self._forget(is_new=True))
        self.hold(self.changes, self.phrases, self.listing)
        self._checked: Checked | None = None

    def begin(self) -> None:
        """Run the checks again if the memories have changed."""
        self.check_memories(is_whole=True)
        self.show_findings()

    @on(FindingsChanged)
    def show_findings(self) -> None:
        """List the findings, with the cursor near its place."""
        if self._checked is not (found := self.app.findings.checked):
            self._checked = found
            self.listing.show_matching(is_near=True)
        self.listing.show_progress(self.app.findings.progress or ("" if found else "Checking …"))

    # The list

    def find_rows(self) -> Sequence[Task] | None:
        self.call_later(self._give_room)
        return self.listing.find(self._checked.tasks if self._checked else None)

    def nothing(self) -> Content:
        if self._checked is None or self._checked.tasks:
            return plain(keyed(self.app, NO_MATCH))
        missing = self._checked.missing.items()
        not_run = "".join(NO_PACKAGE.format(check, package, install_command()) for check, package in missing)
        lacking = LACKING.format(self._checked.lacking) if self._checked.lacking else ""
        return plain(keyed(self.app, NOTHING_FOUND + not_run + lacking))

    def title_parts(self) -> Sequence[str]:
        if self._checked is None:
            return ()
        missing = ", ".join(f"{check} needs {package}" for check, package in self._checked.missing.items())
        lacking = f"{self._checked.lacking}: memsift phrases write" if self._checked.lacking else ""
        return self.listing.of_all(len(self._checked.tasks), "findings"), self.listing.choice.kind, missing, lacking

    def show_current(self, *, from_start: bool = True) -> None:
        task = self.tasks.current
        if task:
            memories = [memory for summary in task.about if (memory := self.app.workspace.memory(summary.id))]
            if task.memory:
                self.changes.note_seen(task.memory)
            text, flagged_at = task_text(task, memories, self.tasks.marker, partial(keyed, self.app))
            detail, held = self.listing.detail, ""
            if task.memory and task.finding.check == SAFETY:
                now = "injected" if self.app.workspace.index.is_accepted(task.memory) else "not injected"
                rule = task.finding.reason.partition(":")[0].capitalize()
                held = f"{rule} · {now} until you decide: {keyed(self.app, DECIDE)}"
            detail.border_title = plain(held)
            detail.show(text, from_start=from_start, at=flagged_at)
            self.refresh_bindings()

    def show_again(self) -> None:
        super().show_again()
        self._give_room()

    def _give_room(self) -> None:
        """Give rows that the list does not need to the detail below it."""
        if not self.is_enlarged and not self.has_class("-beside"):
            rows = self.listing.list_pane.gutter.height + 1 + max(1, self.tasks.count)
            self.query_one("#listed").styles.max_height = rows

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
            self.changes.ask_kept([task.memory, *task.others])
        else:
            self.changes.action_merge()

    def action_check(self) -> None:
        tasks = self._checked.tasks if self._checked else ()
        self.listing.ask_kind("Show the findings of which check?", RULES.counts(tasks))

    def action_approve(self) -> None:
        self._settle(self.tasks.chosen, ACCEPTED, "accepted")

    def action_block(self) -> None:
        self._settle([task for task in self.tasks.chosen if task.finding.check == SAFETY], REJECTED, "kept out")

    def _settle(self, tasks: list[Task], verdict: str, word: str) -> None:
        """Decide about *tasks*, and take them off the list."""
        with self.app.telling_errors():
            if settled := self.app.findings.settle(tasks, verdict, os.environ):
                self.listing.select(())
                self.app.tell_screens(FindingsChanged())
                what = one_line(tasks[0].title) if len(tasks) == 1 else counted(settled, "finding")
                is_let_in = verdict == ACCEPTED and any(task.finding.check == SAFETY for task in tasks)
                then = f" {'It' if len(tasks) == 1 else 'They'} may be injected from now on." if is_let_in else ""
                self.app.tell(f"{what}: {word}.{then} {self.changes.undo_key} takes it back.")
            else:
                self.app.tell(OFF_MEMORY, severity="warning")

    def action_undo(self) -> None:
        """Take back the last decision; without one since the last change of memories, that change."""
        with self.app.telling_errors():
            if back := self.app.findings.unsettle(os.environ):
                self.app.tell_screens(FindingsChanged())
                self.app.tell(f"Took back the decision about {counted(back, 'finding')}.")
            elif not self.phrases.take_back():
                self.changes.action_undo()

    def _forget(self, is_new: bool) -> None:
        """After a change of memories, u takes that change back, not a decision before it."""
        self.listing.select(())
        if is_new:
            self.app.findings.forget()
            self.phrases.forget()

    @on(RowList.Selected)
    def action_open(self) -> None:
        if memory := self.current_memory:
            self.read_memory(memory.id, memory.id)

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        if reason := self.listing.why_off(action, self.ON_ROWS, self.CHOOSING):
            return reason
        if not self.tasks.selected and (reason := self.changes.why_off(action, self.current_memory)):
            return reason
        current = self.tasks.current if action in self.ON_ROWS else None
        if current and current.memory is None and not action.startswith("select"):
            return OFF_MEMORY
        if action == "block" and current and current.finding.check != SAFETY:
            return keyed(self.app, "Only a risky memory can be kept out. {change.retire} retires this one.")
        return ""
