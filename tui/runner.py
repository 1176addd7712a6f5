"""The part of the app that screens know: the open workspace, prompts run in worker threads, and toasts."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock, Thread
from typing import TYPE_CHECKING

from textual import on, work
from textual.events import Mount
from textual.worker import Worker, WorkerState

from engine.config import SYSTEMS
from engine.errors import MemsiftError, MovedStoreError, missing_library
from engine.wording import counted
from tui.keys import key_map, keyed
from tui.plain_app import NOTICE_SECONDS, AllReplayed, Kept, LabelsChanged, PlainApp, Reloaded, RunChanged
from tui.workspace.app_settings import AppSettings, Choices
from tui.workspace.curate.tasks import Findings
from tui.workspace.replay.background_run import BackgroundRun, RunProgress
from tui.workspace.replay.jobs import is_unanswered
from tui.workspace.replay.replaying import jobs_left
from tui.workspace.sources import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from textual.message import Message

    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from tui.workspace.replay.replaying import Job
    from tui.workspace.sources import ChangedSources, Settings
    from tui.workspace.workspace import Workspace

SETTINGS_LATER = "The settings have changed. They count when this replay is over; {app.cancel} ends it now."
UNSAVED = "No label is saved before you choose where. Press the key of a label to choose."

LIMIT_REACHED = "The judge has reached its limit of cost. Press {app.judge} for another limit."


class Runner(PlainApp[None]):
    """Runs prompts of *workspace*. Workers only post messages; the app's own thread changes the workspace.

    Errors that a person can act on become toasts. `MemsiftApp` adds the screens and keys. `changing` lets one worker at
    a time change memories. `batches` are the numbers of operations that are undone together.
    """

    def __init__(
        self, workspace: Workspace, settings: AppSettings | None = None, choices: Choices | None = None
    ) -> None:
        self.settings = settings or AppSettings()
        super().__init__(is_plain=self.settings.is_plain)
        self._choices = choices
        self.keys, self.key_mistakes = key_map(self.settings)
        if self.keys:
            self.set_keymap(self.keys)
        self.workspace = workspace
        self._claims: set[tuple[str, str]] = set()
        self._claims_lock = Lock()
        self.changing = Lock()
        self.findings = Findings(workspace)
        self.batches: list[tuple[int, ...]] = []
        self._background: BackgroundRun | None = None
        self.progress: RunProgress | None = None
        self._has_news = self._is_put_off = False
        self._watcher: Watcher | None = None
        self._later: Settings | None = None
        self._told: Settings | None = None

    # Choices

    def choice(self, name: str) -> str:
        """The choice of an earlier start, as it was written; empty if there is none."""
        return self._choices.read(name) if self._choices else ""

    def remember(self, name: str, chosen: str) -> None:
        """Keep a choice for the next start. A failure is told: the choice holds for now."""
        try:
            if self._choices:
                self._choices.write(name, chosen)
        except OSError as error:
            self.tell(f"The {name} cannot be remembered: {error}.", severity="warning")

    # Running prompts

    def run_quick(self, prompt: Prompt) -> None:
        """Run a prompt through the systems without a judge, now, where that was not done before."""
        workspace = self.workspace
        for name in workspace.systems:
            if name not in workspace.with_judge and workspace.retrieval(prompt.id, name) is None:
                self._keep(workspace.run(prompt, name))
        for retrieval in workspace.injections.all_of(prompt):
            if workspace.retrieval(prompt.id, retrieval.system) is None:
                self._keep(retrieval)

    def ask_judge(self, prompt: Prompt) -> bool:
        """Start a worker for each system that asks the judge about a prompt, at most once.

        Returns whether an answer will come: False without a judge, and where all answers are there.
        """
        missing = [name for name in self.workspace.with_judge if self.workspace.retrieval(prompt.id, name) is None]
        for name in missing:
            if self._claim(prompt, name):
                self._run(prompt, name)
        return bool(missing)

    def replay_all(self) -> None:
        """Start a run of every prompt through every system, without pairs that are done. Only one run at a time."""
        if self._background:
            return
        jobs = self.jobs_left()

        def tell(progress: RunProgress, batch: Sequence[Retrieval]) -> None:
            self.call_later(self.take_batch, progress, batch, background.reading)

        def late(found: Sequence[Retrieval], reading: int) -> None:
            for retrieval in found:
                self.call_later(self.take_retrieval, retrieval, reading)

        self._background = background = BackgroundRun(self.workspace, jobs, self._claim, tell, late)
        self._show_progress(RunProgress(0, len(jobs)))
        self.run_worker(background.run, thread=True, group="replay", exit_on_error=False)

    def jobs_left(self) -> list[Job]:
        """The prompts that were not replayed yet, each with its systems."""
        systems = [SYSTEMS[name] for name in self.workspace.systems]
        return jobs_left(self.workspace.prompts, systems, self.workspace.finished)

    def take_batch(self, progress: RunProgress, retrievals: Sequence[Retrieval], reading: int) -> None:
        """Keep recorded retrievals of the run, and show its progress on every screen.

        *reading* is the workspace's when they were recorded.
        """
        ids = frozenset(retrieval.prompt.id for retrieval in retrievals)
        if reading == self.workspace.reading:
            for retrieval in retrievals:
                self.workspace.adopt(retrieval)
                self._claims.discard((retrieval.prompt.id, retrieval.system))
            self.tell_screens(Kept(ids))
        self._show_progress(None if progress.is_over else progress)
        if progress.is_over:
            self._end_run(progress)

    def _end_run(self, progress: RunProgress) -> None:
        self._background = None
        if progress.problem:
            self.tell(progress.problem, title="Not recorded", severity="error")
        is_whole = progress.done == progress.jobs
        replayed = len(self.workspace.prompts) if is_whole else progress.done
        if not is_whole:
            reason = LIMIT_REACHED if self.workspace.needs_agreement else "Cancelled."
            kept = f"{progress.done:,} of {progress.jobs:,} prompts were replayed, and are kept."
            self.tell_news(keyed(self, f"{reason} {kept}"))
            self._claims.clear()
        elif left := len(self.jobs_left()):
            self._claims.clear()
            again = keyed(self, "{report.replay} in Report replays these again.")
            self.tell_news(f"Memories have changed since {left:,} prompts were replayed. {again}")
        elif self.current_mode != "report":
            self.tell_news(f"{counted(replayed, 'prompt')} replayed. {keyed(self, '{go.report}')} shows the report.")
        self.tell_screens(AllReplayed(replayed))
        if self._later:
            self._take_settings(self._later)

    def with_agreement(self, act: Callable[[], None]) -> None:
        """Call *act*, after the question about a judge that waits for an agreement, whatever the answer is."""
        offer = self.workspace.offer() if self.workspace.needs_agreement else None
        if offer is None:
            act()
            return
        from tui.dialogs.questions import NO_LIMIT, AgreeToJudge

        def take(limit_usd: float | None) -> None:
            if limit_usd is not None:
                self.workspace.agree(None if limit_usd == NO_LIMIT else limit_usd)
                self.tell_screens(Reloaded())
                self.refresh_bindings()
            act()

        self.push_screen(AgreeToJudge(offer), take)

    def action_agree(self) -> None:
        self.with_agreement(lambda: None)

    def action_cancel_run(self) -> None:
        if self._background:
            self._background.cancel()

    def _show_progress(self, progress: RunProgress | None) -> None:
        is_changed = (progress is None) != (self.progress is None)
        self.progress = progress
        self.tell_screens(RunChanged())
        if is_changed:
            self.refresh_bindings()

    @on(Mount)
    def begin_following(self) -> None:
        """Begin to watch the files behind the workspace."""
        if self.workspace.sources:
            self._watcher = Watcher(self.workspace.sources.watched)
            tell = partial(self.call_later, self.follow)
            Thread(target=self.workspace.sources.follow, args=(self._watcher, tell), daemon=True).start()

    def on_unmount(self) -> None:
        self.action_cancel_run()
        if self._watcher:
            self._watcher.stop()

    def _claim(self, prompt: Prompt, system: str) -> bool:
        """Reserve a prompt and system for the calling thread. False if another thread did so, or a result is there."""
        with self._claims_lock:
            claim = (prompt.id, system)
            if claim in self._claims or self.workspace.retrieval(*claim):
                return False
            self._claims.add(claim)
            return True

    @work(thread=True, group="judge", exit_on_error=False)
    def _run(self, prompt: Prompt, system: str) -> None:
        reading = self.workspace.reading
        self.call_later(self.take_retrieval, self.workspace.run(prompt, system), reading)

    def take_retrieval(self, retrieval: Retrieval, reading: int) -> None:
        """Keep a worker's result and tell the screens. A result about memories read before a reload is dropped.

        *reading* is the workspace's when the worker began.
        """
        if reading != self.workspace.reading:
            return
        self._claims.discard((retrieval.prompt.id, retrieval.system))
        if self.workspace.needs_agreement and is_unanswered(retrieval):
            self.tell_news(keyed(self, LIMIT_REACHED))
            self.tell_screens(Reloaded())
            return
        self._keep(retrieval)
        self.tell_screens(Kept(frozenset([retrieval.prompt.id])))
        self.tell_screens(RunChanged())

    @on(Worker.StateChanged)
    def end_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._claims.clear()
            if event.worker.group == "replay":
                self._background = None
                self._show_progress(None)
            self.tell_error(event.worker.error)

    def _keep(self, retrieval: Retrieval) -> None:
        with self.telling_errors():
            self.workspace.keep(retrieval)

    def look_for_labels(self) -> None:
        """Tell the screens if another program wrote to the label store; during an own run, only at its end."""
        if self._is_put_off:
            return
        with self.telling_errors():
            self._has_news |= self.workspace.has_news()
            if self._has_news and self.progress is None:
                self._has_news = False
                self.tell_screens(LabelsChanged())

    def ask_for_store(self) -> None:
        """Ask where labels go, after another program moved, replaced or deleted the open label store."""
        from labels.exchange.merge import carry
        from tui.dialogs.questions import MovedStore

        if any(isinstance(screen, MovedStore) for screen in self.screen_stack):
            return
        store = self.workspace.store
        with suppress(MovedStoreError):
            store.has_news()
        dialog = MovedStore(store)

        def take(chosen: str | None) -> None:
            self._is_put_off = chosen is None
            if chosen is None:
                self.tell(UNSAVED, title="Labels", severity="warning", seconds=NOTICE_SECONDS)
                return
            place = dialog.places[chosen]
            with self.telling_errors():
                store.move(place.path, partial(carry, session=place.session))
                self.tell(f"Labels go to {place.path} from now on.", title="Labels", seconds=NOTICE_SECONDS)
                self.take_changes(is_reread=True)

        self.push_screen(dialog, take)

    def note_sighting(self, prompt_id: str) -> None:
        """Record that ranks and verdicts of a prompt are on the screen: later labels of it are not blind."""
        with self.telling_errors():
            self.workspace.show(prompt_id)

    def action_reload(self) -> None:
        """Read the memories from disk again, and let the screens show them."""
        with self.telling_errors():
            self.workspace.reload()
            self.action_cancel_run()
            self._claims.clear()
            self.tell(f"{len(self.workspace.index):,} memories read.")
            self.tell_screens(Reloaded())

    def take_changes(self, *, is_reread: bool) -> None:
        """Let the screens show memories that were changed on disk. *is_reread*: the index file holds the changes."""
        with self.telling_errors():
            index = self.workspace.index
            self.workspace.take_changes(is_reread=is_reread)
            self._show_reread(is_other=self.workspace.index is not index)

    def _show_reread(self, *, is_other: bool = False) -> None:
        """Let the screens show what was read again. A run cannot go on with an index that *is_other*."""
        if is_other:
            self.action_cancel_run()
        self._claims.clear()
        self.tell_screens(Reloaded())
        self.refresh_bindings()

    # Following the files

    def follow(self, found: ChangedSources) -> None:
        """Show changes that other programs made; the app has shown its own already."""
        workspace = self.workspace
        if found.problem:
            self.tell_error(found.problem)
        with self.telling_errors():
            if found.has_memories and (workspace.is_behind or not found.is_reread):
                self.take_changes(is_reread=found.is_reread)
            if found.prompts and workspace.take_prompts(found.prompts):
                self.tell_screens(Reloaded())
            if found.settings:
                self._take_settings(found.settings)

    def take_saved_settings(self) -> None:
        """Go on with settings that a screen has just written, without waiting until the change is noticed."""
        if self.workspace.sources:
            self._take_settings(self.workspace.sources.settings(), is_own=True)

    def _take_settings(self, settings: Settings, *, is_own: bool = False) -> None:
        """Go on with changed settings, after the run that is under way, and tell which of them are mistakes."""
        self._later = settings if self._background and self.workspace.is_other(settings) else None
        if settings.mistakes and settings != self._told:
            self.tell_mistakes(settings.mistakes)
        self._told = settings
        if self._later:
            self.tell_news(keyed(self, SETTINGS_LATER))
        elif self.workspace.is_other(settings):
            with self.telling_errors():
                self.workspace.take_settings(settings)
                self._show_reread()
                if not is_own:
                    self.tell_news("The changed settings count from now on.")

    def tell_screens(self, message: Message) -> None:
        """Send a message to all screens."""
        for screen in self.screen_stack:
            screen.post_message(message)

    # Toasts

    def tell_error(self, error: BaseException | None) -> None:
        """Show a toast for any exception, or ask where labels go if their file is not there any more."""
        if isinstance(error, MovedStoreError):
            self.ask_for_store()
            return
        if isinstance(error, ImportError):
            error = missing_library(error) or error
        title = error.title if isinstance(error, MemsiftError) else ""
        message = str(error) if isinstance(error, MemsiftError) else f"{type(error).__name__}: {error}"
        self.tell(message, title=title, severity="error")

    @contextmanager
    def telling_errors(self) -> Iterator[None]:
        """A block of code that ends at the first MemsiftError, with a toast."""
        try:
            yield
        except MemsiftError as error:
            self.tell_error(error)
