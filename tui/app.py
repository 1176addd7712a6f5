"""The app: four screens over one workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import App
from textual.worker import Worker, WorkerState

from engine.errors import LabelStoreError, MemsiftError
from engine.pipeline import BM25, BM25_JUDGE
from tui.bindings import bindings
from tui.commands import KeyCommands
from tui.messages import Kept, Reloaded, Retrieved
from tui.plain import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from tui.workspace import Workspace


def browse_screen() -> Screen[Any]:
    from tui.screens.browse import BrowseScreen

    return BrowseScreen()


def replay_screen() -> Screen[Any]:
    from tui.screens.replay import ReplayScreen

    return ReplayScreen()


def label_screen() -> Screen[Any]:
    from tui.screens.label import LabelScreen

    return LabelScreen()


def report_screen() -> Screen[Any]:
    from tui.screens.report import ReportScreen

    return ReportScreen()


class MemsiftApp(App[None]):
    """Browse, replay, label, report. Screens ask `workspace`; errors that a person can act on become toasts."""

    TITLE = "memsift"
    CSS_PATH = "app.tcss"
    COMMANDS = {KeyCommands}
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
    MODES: ClassVar[dict[str, Callable[[], Screen[Any]]]] = {  # type: ignore[assignment]
        "browse": browse_screen,
        "replay": replay_screen,
        "label": label_screen,
        "report": report_screen,
    }
    DEFAULT_MODE = "browse"
    BINDINGS = bindings(
        "app.help",
        "app.quit",
        hidden=("go.browse", "go.replay", "go.label", "go.report", "app.reload", "app.skipped"),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self._asking: set[str] = set()

    # Retrievals

    def run_bm25(self, prompt: Prompt) -> None:
        """Run a prompt through BM25, now, unless that was done."""
        if self.workspace.retrieval(prompt.id, BM25) is None:
            self._keep(self.workspace.run(prompt, BM25))

    def ask_judge(self, prompt: Prompt) -> bool:
        """Have a worker run a prompt through the judge's system, once. Returns whether an answer is to come."""
        if self.workspace.judge is None or self.workspace.retrieval(prompt.id, BM25_JUDGE):
            return False
        if prompt.id not in self._asking:
            self._asking.add(prompt.id)
            self._run_judge(prompt)
        return True

    @work(thread=True, group="judge", exit_on_error=False)
    def _run_judge(self, prompt: Prompt) -> None:
        self.post_message(Retrieved(self.workspace.run(prompt, BM25_JUDGE)))

    @on(Retrieved)
    def take_retrieval(self, message: Retrieved) -> None:
        """Keep what a worker brought, and tell the screens."""
        retrieval = message.retrieval
        self._asking.discard(retrieval.prompt.id)
        self._keep(retrieval)
        for screen in self.screen_stack:
            screen.post_message(Kept(retrieval.prompt.id, retrieval.system))

    @on(Worker.StateChanged)
    def tell_failure(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._asking.clear()
            self.tell(f"{type(event.worker.error).__name__}: {event.worker.error}", severity="error")

    def _keep(self, retrieval: Retrieval) -> None:
        try:
            self.workspace.keep(retrieval)
        except LabelStoreError as error:
            self.tell_error(error)

    # Telling

    def tell(self, message: str, *, title: str = "", severity: str = "information") -> None:
        """A toast, safe for text of any origin."""
        self.notify(printable(message), title=title, severity=severity, markup=False)  # type: ignore[arg-type]

    def tell_error(self, error: MemsiftError) -> None:
        self.tell(str(error), title=error.title, severity="error")

    def action_toggle_help(self) -> None:
        if self.screen.query("HelpPanel"):
            self.action_hide_help_panel()
        else:
            self.action_show_help_panel()

    def action_reload(self) -> None:
        """Read the memories anew and let the screen show them."""
        try:
            self.workspace.reload()
        except MemsiftError as error:
            self.tell_error(error)
            return
        self.tell(f"{len(self.workspace.index):,} memories read.")
        for screen in self.screen_stack:
            screen.post_message(Reloaded())

    def action_show_skipped(self) -> None:
        from tui.screens.full_text import FullText
        from tui.widgets.skipped_text import skipped_text

        self.push_screen(FullText("Skipped files", skipped_text(self.workspace.index.skipped)))
