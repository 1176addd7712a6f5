"""The app: its screens over one workspace."""

from __future__ import annotations

from itertools import product
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import App
from textual.worker import Worker, WorkerState, get_current_worker

from engine.errors import LabelStoreError, MemsiftError
from tui.bindings import bindings
from tui.commands import KeyCommands
from tui.messages import AllReplayed, Kept, Reloaded, Retrieved
from tui.plain import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message
    from textual.screen import Screen

    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from tui.theme_file import ThemeFile
    from tui.workspace.workspace import Workspace


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


def settle_screen() -> Screen[Any]:
    from tui.screens.settle import SettleScreen

    return SettleScreen()


class MemsiftApp(App[None]):
    """Browse, replay, label, settle, report. Screens ask `workspace`; errors that a person can act on become toasts."""

    TITLE = "memsift"
    CSS_PATH = "app.tcss"
    COMMANDS = {KeyCommands}
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (22, "-short"), (30, "-tall")]
    MODES: ClassVar[dict[str, Callable[[], Screen[Any]]]] = {  # type: ignore[assignment]
        "browse": browse_screen,
        "replay": replay_screen,
        "label": label_screen,
        "report": report_screen,
        "settle": settle_screen,
    }
    DEFAULT_MODE = "browse"
    BINDINGS = bindings(
        "app.help",
        "app.quit",
        hidden=("go.browse", "go.replay", "go.label", "go.report", "app.reload", "app.skipped", "app.theme"),
    )

    def __init__(self, workspace: Workspace, start: str | None = None, remembered: ThemeFile | None = None) -> None:
        """*start* is one of MODES; DEFAULT_MODE if it is None. *remembered* keeps the theme that a person chooses."""
        super().__init__()
        self._remembered = remembered
        self.workspace = workspace
        self._start = start
        self._claims: set[tuple[str, str]] = set()
        self._claims_lock = Lock()

    async def on_mount(self) -> None:
        if self._remembered and (name := self._remembered.read()) in self.available_themes:
            self.theme = name
        if self._start:
            await self.switch_mode(self._start)

    def watch_theme(self, before: str, chosen: str) -> None:
        """Write down the theme that was chosen."""
        if self._remembered is None or before == chosen or self._remembered.read() == chosen:
            return
        try:
            self._remembered.write(chosen)
        except OSError as error:
            self.tell(f"The theme cannot be remembered: {error}.", severity="warning")

    # Retrievals

    def run_quick(self, prompt: Prompt) -> None:
        """Run a prompt through the systems without a judge, now, unless that was done."""
        for system in (self.workspace.first, self.workspace.other, self.workspace.tuned):
            if system and self.workspace.retrieval(prompt.id, system.name) is None:
                self._keep(self.workspace.run(prompt, system.name))

    def ask_judge(self, prompt: Prompt) -> bool:
        """Have a worker run a prompt through the judge's system, once. Returns whether an answer is to come."""
        judged = self.workspace.judged
        if judged is None or self.workspace.retrieval(prompt.id, judged.name):
            return False
        if self._claim(prompt, judged.name):
            self._run_judge(prompt, judged.name)
        return True

    @work(thread=True, group="judge", exit_on_error=False)
    def _run_judge(self, prompt: Prompt, system: str) -> None:
        self._run(prompt, system)

    @work(thread=True, exclusive=True, group="replay", exit_on_error=False)
    def replay_all(self) -> None:
        """Every prompt through every system that has not run it and is not running it."""
        worker, workspace = get_current_worker(), self.workspace
        prompts = workspace.prompts
        for prompt, system in product(prompts, workspace.systems):
            if worker.is_cancelled:
                return
            if self._claim(prompt, system):
                self._run(prompt, system)
        self.post_message(AllReplayed(len(prompts)))

    def _claim(self, prompt: Prompt, system: str) -> bool:
        """Whether it falls to the caller, in any thread, to run a prompt: nobody has done so or is about to."""
        with self._claims_lock:
            claim = (prompt.id, system)
            if claim in self._claims or self.workspace.retrieval(*claim):
                return False
            self._claims.add(claim)
            return True

    def _run(self, prompt: Prompt, system: str) -> None:
        reading = self.workspace.reading
        self.post_message(Retrieved(self.workspace.run(prompt, system), reading))

    @on(Retrieved)
    def take_retrieval(self, message: Retrieved) -> None:
        """Keep what a worker brought, unless the memories were read anew since, and tell the screens."""
        if message.reading != self.workspace.reading:
            return
        retrieval = message.retrieval
        self._keep(retrieval)
        self._claims.discard((retrieval.prompt.id, retrieval.system))
        self._tell_screens(Kept(retrieval.prompt.id, retrieval.system))

    @on(AllReplayed)
    def end_replay(self, message: AllReplayed) -> None:
        self._tell_screens(AllReplayed(message.prompts))

    @on(Worker.StateChanged)
    def end_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._claims.clear()
            self.tell_failure(event.worker.error)

    def _keep(self, retrieval: Retrieval) -> None:
        try:
            self.workspace.keep(retrieval)
        except LabelStoreError as error:
            self.tell_error(error)

    def note_sighting(self, prompt_id: str) -> None:
        """Ranks and verdicts of a prompt are shown."""
        try:
            self.workspace.show(prompt_id)
        except LabelStoreError as error:
            self.tell_error(error)

    # Telling

    def _tell_screens(self, message: Message) -> None:
        for screen in self.screen_stack:
            screen.post_message(message)

    def tell(self, message: str, *, title: str = "", severity: str = "information") -> None:
        """A toast, safe for text of any origin."""
        self.notify(printable(message), title=title, severity=severity, markup=False)  # type: ignore[arg-type]

    def tell_error(self, error: MemsiftError) -> None:
        self.tell(str(error), title=error.title, severity="error")

    def tell_failure(self, error: BaseException | None) -> None:
        """A toast for whatever a worker raised."""
        if isinstance(error, MemsiftError):
            self.tell_error(error)
        else:
            self.tell(f"{type(error).__name__}: {error}", severity="error")

    def action_toggle_help(self) -> None:
        from tui.screens.key_help import KeyHelp, key_help

        if isinstance(self.screen, KeyHelp):
            self.screen.dismiss()
        else:
            self.push_screen(key_help(self.screen))

    def action_reload(self) -> None:
        """Read the memories anew and let the screen show them."""
        try:
            self.workspace.reload()
        except MemsiftError as error:
            self.tell_error(error)
            return
        self._claims.clear()
        self.tell(f"{len(self.workspace.index):,} memories read.")
        self._tell_screens(Reloaded())

    def action_show_skipped(self) -> None:
        from tui.screens.full_text import FullText
        from tui.widgets.skipped_text import skipped_text

        self.push_screen(FullText("Skipped", skipped_text(self.workspace.skipped)))
