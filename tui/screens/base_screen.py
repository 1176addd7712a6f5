"""The base of the screens: the line at the top, a fresh start whenever the screen is shown, reading whole texts."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual import on
from textual.events import Key, ScreenResume
from textual.widget import Widget
from textual.worker import Worker, WorkerCancelled, WorkerState, get_current_worker

from tui.dialogs.dialog import FullText, copy_focused, copy_text
from tui.keys import active_keys, bindings, idle_keys, keys_of
from tui.plain_app import FindingsChanged, LabelsChanged, Reloaded, RunChanged
from tui.widgets.bars import KeyFooter, TopBar
from tui.widgets.lists.prompts import spoken, turns_text
from tui.widgets.memory_pane import NO_MARKS, memory_text
from tui.widgets.panes import WHOLE, PanesScreen
from tui.workspace.activity_rows import is_muted

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.search.highlight import Marker
    from labels.records import Event
    from tui.dialogs.dialog import Dialog
    from tui.runner import Runner
    from tui.workspace.curate.tasks import Checked

T = TypeVar("T")


class ScreenPart:
    """A part of a screen with keys of its own, which stand in the BINDINGS of the screen."""

    def step_back(self) -> bool:
        """Leave a selection, a filter or a change of this part; False if there is nothing to leave."""
        return False

    def show_again(self) -> None:
        """Show again what depends on the sizes of panes, which have changed."""


class ModeScreen(PanesScreen):
    """A screen with a key of its own, and the tab TAB. It keeps its state while another screen is shown."""

    app: Runner
    TAB = ""
    held: tuple[ScreenPart, ...] = ()
    BINDINGS = bindings(shown="pane.smaller", hidden="go.back pane.larger")

    def hold(self, *parts: ScreenPart) -> None:
        """Let the keys of this screen act on its *parts*: their `action_` methods, where the screen has none."""
        self.held = parts
        for part in parts:
            for name in dir(type(part)):
                if name.startswith("action_") and not hasattr(self, name):
                    setattr(self, name, getattr(part, name))

    def compose(self) -> ComposeResult:
        yield TopBar(self.TAB)
        yield from (part for part in self.held if isinstance(part, Widget))
        yield KeyFooter()

    def begin(self) -> None:
        """Show what may have changed on other screens: memories, prompts, labels."""
        raise NotImplementedError

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        """The reason why an action of this screen is off now, as a sentence for the help; empty while it acts."""
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not self.why_off(action, parameters) and super().check_action(action, parameters)

    def on_key(self, event: Key) -> None:
        """Say why a key of this screen is off now."""
        if event.key not in self.active_bindings:
            idle = idle_keys(self, active_keys(self)).items()
            if reasons := [reason for name, reason in idle if reason and event.key in keys_of(self.app, name)]:
                self.app.tell(reasons[0])

    @property
    def prompt(self) -> Prompt | None:
        """The prompt that the screen is about now."""
        return None

    @property
    def current_memory(self) -> MemorySummary | None:
        """The memory under the cursor."""
        return None

    def step_back(self) -> bool:
        """Leave a selection, a filter or a pane of this screen; False if there is nothing to leave."""
        return any(part.step_back() for part in self.held)

    def show_again(self) -> None:
        for part in self.held:
            part.show_again()

    async def action_back(self) -> None:
        """Give all panes their usual room; else go back by one step, or to the screen before."""
        if self.is_enlarged:
            self.action_enlarge(-WHOLE)
        elif not self.step_back():
            await self.app.go_back()

    @on(ScreenResume)
    @on(Reloaded)
    def begin_again(self) -> None:
        self.show_run()
        self.begin()

    @on(LabelsChanged)
    def see_labels(self) -> None:
        self.take_labels()

    def take_labels(self) -> None:
        """Show the labels that another program wrote."""
        self.begin()

    @on(RunChanged)
    def show_run(self) -> None:
        """Show the run that is under way, whichever screen started it, and the cost so far."""
        workspace = self.app.workspace
        note = "hook muted" if is_muted(workspace.root, os.environ) else ""
        self.query_one(TopBar).show_where(workspace, self.app.trail, note)
        self.query_one(TopBar).show_run(self.app.progress)

    @on(Worker.StateChanged)
    def end_failed(self, event: Worker.StateChanged) -> None:
        """Show the error of a worker of this screen; the app gets the events of its own workers only."""
        if event.state is WorkerState.ERROR:
            self.app.tell_error(event.worker.error)

    # The checks

    def check_memories(self, *, is_whole: bool = False) -> None:
        """Run the checks beside the app if they are behind. The screens get FindingsChanged when they are done."""
        if self.app.findings.is_behind(os.environ, is_whole=is_whole):
            check = partial(self._check, self.app.workspace.reading)
            self.app.run_worker(check, thread=True, exclusive=True, group="checks", exit_on_error=False)

    def _check(self, reading: int) -> None:
        worker, app = get_current_worker(), self.app

        def tell(check: str, found: int) -> None:
            if worker.is_cancelled:
                raise WorkerCancelled
            app.call_later(self._show_check, f"Checking {check} · {found:,} found" if check else "")

        with suppress(WorkerCancelled):
            app.call_later(self._take_checked, app.findings.check(os.environ, tell), reading)

    def _show_check(self, progress: str) -> None:
        if progress != self.app.findings.progress:
            self.app.findings.progress = progress
            self.app.tell_screens(FindingsChanged())

    def _take_checked(self, checked: Checked, reading: int) -> None:
        """Keep the findings, unless the memories were read again since *reading*."""
        if reading == self.app.workspace.reading:
            self.app.findings.take(checked)
            self.app.tell_screens(FindingsChanged())

    def take_back(self, undo: Callable[[], Event | None]) -> Event | None:
        """Call *undo* and give the event that it took back. A toast tells of an error, or that there is no event."""
        event: Event | None = None
        with self.app.telling_errors():
            event = undo()
            if event is None:
                self.app.tell("There is nothing to take back.")
        return event

    def action_copy(self) -> None:
        copy_focused(self)

    def action_copy_path(self) -> None:
        if memory := self.current_memory:
            copy_text(self, memory.path)

    def ask(self, dialog: Dialog[T | None], act: Callable[[T], object]) -> None:
        """Call *act* with the answer to a dialog; a dialog that is left without an answer changes nothing."""

        def take(answer: T | None) -> Any:
            return None if answer is None else act(answer)

        self.app.push_screen(dialog, take)

    # Going

    async def go_to_prompt(self, prompt_id: str | None) -> None:
        """Show a prompt in Replay, also one that no open file holds."""
        workspace = self.app.workspace
        prompt = workspace.lists.known(prompt_id) if prompt_id else None
        if prompt:
            if workspace.lists.find(prompt.id) is None:
                workspace.lists.add(prompt)
            workspace.wanted_prompt = prompt.id
            await self._show("replay")

    async def go_to_memory(self, memory_id: str) -> None:
        """Show a memory in Browse, if the root still has it."""
        if self.app.workspace.memory(memory_id) is None:
            self.app.tell(f"{memory_id} is not there any more.")
            return
        self.app.workspace.wanted_memory = memory_id
        await self._show("browse")

    async def action_type(self) -> None:
        """Go to the live prompt, to type one."""
        await self.app.switch_mode("live")
        await self.app.screen.run_action("type")

    async def _show(self, mode: str) -> None:
        """Show another screen; this one begins again."""
        if mode == self.app.current_mode:
            self.begin()
        else:
            await self.app.switch_mode(mode)

    # Reading

    def action_read_prompt(self) -> None:
        if self.prompt:
            self.app.push_screen(FullText("The prompt", spoken("prompt", self.prompt.text), turns_text(self.prompt)))

    def read_memory(self, memory_id: str, title: str = "Memory", marker: Marker = NO_MARKS) -> None:
        """Show a whole memory under *title*, if the root still has it."""
        memory = self.app.workspace.memory(memory_id)
        if memory:
            self.app.push_screen(FullText(title, memory_text(memory, marker)))
