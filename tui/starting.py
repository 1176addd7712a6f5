"""Before the app: what there is to open, and a progress bar while the index of many is built for the first time."""

from __future__ import annotations

import os
from threading import Event
from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import OptionList, ProgressBar, Static
from textual.widgets.option_list import Option
from textual.worker import Worker

from engine.opening import build
from engine.wording import counted, listed
from tui.dialogs.choices import Options
from tui.keys import bindings, key_map, key_word, keys_of
from tui.plain import plain
from tui.plain_app import PlainApp
from tui.widgets.bars import KeyFooter
from tui.workspace.opening import DEMO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.app import ComposeResult
    from textual.events import Key

    from tui.workspace.app_settings import AppSettings
    from tui.workspace.opening import FoundRoot


HERE = "This project has no memories yet."
NOTHING = (
    "There are no memories on this machine yet.\n"
    "In a project, memsift reads .claude/memory, CLAUDE.md, AGENTS.md and the like. `memsift --root PATH` opens others."
)
NO_AGENT = "No coding agent was found on this machine."
INSTALLED = "Every coding agent on this machine has the hook."
INSTALL = "install"
"""The choice of the hook in place of a root."""


class StartScreen(Screen[None]):
    """What was found on this machine, and a list of all that a key opens: *places*, the hook and the demo.

    *agents*: the title of each coding agent -> whether it has the hook. *prompts*: the number of this project's.
    """

    HELP = "The digit before a folder opens its memories. enter opens the row under the cursor."
    BINDINGS = bindings(shown="start.install start.demo")

    def __init__(self, places: Sequence[FoundRoot], agents: Mapping[str, bool], prompts: int) -> None:
        super().__init__()
        self._places, self._agents, self._prompts = places, agents, prompts

    def compose(self) -> ComposeResult:
        without = listed([title for title, has_hook in self._agents.items() if not has_hook])
        rows = {str(number): (place.root, place.text) for number, place in enumerate(self._places, 1)}
        if without:
            rows[INSTALL] = ("Install the hook", f"in your own settings of {without}")
        rows[DEMO] = ("Example data", "a hiking map project with a log, labels and a judge")
        options = []
        for value, (name, about) in rows.items():
            key = value if value.isdigit() else key_word(keys_of(self.app, f"start.{value}")[0])
            options.append(Option(plain(f"{key if len(key) == 1 else ' '}  {name}\n   {about}\n"), value))
        with Vertical():
            yield Static(plain(self._found()))
            yield Options(*options)
        yield KeyFooter()

    def _found(self) -> str:
        with_hook = listed([title for title, has_hook in self._agents.items() if has_hook])
        agents = f"Coding agents on this machine: {listed([*self._agents])}." if self._agents else NO_AGENT
        hook = f"The hook is in {with_hook}." if with_hook else ""
        prompts = f"This project has {counted(self._prompts, 'prompt') if self._prompts else 'no prompts yet'}."
        return "\n".join(filter(None, (HERE if self._places else NOTHING, agents, hook, prompts)))

    def on_key(self, event: Key) -> None:
        """Open the root with this digit."""
        if event.key.isdigit() and 1 <= int(event.key) <= len(self._places):
            self.app.exit(self._places[int(event.key) - 1].root)

    @on(OptionList.OptionSelected)
    def open(self, event: OptionList.OptionSelected) -> None:
        chosen = str(event.option.id)
        self.app.exit(self._places[int(chosen) - 1].root if chosen.isdigit() else chosen)

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        """The reason why the hook cannot be installed; empty for every other action."""
        if action != INSTALL or not all(self._agents.values()):
            return ""
        return INSTALLED if self._agents else NO_AGENT

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not self.why_off(action, parameters) and super().check_action(action, parameters)

    def action_install(self) -> None:
        self.app.exit(INSTALL)

    def action_demo(self) -> None:
        self.app.exit(DEMO)


class FirstStartApp(PlainApp[str]):
    """Shows a StartScreen. It ends with the root that a person opens, with INSTALL or DEMO, or with None."""

    TITLE = "memsift"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "starting.tcss"
    BINDINGS = bindings(shown="app.help app.quit")

    def __init__(
        self, places: Sequence[FoundRoot], agents: Mapping[str, bool], prompts: int, settings: AppSettings
    ) -> None:
        super().__init__(is_plain=settings.is_plain)
        self._start = StartScreen(places, agents, prompts)
        self.keys, _ = key_map(settings)
        self.set_keymap(self.keys)

    def get_default_screen(self) -> Screen[None]:
        return self._start


class BuildingApp(PlainApp[bool]):
    """Builds the index of *root* from *count* files. It ends with True, or with None if a person quits before."""

    TITLE = "memsift"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "starting.tcss"
    BINDINGS = bindings(shown="app.quit")

    def __init__(self, root: str, count: int, *, is_plain: bool = False) -> None:
        super().__init__(is_plain=is_plain)
        self._root = root
        self._count = count
        self._is_left = Event()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(plain(f"Reading {self._count:,} memories of\n{self._root}"))
            yield ProgressBar(self._count)
            yield Static(plain("Later only memories that changed are read. q leaves, and keeps nothing half done."))
        yield KeyFooter()

    def on_mount(self) -> None:
        self.build()

    @work(thread=True, exit_on_error=False)
    def build(self) -> None:
        def tell(done: int, _total: int) -> None:
            self.call_later(self.query_one(ProgressBar).update, progress=done)

        build(self._root, os.environ, tell, self._is_left.is_set)

    @on(Worker.StateChanged)
    def finish(self, event: Worker.StateChanged) -> None:
        """Leave when the work is over. An error shows itself when the root is opened."""
        if event.worker.is_finished:
            self.exit(None if self._is_left.is_set() else True)

    async def action_quit(self) -> None:
        self._is_left.set()
