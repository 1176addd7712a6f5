"""Report: the precision of each system, the judge against people, and what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import VerticalScroll
from textual.getters import query_one
from textual.screen import Screen
from textual.widgets import Footer, Static
from textual.worker import get_current_worker

from engine.errors import LabelStoreError
from tui.bindings import bindings
from tui.messages import AllReplayed, Kept, Reloaded, Retrieved
from tui.plain import plain
from tui.where import where_text
from tui.widgets.report_text import report_text
from tui.widgets.top_bar import TopBar

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.prompt import Prompt
    from tui.app import MemsiftApp

MARGIN = 4


class ReportScreen(Screen[None]):
    """Numbers from the label store, made anew whenever the screen is shown."""

    app: MemsiftApp
    CSS_PATH = "report.tcss"
    AUTO_FOCUS = "#scroll"
    BINDINGS = bindings("report.replay")
    HELP = "Precision is relevant / judged over everything injected. Press r to replay all prompts first."

    text = query_one("#text", Static)
    state = query_one("#state", Static)

    def compose(self) -> ComposeResult:
        yield TopBar("report")
        with VerticalScroll(id="scroll", can_focus=True):
            yield Static(id="text")
        yield Static(id="state")
        yield Footer(compact=True, show_command_palette=False)

    @on(Reloaded)
    def start_over(self) -> None:
        self.on_screen_resume()

    def on_screen_resume(self) -> None:
        self.query_one(TopBar).show_where(where_text(self.app.workspace))
        self.show_report()

    def on_resize(self) -> None:
        self.show_report()

    def show_report(self) -> None:
        try:
            report = self.app.workspace.report()
        except LabelStoreError as error:
            self.app.tell_error(error)
            return
        self.text.update(report_text(report, self.size.width - MARGIN))

    def action_replay_all(self) -> None:
        workspace = self.app.workspace
        if not workspace.prompts:
            self.app.tell("There are no prompts. Start memsift with --prompts FILE, or type one in Replay.")
            return
        self.replay_all(workspace.prompts, workspace.systems)

    @work(thread=True, exclusive=True, group="replay", exit_on_error=False)
    def replay_all(self, prompts: tuple[Prompt, ...], systems: tuple[str, ...]) -> None:
        """Every prompt through every system that has not run it yet."""
        worker = get_current_worker()
        for prompt in prompts:
            for system in systems:
                if worker.is_cancelled:
                    return
                if self.app.workspace.retrieval(prompt.id, system) is None:
                    self.app.post_message(Retrieved(self.app.workspace.run(prompt, system)))
        self.post_message(AllReplayed(len(prompts)))

    @on(Kept)
    def count(self) -> None:
        workspace = self.app.workspace
        done = sum(
            bool(workspace.retrieval(prompt.id, name)) for prompt in workspace.prompts for name in workspace.systems
        )
        total = len(workspace.prompts) * len(workspace.systems)
        self.state.update(plain(f"Replaying: {done:,} of {total:,}"))

    @on(AllReplayed)
    def finish(self, message: AllReplayed) -> None:
        self.call_after_refresh(self._show_finished, message.prompts)

    def _show_finished(self, prompts: int) -> None:
        self.state.update(plain(f"{prompts:,} prompts replayed."))
        self.show_report()
