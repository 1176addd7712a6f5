"""Label: the pooled memories of one prompt as cards, one at a time, without any hint from a system."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.containers import Container, Vertical
from textual.getters import query_one
from textual.widgets import Static

from engine.errors import LabelStoreError
from labels.records import LABEL, NOT_RELEVANT, REASONS, RELEVANT
from tui.dialogs.choices import ChooseByDigit
from tui.keys import bindings, keyed
from tui.plain import joined, plain
from tui.screens.label_walk import LabelWalk
from tui.screens.phrase_changes import UNDO_ELSEWHERE, PhraseChanges, why_no_phrase
from tui.widgets.bars import KeyFooter, TopBar
from tui.widgets.labels import NoteInput, RecentLabels, Remark, RemarkLine, TitleList
from tui.widgets.lists.prompts import PromptPane
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import MemoryPane, memory_text
from tui.widgets.ranking_table import Reveal
from tui.workspace.labelling import Position, change_label, guideline

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.content import Content
    from textual.widget import Widget

    from labels.records import Card, Event
    from tui.widgets.ranking_table import Row

GRADES = "label.grade0 label.grade1 label.grade2 label.grade3"
ANSWERS = ("label", "grade")
CARD_ACTIONS = (*ANSWERS, "skip", "open", "note", "reason")
LIST_ACTIONS = ("none", "some", "mark")
QUESTION = "Inject it for this prompt?"
LIST_QUESTION = "Would any of these have helped?", "{label.none} none, digits mark some"
MARKED, UNMARKED = "{label.some} answers with the marked titles.", "Mark titles, or press {label.none} for none."
GUIDE, BROAD = "When is it relevant?", 120
"""The title of the guideline, and the width of a terminal that has room for it beside the card."""

BREAK = re.compile(r"(?<=[\w,.;])\n(?=\w)")
"""The end of a line inside a paragraph, which a narrow pane breaks elsewhere."""

HINT = "{label.note} note, {label.reason} reason"


class GuidePane(MemoryPane, can_focus=False):
    """When a memory counts as relevant: beside the card in a broad terminal, before the first label in any other."""


class LabelScreen(LabelWalk):
    """Cards, one after the other. The ranks of a prompt that is done stand above the first card of the next one."""

    CSS_PATH = "label.tcss"
    AUTO_FOCUS = "#card"
    BINDINGS = bindings(
        shown="mark.relevant mark.not label.some label.none label.mark label.skip mark.unsure label.next label.follow "
        "mark.undo label.reveals",
        hidden="mark.unrateable mark.phrase label.note label.reason label.guideline label.latest label.open "
        f"copy.text label.settle prompt.read replay.type {GRADES}",
        at_once=f"mark.relevant mark.not mark.unsure mark.unrateable mark.undo label.skip {GRADES}",
    )
    HELP = (
        "Labelling is blind: ranks and verdicts are shown when all memories of a prompt have a label. They stay above "
        "the next card until its label, and {label.reveals} shows all of them. Each label is saved at once. "
        "The last card of some prompts, drawn by chance, lists titles that no system injected: mark what would have "
        "helped, or press {label.none}. "
        "Before a label, {label.note} writes a note and {label.reason} chooses a reason; both are saved with it. About "
        "one card in ten is shown again later, to measure how often you agree with yourself. {label.latest} goes to "
        "the latest labels, where the same keys change one."
    )

    card_pane = query_one(MemoryPane)
    titles = query_one(TitleList)
    remark_line = query_one(RemarkLine)

    def __init__(self) -> None:
        super().__init__()
        self.phrases = PhraseChanges(self, undo=UNDO_ELSEWHERE)
        self._shown_at = 0.0

    def compose(self) -> ComposeResult:
        yield TopBar("label")
        yield Reveal(id="reveal", classes="pane")
        yield PromptPane(id="prompt", classes="pane")
        with Container(id="body"):
            yield MemoryPane("card")
            yield TitleList(id="titles", classes="pane")
            with Vertical(id="side"):
                yield RecentLabels(id="recent", classes="pane")
                yield GuidePane("guide")
        yield RemarkLine()
        yield Static(id="progress")
        yield KeyFooter()

    def on_mount(self) -> None:
        self.query_one(GuidePane).border_title = GUIDE
        self.query_one(GuidePane).show(plain(BREAK.sub(" ", guideline(os.environ))))

    def on_resize(self) -> None:
        self.set_class(self.size.width >= BROAD, "-broad")

    def show_position(self) -> None:
        """Show the next card of the prompt. After the last one, show its ranks and go on with the next prompt."""
        try:
            self.position = self.find_position()
        except LabelStoreError as error:
            self.position, self.has_failed = None, True
            self.refresh_bindings()
            again = keyed(self.app, "Press {label.next} to try again.")
            self.show_card_text(plain(f"{error}\n\nNo label is lost. {again}"))
            return
        if self.position is None:
            return
        if self.position.card:
            self._show_card(self.position, self.position.card)
        elif self.position.listed:
            self._show_list(self.position)
        else:
            if self.position.pool.cards and not self.position.is_repeat:
                self._reveal(self.position.prompt)
            self.measure()
            # never two repeats in a row: a person would notice them
            self.call_later(self.start_following if self.position.is_repeat else self.next_prompt)
            return
        self.refresh_bindings()
        self.tell_happened("")
        # while this prompt is labelled, the next one runs through every system
        if following := self.queue.after(self._prompt) if self.queue else None:
            self.app.run_quick(following)
            self.app.ask_judge(following)

    # What is on the screen

    def _show_card(self, at: Position, card: Card) -> None:
        memory = self.app.workspace.memory(card.memory.id)
        self.show_card_text(memory_text(memory) if memory else plain(card.memory.title))
        self.call_after_refresh(self.show_again)  # after a list card, the pane has its width only then
        self.prompt_pane.name_blindness(is_blind=at.is_repeat or self.app.workspace.is_blind(at.prompt.id))
        self.remark_line.turn_to((at.prompt.id, card.pair, at.is_repeat))
        self._shown_at = self.app.workspace.clock()

    def show_again(self) -> None:
        if self.position and self.card:
            parts = (f"Memory {self.position.card_number} of {len(self.position.pool.cards)}", QUESTION)
            width = self.card_pane.size.width or self.size.width  # a pane without a layout has no width yet
            self.card_pane.border_title = plain(joined((*parts, keyed(self.app, HINT)), width))

    def _show_list(self, at: Position) -> None:
        self._show_pane(self.titles)
        self.titles.border_title = plain(keyed(self.app, " · ".join(LIST_QUESTION)))
        self.titles.show(at.listed)
        self.titles.marked &= {card.pair for card in at.listed}  # a marked memory may be gone or edited
        self.prompt_pane.name_blindness(is_blind=self.app.workspace.is_blind(at.prompt.id))
        if not self.is_aside:
            self.titles.focus()
        self._shown_at = self.app.workspace.clock()

    def _show_pane(self, shown: Widget) -> None:
        """Show a card, or the titles of the list card."""
        for pane in (self.card_pane, self.titles):
            pane.display = pane is shown
        self.remark_line.turn_to(None)

    def show_card_text(self, text: Content) -> None:
        self._show_pane(self.card_pane)
        self.card_pane.border_title = ""
        self.card_pane.show(text)
        if not self.is_aside:
            self.card_pane.focus()

    # Keys

    def action_label(self, verdict: str, grade: int | None = None) -> None:
        """Label the card, or change the label under the cursor of the latest ones."""
        store, remark = self.app.workspace.store, self.remark_line.remark
        if not self.recent.has_focus:
            self._write(partial(store.label, verdict=verdict, grade=grade, reason=remark.reason, note=remark.note))
        elif label := self.recent.current:
            with self.app.telling_errors():
                change_label(self.app.workspace, label, verdict, grade)
                self.tell_happened("Changed")

    def action_grade(self, grade: int) -> None:
        self.action_label(RELEVANT if grade else NOT_RELEVANT, grade)

    def action_skip(self) -> None:
        self._write(self.app.workspace.store.skip)

    @property
    def is_listing(self) -> bool:
        """Whether the titles of a list card are asked about."""
        return bool(self.position and self.position.listed and not self.card)

    def action_mark(self) -> None:
        self.titles.mark(self.titles.cursor)

    def action_none(self) -> None:
        self._write(partial(self.app.workspace.store.answer_list, helped=self.titles.marked))

    action_some = action_none

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        """Keys of a card act on a card, and not while a note is typed; the key that goes on acts in a reveal."""
        if self.is_typing and action in (*CARD_ACTIONS, "undo"):
            return "Leave the note with enter first."
        if action == "latest" and self.is_mounted and not self.recent.count:
            return "Nothing is labelled yet."
        if action == "grade" and not self.app.settings.has_grades:
            return "Grades are off. `grades = true` under [label] in config.toml turns them on."
        if action == "reveals" and self.is_mounted and self.revealed is None:
            return "Ranks are hidden until all memories of a prompt have a label."
        if self.is_mounted and self.recent.has_focus:
            is_off = action in (*CARD_ACTIONS[2:], *LIST_ACTIONS, "next", "follow")
            return keyed(self.app, "Leave the latest labels with {go.back} first.") if is_off else ""
        if self.is_mounted and self.reveal.table.has_focus and action in (*CARD_ACTIONS, *LIST_ACTIONS):
            return keyed(self.app, "Go back to the card with {label.next} first.")
        if action == "follow":
            return "" if self.follow_ups else "After a prompt, this follows a reason: stale, duplicate or too generic."
        if action == "phrase":
            row = self._row if self.is_mounted and self.reveal.display else None
            return why_no_phrase(row) if row else "Ranks are hidden until all memories of a prompt have a label."
        if action in LIST_ACTIONS and not self.is_listing:
            return "This is for the titles that come after the memories of a prompt."
        is_other = action in ("none", "some") and (action == "some") != bool(self.titles.marked)
        is_for_cards = action in CARD_ACTIONS and self.card is None and not (action == "open" and self.is_listing)
        if self.is_listing and (is_other or is_for_cards):
            return keyed(self.app, MARKED if self.titles.marked else UNMARKED)
        if is_for_cards:
            return self._why_no_card()
        if action == "next" and not (self.has_failed or self.is_done or self.reveal.table.has_focus):
            return "Label or skip this card first." if self.card or self.is_listing else self._why_no_card()
        return ""

    def _why_no_card(self) -> str:
        is_over = "Everything is labelled. {label.next} shows the report, {mark.undo} takes the last label back."
        return keyed(self.app, is_over if self.is_done else "No card is shown. {go.replay} shows the prompts.")

    def _write(self, write: Callable[..., Event]) -> None:
        """Write the answer to the card or to the list card, and go on once it is on disk."""
        if self.position is None or not self.position.asked:
            return
        self.app.look_for_labels()
        workspace, prompt_id, repeat = self.app.workspace, self.position.prompt.id, self.position.is_repeat
        how: dict[str, Any] = {"seed": workspace.seed, "elapsed_ms": int((workspace.clock() - self._shown_at) * 1000)}
        # a repeat is blind: its ranks were shown, but long ago and not beside the card
        how |= {"blind": repeat or workspace.is_blind(prompt_id), "repeat": repeat, "titles": self.position.pool.titles}
        with self.app.telling_errors():
            event = write(workspace.annotator, prompt_id, self.card or self.position.listed, **how)
            if event.action == LABEL:
                self.remark_line.forget()
                self.titles.marked = frozenset()
            self.reveal.display = False
            self.show_position()

    def action_note(self) -> None:
        self.remark_line.write()

    @on(NoteInput.Left)
    def leave_note(self) -> None:
        self.set_focus(self.card_pane)
        if self.is_behind:
            self.begin()
        elif self.has_news:
            self.take_labels()

    def action_reason(self) -> None:
        reasons = {"": "no reason", **{reason: reason for reason in REASONS}}
        dialog = ChooseByDigit("Why?", reasons, self.remark_line.remark.reason, 36)
        self.ask(dialog, self.remark_line.give_reason)

    def action_undo(self) -> None:
        """Take the last label or skip back, and go to its prompt. After its reveal, new labels are not blind."""
        event = self.take_back(self.app.workspace.undo)
        prompt = self.app.workspace.lists.find(event.prompt_id) if event else None
        if event is None or prompt is None or self.queue is None:
            return
        self.happened = "Taken back"
        self.reveal.display = False
        if event.reason or event.note:
            self.remark_line.begin((event.prompt_id, event.pair, event.repeat), Remark(event.reason, event.note))
        if event.repeat:
            self.start_repeat(self.queue.repeat(prompt, [event.pair]))
            return
        if self.queue.is_finished(prompt):
            self.app.note_sighting(prompt.id)
        self.start(prompt)

    @property
    def _row(self) -> Row | None:
        """The row under the cursor of the reveal; if the hook injects it, the first that was missed."""
        current = self.reveal.table.current
        missed = next((row for row in self.reveal.table.records if row.is_missed), current)
        return current if current and current.is_left_out else missed

    def action_phrase(self) -> None:
        """Let the prompt become a phrase of the memory under the cursor, or of the first that was missed."""
        if self.revealed and self._row:
            self.phrases.add_prompt(self.revealed, self._row)

    def step_back(self) -> bool:
        is_aside = self.is_aside
        if is_aside:
            self.set_focus(self.card_pane if self.card_pane.display else self.titles)
        return is_aside

    @on(RowList.Selected, "RankingTable")
    async def action_next(self) -> None:
        """Go back to the card, try again after a pool could not be recorded, or see the report after the last card."""
        if self.reveal.table.has_focus:
            self.step_back()
        elif self.has_failed and self._prompt:
            self.app.workspace.forget(self._prompt.id)  # its retrieval may not be on disk either
            self.start(self._prompt)
        else:
            await self.app.switch_mode("report")

    @on(RowList.Selected, "#titles")
    def action_open(self) -> None:
        if card := self.card or self.titles.current:
            self.read_memory(card.memory.id)
