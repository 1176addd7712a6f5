"""The part of Label about labels that are given: the list of the latest, changing one, and acting on their reasons."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual import on, work
from textual.events import DescendantBlur, DescendantFocus
from textual.getters import query_one
from textual.widgets import Static

from labels.records import NOT_RELEVANT, RELEVANT
from tui.dialogs.full_text import FullText
from tui.messages import Measured
from tui.plain import plain
from tui.screens.curating_screen import CuratingScreen
from tui.widgets.lists.recent_labels import RecentLabels
from tui.widgets.lists.rows import RowList
from tui.workspace.labelling import FollowUp, change_label, follow_ups
from tui.workspace.labelling_plan import guideline

if TYPE_CHECKING:
    from engine.memory import MemorySummary


class GivenLabels(CuratingScreen):
    """The latest labels in `recent`. After a prompt, the memory that a reason is about can be changed at once."""

    UNDO_KEY = "{go.browse}, then {change.undo},"

    recent = query_one(RecentLabels)
    progress = query_one("#progress", Static)

    def __init__(self) -> None:
        super().__init__()
        self.precision_words = ""

    @property
    def is_revealed(self) -> bool:
        """Whether the prompt on the screen is done."""
        raise NotImplementedError

    def tell_happened(self, words: str) -> None:
        """Show the progress and the latest labels again, after *words*."""
        raise NotImplementedError

    def show_progress(self, text: str) -> None:
        self.tell_happened("")
        if text:
            self.progress.update(plain(text))

    def leave_latest(self) -> None:
        """Give the focus back to the card or the reveal."""
        raise NotImplementedError

    def action_label(self, verdict: str, grade: int | None = None) -> None:
        raise NotImplementedError

    # Grades and precision

    def action_grade(self, grade: int) -> None:
        self.action_label(RELEVANT if grade else NOT_RELEVANT, grade)

    @work(thread=True, exclusive=True, group="measure", exit_on_error=False)
    def measure(self) -> None:
        """Measure the precision again, after a prompt is done."""
        from tui.workspace.report.reading import live_precision

        self.post_message(Measured(live_precision(self.app.workspace)))

    @on(Measured)
    def take_precision(self, message: Measured) -> None:
        self.precision_words = message.words
        self.tell_happened("")

    # The latest labels

    def change_latest(self, verdict: str, grade: int | None) -> None:
        """Give the label under the cursor another verdict."""
        if label := self.recent.current:
            with self.app.telling_errors():
                change_label(self.app.workspace, label, verdict, grade)
                self.tell_happened("Changed")

    @property
    def follow_ups(self) -> list[FollowUp]:
        return follow_ups(self.app.workspace, self.prompt.id) if self.prompt and self.is_revealed else []

    def action_follow(self) -> None:
        """Open the dialog that the reason of a label asks for, as its key does in Browse."""
        if found := self.follow_ups:
            self.note_seen(found[0].memory)
            getattr(self, f"action_{found[0].action}")()

    def chosen(self) -> list[MemorySummary]:
        return [follow_up.memory for follow_up in self.follow_ups[:1]]

    def end_selection(self) -> None:
        """Nothing is selected here."""

    def action_guideline(self) -> None:
        self.app.push_screen(FullText("When does a memory count as relevant?", plain(guideline(os.environ))))

    def action_latest(self) -> None:
        self.recent.focus()

    def action_back(self) -> None:
        self.leave_latest()

    @on(DescendantFocus)
    @on(DescendantBlur)
    def name_latest(self) -> None:
        self.set_class(self.recent.has_focus, "-latest")
        self.recent.tell_key()

    @on(RowList.Selected, "#recent")
    def read_latest(self) -> None:
        if label := self.recent.current:
            self.read_memory(label.memory_id)
