"""Report: the precision of each system, the judge against people, and what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import VerticalScroll
from textual.getters import query_one
from textual.widgets import Footer, Static

from engine.errors import LabelStoreError
from tui.bindings import bindings
from tui.messages import AllReplayed, Kept
from tui.plain import plain
from tui.screens.mode_screen import ModeScreen
from tui.widgets.report_text import report_text
from tui.widgets.top_bar import TopBar

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from labels.measure.report import Report

MARGIN = 5


class ReportScreen(ModeScreen):
    """Numbers from the label store, made anew whenever the screen is shown."""

    CSS_PATH = "report.tcss"
    AUTO_FOCUS = "#scroll"
    BINDINGS = bindings("report.replay")
    HELP = "Precision is relevant / judged over everything injected. Press r to replay all prompts first."

    text = query_one("#text", Static)
    state = query_one("#state", Static)

    def __init__(self) -> None:
        super().__init__()
        self._report: Report | None = None

    def compose(self) -> ComposeResult:
        yield TopBar("report")
        with VerticalScroll(id="scroll", can_focus=True):
            yield Static(id="text")
        yield Static(id="state")
        yield Footer(compact=True, show_command_palette=False)

    def begin(self) -> None:
        self.show_report()

    def on_resize(self) -> None:
        self._draw()

    def show_report(self) -> None:
        try:
            self._report = self.app.workspace.report()
        except LabelStoreError as error:
            self.app.tell_error(error)
        self._draw()

    def _draw(self) -> None:
        if self._report:
            self.text.update(report_text(self._report, self.size.width - MARGIN))

    def action_replay_all(self) -> None:
        if not self.app.workspace.prompts:
            self.app.tell("There are no prompts. Start memsift with --prompts FILE, or type one in Replay.")
            return
        self.app.replay_all()

    @on(Kept)
    def count(self) -> None:
        workspace = self.app.workspace
        total = len(workspace.prompts) * len(workspace.systems)
        self.state.update(plain(f"Replaying: {workspace.replayed:,} of {total:,}"))

    @on(AllReplayed)
    def finish(self, message: AllReplayed) -> None:
        self.call_after_refresh(self._show_finished, message.prompts)

    def _show_finished(self, prompts: int) -> None:
        self.state.update(plain(f"{prompts:,} prompts replayed."))
        self.show_report()
