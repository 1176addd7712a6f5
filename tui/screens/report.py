"""Report: the precision of each system, the judge against people, and the limits of the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.getters import query_one
from textual.widgets import Footer, Static
from textual.worker import Worker, WorkerState, get_current_worker

from labels.measure.report import ReportOptions
from tui.bindings import bindings
from tui.messages import AllReplayed, Reported
from tui.plain import plain
from tui.screens.base_screen import ModeScreen
from tui.widgets.memory_pane import TextPane
from tui.widgets.report_text import report_text
from tui.widgets.top_bar import TopBar
from tui.workspace.empty_states import nothing_to_count

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from labels.measure.report import Report

MARGIN, MIN_WIDTH = 5, 20
"""Cells beside the text, and cells of a line at least: a narrower terminal cuts the lines."""

COUNTING = "Counting …"


class ReportScreen(ModeScreen):
    """The report of the label store. A worker makes it each time the screen is shown."""

    CSS_PATH = "report.tcss"
    AUTO_FOCUS = "#scroll"
    BINDINGS = bindings(shown="report.replay report.more", hidden="copy.text")
    HELP = (
        "Precision is relevant / judged over everything injected. Press r to replay all prompts first. "
        "m adds curves (precision over time and by threshold) and TREC ranking measures."
    )

    text = query_one("#text", Static)
    state = query_one("#state", Static)

    def __init__(self) -> None:
        super().__init__()
        self._report: Report | None = None
        self._shows_more = False
        self._replaying = ""
        self._doing = ""

    def compose(self) -> ComposeResult:
        yield TopBar("report")
        with TextPane(id="scroll"):
            yield Static(id="text")
        yield Static(id="state")
        yield Footer(compact=True, show_command_palette=False)

    def begin(self) -> None:
        self.show_report()

    def on_resize(self) -> None:
        self._draw()

    # The report

    def show_report(self) -> None:
        """Have a worker make the report; the present report stays until then."""
        self._doing = COUNTING
        self._show_state()
        more = self._shows_more
        self._make(ReportOptions(ranking=more, comparisons=True, curves=more))

    @work(thread=True, exclusive=True, group="report", exit_on_error=False)
    def _make(self, options: ReportOptions) -> None:
        """Make the report, and hand it over unless a newer worker has replaced this one."""
        worker, made = get_current_worker(), self.app.workspace.report(options)
        if not worker.is_cancelled:
            self.post_message(Reported(made))

    @on(Reported)
    def take_report(self, message: Reported) -> None:
        self._report = message.report
        self._doing = ""
        self._show_state()
        self._draw()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """After a failure the last report stays."""
        if event.state is WorkerState.ERROR:
            self._doing = ""
            self._show_state()

    def _draw(self) -> None:
        lack = nothing_to_count(self.app.workspace) if self._report and not self._report.labelled_prompts else ""
        if lack:
            self.text.update(plain(lack))
        elif self._report:
            self.text.update(report_text(self._report, max(MIN_WIDTH, self.size.width - MARGIN)))

    def _show_state(self) -> None:
        self.state.update(plain(" · ".join(filter(None, (self._replaying, self._doing)))))

    def action_more(self) -> None:
        self._shows_more = not self._shows_more
        self.show_report()

    # Replaying

    def action_replay_all(self) -> None:
        if not self.app.workspace.prompts:
            self.app.tell("There are no prompts. Start memsift with --prompts FILE, or type one in Replay.")
            return
        self.app.with_agreement(self.app.replay_all)

    @on(AllReplayed)
    def finish(self, message: AllReplayed) -> None:
        self.call_after_refresh(self._show_finished, message.prompts)

    def _show_finished(self, prompts: int) -> None:
        self._replaying = f"{prompts:,} prompts replayed."
        self.show_report()
