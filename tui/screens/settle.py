"""Settle: the memories on which people differ, with what was said and not by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Footer, Static

from engine.errors import LabelStoreError
from labels.records import INJECTED, Card
from tui.bindings import bindings
from tui.plain import beginning, plain
from tui.screens.full_text import FullText
from tui.screens.mode_screen import ModeScreen
from tui.widgets.memory_text import memory_text
from tui.widgets.prompt_text import prompt_text
from tui.widgets.top_bar import TopBar

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.prompt import Prompt
    from labels.records import Dispute, Label

QUESTION = "Inject it for this prompt?"
TAKEN_BACK = "Taken back"
WORDS = {"relevant": "Relevant", "not": "Not relevant", "unsure": "Unsure", "unrateable": "Cannot be rated"}
NONE_LEFT = "Nobody differs. Press F4 to label, F5 for the report, or z to take back what you settled last."


class SettleScreen(ModeScreen):
    """One pair after the other; the last word on each is an event of its own, and changes nobody's label."""

    CSS_PATH = "settle.tcss"
    AUTO_FOCUS = "#card"
    BINDINGS = bindings(
        "mark.relevant",
        "mark.not",
        "settle.later",
        "mark.unsure",
        "mark.undo",
        hidden=("mark.unrateable", "label.open", "prompt.read"),
    )
    HELP = "People said different things of these memories. What you say here counts instead, whoever said what."

    prompt_text = query_one("#prompt", Static)
    card_pane = query_one("#card", VerticalScroll)
    card_text = query_one("#card-text", Static)
    said = query_one("#said", Static)
    progress = query_one("#progress", Static)

    def __init__(self) -> None:
        super().__init__()
        self._open: list[Dispute] = []
        self._settled = 0
        self._happened = ""
        self._shown_at = 0.0

    def compose(self) -> ComposeResult:
        yield TopBar("label")
        yield Static(id="prompt", classes="pane")
        with VerticalScroll(id="card", classes="pane", can_focus=True):
            yield Static(id="card-text")
        yield Static(id="said", classes="pane")
        yield Static(id="progress")
        yield Footer(compact=True, show_command_palette=False)

    def begin(self) -> None:
        """What is open now; labels may have come in on another screen. What was left for later stays last."""
        found = {(one.prompt_id, one.pair): one for one in self.app.workspace.disputes()}
        order = [(one.prompt_id, one.pair) for one in self._open]
        self._open = sorted(found.values(), key=lambda one: _place(order, one))
        self.show_dispute()

    @property
    def dispute(self) -> Dispute | None:
        return self._open[0] if self._open else None

    @property
    def prompt(self) -> Prompt | None:
        workspace = self.app.workspace
        if self.dispute is None:
            return None
        return workspace.prompt(self.dispute.prompt_id) or workspace.store.prompt(self.dispute.prompt_id)

    def show_dispute(self) -> None:
        dispute, prompt = self.dispute, self.prompt
        memory = self.app.workspace.memory(dispute.memory_id) if dispute else None
        self.prompt_text.border_title = f"Prompt{' · i shows the turns before it' if prompt and prompt.turns else ''}"
        self.prompt_text.update(beginning(prompt.text) if prompt else "")
        self.card_text.update(memory_text(memory) if memory else plain(NONE_LEFT))
        self.card_pane.border_title = f"People differ on this memory · {QUESTION}" if memory else ""
        self.card_pane.scroll_home(animate=False)
        self.card_pane.focus()
        self.said.display = dispute is not None
        self.said.border_title = "What was said"
        self.said.update(said_text(dispute.said) if dispute else "")
        settled = f" · {self._settled:,} settled just now" if self._settled else ""
        happened, self._happened = self._happened, ""
        self.progress.update(plain(f"{happened}{len(self._open):,} to settle{settled}"))
        self._shown_at = self.app.workspace.clock()
        self.refresh_bindings()

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return self.dispute is not None if action in ("label", "later", "open") else True

    def action_label(self, verdict: str) -> None:
        workspace, dispute = self.app.workspace, self.dispute
        memory = workspace.memory(dispute.memory_id) if dispute else None
        if dispute is None or memory is None:
            return
        card = Card(memory.summary, INJECTED, 1.0, 1)
        elapsed_ms = int((workspace.clock() - self._shown_at) * 1000)
        try:
            workspace.store.adjudicate(
                workspace.annotator, dispute.prompt_id, card, verdict, seed=workspace.seed, elapsed_ms=elapsed_ms
            )
        except LabelStoreError as error:
            self.app.tell_error(error)
            return
        self._settled += 1
        self.begin()

    def action_later(self) -> None:
        self._open.append(self._open.pop(0))
        self.show_dispute()

    def action_undo(self) -> None:
        """Take back what was settled last of these memories, and show it again."""
        workspace = self.app.workspace
        try:
            event = workspace.store.undo(workspace.annotator, root=workspace.index.root, adjudications=True)
        except LabelStoreError as error:
            self.app.tell_error(error)
            return
        if event is None:
            self.app.tell("There is nothing to take back.")
            return
        self._happened = f"{TAKEN_BACK} · "
        self._settled = max(0, self._settled - 1)
        again = [one for one in workspace.disputes() if (one.prompt_id, one.pair) == (event.prompt_id, event.pair)]
        self._open = [*again, *self._open]
        self.begin()

    def action_open(self) -> None:
        memory = self.app.workspace.memory(self.dispute.memory_id) if self.dispute else None
        if memory:
            self.app.push_screen(FullText("Memory", memory_text(memory)))

    def action_read_prompt(self) -> None:
        if self.prompt:
            self.app.push_screen(FullText("The prompt", prompt_text(self.prompt)))


def _place(order: list[tuple[str, tuple[str, str]]], dispute: Dispute) -> int:
    """Where a dispute stood; new ones come last."""
    key = (dispute.prompt_id, dispute.pair)
    return order.index(key) if key in order else len(order)


def said_text(said: tuple[Label, ...]) -> Content:
    """A line for each verdict, with why it was given; by verdict, so that nothing tells who said which."""
    lines = sorted((label.verdict, ", ".join(filter(None, (label.reason, label.note)))) for label in said)
    return Content("\n").join(
        plain(WORDS[verdict]).stylize_before("bold") + plain(f": {why}" if why else "") for verdict, why in lines
    )
