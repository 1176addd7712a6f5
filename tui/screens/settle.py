"""Settle: the memories on which people disagree, with their labels but without their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.getters import query_one
from textual.widgets import Static

from labels.records import Card
from tui.keys import bindings, keyed
from tui.plain import plain
from tui.screens.base_screen import ModeScreen
from tui.widgets.bars import KeyFooter, TopBar
from tui.widgets.labels import dispute_text
from tui.widgets.lists.prompts import PromptPane
from tui.widgets.memory_pane import MemoryPane, memory_text

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.prompt import Prompt
    from labels.records import Dispute

NONE_LEFT = (
    "No disagreement is left. Press {go.label} to label, {go.report} for the report, or {mark.undo} to take back your "
    "last verdict."
)


class SettleScreen(ModeScreen):
    """One dispute after the other. A verdict given here is an event of its own and changes nobody's label."""

    CSS_PATH = "settle.tcss"
    AUTO_FOCUS = "#card"
    BINDINGS = bindings(
        shown="mark.relevant mark.not settle.later mark.unsure mark.undo",
        hidden="mark.unrateable label.open copy.text prompt.read",
    )
    HELP = "People gave these memories different labels. Your verdict here counts instead of theirs."

    prompt_pane = query_one(PromptPane)
    card_pane = query_one(MemoryPane)
    labels = query_one("#labels", Static)
    progress = query_one("#progress", Static)

    def __init__(self) -> None:
        super().__init__()
        self._disputes: list[Dispute] = []
        self._settled = 0
        self._shown_at = 0.0

    def compose(self) -> ComposeResult:
        yield TopBar("label")
        yield PromptPane(id="prompt", classes="pane")
        yield MemoryPane("card")
        yield Static(id="labels", classes="pane")
        yield Static(id="progress")
        yield KeyFooter()

    def begin(self) -> None:
        self._show_open("")

    def _show_open(self, happened: str) -> None:
        """Show the first open dispute. Disputes keep their order, so that postponed ones stay last; new ones follow."""
        places = {_key(dispute): place for place, dispute in enumerate(self._disputes)}
        disputes = self.app.workspace.disputes()
        self._disputes = sorted(disputes, key=lambda dispute: places.get(_key(dispute), len(places)))
        self.show_dispute(happened)

    @property
    def dispute(self) -> Dispute | None:
        return self._disputes[0] if self._disputes else None

    @property
    def prompt(self) -> Prompt | None:
        return self.app.workspace.lists.known(self.dispute.prompt_id) if self.dispute else None

    def show_dispute(self, happened: str = "") -> None:
        """Show the first dispute, or that there is none. The line at the bottom begins with *happened*."""
        dispute = self.dispute
        memory = self.app.workspace.memory(dispute.memory_id) if dispute else None
        self.prompt_pane.show(self.prompt)
        self.card_pane.show(memory_text(memory) if memory else plain(keyed(self.app, NONE_LEFT)))
        self.card_pane.border_title = "People differ on this memory · Inject it for this prompt?" if memory else ""
        self.card_pane.focus()
        self.labels.display = dispute is not None
        self.labels.border_title = "What was said"
        self.labels.update(dispute_text(dispute.labels) if dispute else "")
        settled = f"{self._settled:,} settled just now" if self._settled else ""
        parts = (happened, f"{len(self._disputes):,} to settle", settled)
        self.progress.update(plain(" · ".join(filter(None, parts))))
        self._shown_at = self.app.workspace.clock()
        self.refresh_bindings()

    # Keys

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        return "There is no disagreement." if action in ("label", "later", "open") and self.dispute is None else ""

    def action_label(self, verdict: str) -> None:
        workspace, dispute = self.app.workspace, self.dispute
        memory = workspace.memory(dispute.memory_id) if dispute else None
        if dispute is None or memory is None:
            return
        card = Card(memory.summary, 1)
        elapsed_ms = int((workspace.clock() - self._shown_at) * 1000)
        with self.app.telling_errors():
            workspace.store.adjudicate(
                workspace.annotator, dispute.prompt_id, card, verdict, seed=workspace.seed, elapsed_ms=elapsed_ms
            )
            self._settled += 1
            self.begin()

    def action_later(self) -> None:
        self._disputes.append(self._disputes.pop(0))
        self.show_dispute()

    def action_undo(self) -> None:
        """Take back the last verdict about these memories, and show its dispute again."""
        workspace, root = self.app.workspace, self.app.workspace.index.root
        event = self.take_back(lambda: workspace.store.undo(workspace.annotator, root=root, adjudications=True))
        if event is None:
            return
        self._settled = max(0, self._settled - 1)
        again = [dispute for dispute in workspace.disputes() if _key(dispute) == (event.prompt_id, event.pair)]
        self._disputes = [*again, *self._disputes]
        self._show_open("Taken back")

    def action_open(self) -> None:
        if self.dispute:
            self.read_memory(self.dispute.memory_id)


def _key(dispute: Dispute) -> tuple[str, tuple[str, str]]:
    return dispute.prompt_id, dispute.pair
