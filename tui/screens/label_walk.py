"""The parts of Label besides its card: going from prompt to prompt, and the labels that are given already."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual import on, work
from textual.events import DescendantBlur, DescendantFocus, ScreenResume
from textual.getters import query_one
from textual.widgets import Static

from tui.dialogs.dialog import FullText
from tui.keys import keyed
from tui.plain import joined, plain
from tui.plain_app import Kept
from tui.screens.base_screen import ModeScreen
from tui.screens.memory_changes import MemoryChanges
from tui.widgets.labels import NoteInput, RecentLabels
from tui.widgets.lists.prompts import PromptPane
from tui.widgets.lists.rows import RowList
from tui.widgets.ranking_table import Reveal
from tui.workspace.filtering import ALL_LABELLED, nothing_to_label
from tui.workspace.labelling import FollowUp, LabelQueue, Position, follow_ups, follow_words, guideline, latest_labels

if TYPE_CHECKING:
    from textual.content import Content

    from engine.prompt import Prompt
    from labels.records import Card


class LabelWalk(ModeScreen):
    """Prompts in random order, the ranks of the last prompt in `reveal`, and the latest labels in `recent`.

    The memories of `revealed`, the last prompt that was done here, can be changed at once. `position` is the place in
    the present prompt; None while there is none. While a note is typed, nothing is shown anew: the note keeps the
    focus, and its card stays until it is left.
    """

    recent = query_one(RecentLabels)
    progress = query_one("#progress", Static)
    prompt_pane = query_one(PromptPane)
    reveal = query_one(Reveal)

    def __init__(self) -> None:
        super().__init__()
        self.precision_words = self.happened = ""
        self.changes = MemoryChanges(
            self,
            lambda: [follow_up.memory for follow_up in self.follow_ups[:1]],
            self.show_progress,
            undo_key="{go.browse}, then {change.undo},",
        )
        self.queue: LabelQueue | None = None
        self._prompt: Prompt | None = None
        self.revealed: Prompt | None = None
        self.position: Position | None = None
        self.has_failed = self.is_done = False
        self.is_behind = self.has_news = False

    def show_card_text(self, text: Content) -> None:
        """Show *text* in the place of a card."""
        raise NotImplementedError

    def show_position(self) -> None:
        """Show the next card of the prompt."""
        raise NotImplementedError

    @property
    def card(self) -> Card | None:
        """The card on the screen; None while the list card is there."""
        return self.position.card if self.position else None

    @property
    def is_typing(self) -> bool:
        return isinstance(self.focused, NoteInput)

    @on(ScreenResume)
    def end_typing(self) -> None:
        """A note that was typed before a visit to another screen waits, and the card has the focus again."""
        self.set_focus(None)

    def begin(self) -> None:
        """Go on where labelling stopped."""
        self.is_behind = self.is_typing
        if self.is_typing:
            return
        self.queue = LabelQueue(self.app.workspace)
        if self.revealed and self.reveal.display:  # its memories may have changed
            self.app.run_quick(self.revealed)
            self.app.ask_judge(self.revealed)
            self._reveal(self.revealed)
        if self._prompt in self.queue.unfinished():
            self.start(self._prompt)
        else:
            self.next_prompt()

    # From prompt to prompt

    @property
    def prompt(self) -> Prompt | None:
        return self._prompt

    def next_prompt(self) -> None:
        """Go to an earlier card that is due to be shown again, or else to the next prompt."""
        finished = None if self.position and self.position.is_repeat else self._prompt
        again = self.queue.due(finished) if self.queue else None
        if again:
            self.start_repeat(again)
        else:
            self.start_following()

    def start_repeat(self, at: Position) -> None:
        self._show_prompt(at.prompt)
        self.position = at
        self.show_position()

    def start_following(self) -> None:
        following = self.queue.after(self._prompt) if self.queue else None
        if following:
            self.start(following)
            return
        self._prompt = self.position = None
        self.prompt_pane.show(None)
        workspace = self.app.workspace
        reason = nothing_to_label(workspace.index, workspace.prompts, workspace.labelled_pairs())
        self.show_card_text(plain(keyed(self.app, reason)))
        self.is_done = reason == ALL_LABELLED
        self.progress.update("")
        if self.is_done:
            self.measure(keyed(self.app, reason))

    def start(self, prompt: Prompt) -> None:
        """Show a prompt. Its first card comes when every system has run it."""
        self._show_prompt(prompt)
        self.app.run_quick(prompt)
        if self.app.ask_judge(prompt):
            self.show_card_text(plain("Running the prompt through every system …"))
        else:
            self.show_position()

    def _show_prompt(self, prompt: Prompt) -> None:
        self._prompt, self.position, self.has_failed, self.is_done = prompt, None, False, False
        self.prompt_pane.show(prompt)

    @on(Kept)
    def go_on(self, message: Kept) -> None:
        if self.revealed and self.reveal.display and self.revealed.id in message.prompt_ids:
            self._reveal(self.revealed)
        if self.position is None and self._prompt and self._prompt.id in message.prompt_ids:
            self.show_position()

    def take_labels(self) -> None:
        """Go on if another program labelled this card; else it stays on the screen as it is."""
        self.has_news = self.is_typing
        if self.is_typing:
            return
        if self.position is None:
            self.begin()
            return
        before = self.position.asked
        with self.app.telling_errors():
            self.queue = LabelQueue(self.app.workspace)
            at = self.find_position()
            if before and at and at.asked == before:
                self.position = at
                self.tell_happened("")
            else:
                self.show_position()

    def find_position(self) -> Position | None:
        if self.queue is None or self._prompt is None:
            return None
        if self.position and self.position.is_repeat:
            return self.queue.repeat(self.position.prompt, [card.pair for card in self.position.pool.cards])
        return self.queue.position(self._prompt)

    # What was done

    def _reveal(self, prompt: Prompt) -> None:
        """Show the ranks of *prompt*, which is done, above the card that comes next."""
        self.app.note_sighting(prompt.id)
        action = follow_words(follow_ups(self.app.workspace, prompt.id), keyed(self.app, "{label.follow}"))
        self.reveal.show_prompt(self.app.workspace, prompt, action)
        self.revealed, self.reveal.display = prompt, True

    def action_reveals(self) -> None:
        """Go to all ranks of the last prompt, or back to the card."""
        if not self.step_back():
            self.reveal.display = True
            self.reveal.table.focus()

    def show_progress(self, text: str) -> None:
        self.tell_happened("")
        if text:
            self.progress.update(plain(text))

    def tell_happened(self, words: str) -> None:
        """Show the latest labels, and as many parts of the progress as have room, the most important first."""
        workspace = self.app.workspace
        parts = [
            words or self.happened,
            *(keyed(self.app, part) for part in (self.queue.parts(self.position) if self.queue else ())),
            self.precision_words,
        ]
        self.progress.update(plain(joined(filter(None, parts), self.size.width - 2)))
        self.happened = ""
        self.recent.show_labels(latest_labels(workspace), workspace.memory)
        self.set_class(not self.recent.count, "-first")
        self.set_class(self.reveal.display, "-revealed")

    @work(thread=True, exclusive=True, group="measure", exit_on_error=False)
    def measure(self, done: str = "") -> None:
        """Measure the precision again, after a prompt is done; after all of them, sum up below the sentence *done*."""
        from tui.workspace.report import live_precision, summed_up

        workspace = self.app.workspace
        self.call_later(self.take_measured, live_precision(workspace), done and f"{done}\n\n{summed_up(workspace)}")

    def take_measured(self, precision_words: str, summed: str) -> None:
        self.precision_words = precision_words
        self.tell_happened("")
        if summed and self.is_done:
            self.show_card_text(plain(summed))

    # The latest labels

    @property
    def follow_ups(self) -> list[FollowUp]:
        return follow_ups(self.app.workspace, self.revealed.id) if self.revealed and self.reveal.display else []

    def action_follow(self) -> None:
        """Open the dialog that the reason of a label asks for, as its key does in Browse."""
        if found := self.follow_ups:
            self.changes.note_seen(found[0].memory)
            getattr(self.changes, f"action_{found[0].action}")()

    def action_guideline(self) -> None:
        self.app.push_screen(FullText("When does a memory count as relevant?", plain(guideline(os.environ))))

    def action_latest(self) -> None:
        self.recent.focus()

    @property
    def is_aside(self) -> bool:
        """Whether the cursor is in the ranks of the last prompt or in the latest labels, so that no card takes it."""
        return self.recent.has_focus or self.reveal.table.has_focus

    @on(DescendantFocus)
    @on(DescendantBlur)
    def name_focused(self) -> None:
        self.set_class(self.recent.has_focus, "-latest")
        self.set_class(self.reveal.table.has_focus, "-ranks")
        self.recent.tell_key()

    @on(RowList.Selected, "#recent")
    def read_latest(self) -> None:
        if label := self.recent.current:
            self.read_memory(label.memory_id)
