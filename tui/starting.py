"""Before the app: which memories to open, and a progress bar while the index of many is built for the first time."""

from __future__ import annotations

import os
from threading import Event
from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Vertical
from textual.widgets import Footer, OptionList, ProgressBar, Static
from textual.widgets.option_list import Option
from textual.worker import Worker

from engine.opening import build
from tui.dialogs.choices import Options
from tui.keys import bindings
from tui.plain import plain
from tui.plain_app import PlainApp
from tui.workspace.opening import DEMO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from tui.workspace.opening import FoundRoot


HERE = "This project has no memories yet. Enter opens one of these:"
NOTHING = "There are no memories on this machine yet. Enter opens the example:"


class FirstStartApp(PlainApp[str]):
    """A list of *places* and the demo. It ends with the root that a person opens, with DEMO, or with None."""

    TITLE = "memsift"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { align: center middle; }
    Vertical { width: 96%; max-width: 90; height: auto; max-height: 100%; }
    Options { height: auto; max-height: 70vh; margin-top: 1; border: none; }
    """
    BINDINGS = bindings(shown="app.quit")

    def __init__(self, places: Sequence[FoundRoot], *, is_plain: bool = False) -> None:
        super().__init__(is_plain=is_plain)
        self._places = places

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(plain(HERE if self._places else NOTHING))
            found = [
                Option(plain(f"{place.root}\n  {place.text}\n"), str(number))
                for number, place in enumerate(self._places)
            ]
            yield Options(*found, Option(plain("Example data\n  an invented library system, with a judge\n"), DEMO))
        yield Footer(compact=True, show_command_palette=False)

    @on(OptionList.OptionSelected)
    def open(self, event: OptionList.OptionSelected) -> None:
        chosen = str(event.option.id)
        self.exit(DEMO if chosen == DEMO else self._places[int(chosen)].root)


STEPS = 200
"""Updates of the bar."""


class BuildingApp(PlainApp[bool]):
    """Builds the index of *root* from *count* files. It ends with True, or with None if a person quits before."""

    TITLE = "memsift"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { align: center middle; }
    Vertical { width: 90%; max-width: 64; height: auto; }
    ProgressBar { width: 100%; margin: 1 0; }
    Bar { width: 1fr; }
    """
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
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self.build()

    @work(thread=True, exit_on_error=False)
    def build(self) -> None:
        step = max(1, self._count // STEPS)

        def tell(done: int, _total: int) -> None:
            if done % step == 0:
                self.call_later(self.query_one(ProgressBar).update, progress=done)

        build(self._root, os.environ, tell, self._is_left.is_set)

    @on(Worker.StateChanged)
    def finish(self, event: Worker.StateChanged) -> None:
        """Leave when the work is over. An error shows itself when the root is opened."""
        if event.worker.is_finished:
            self.exit(None if self._is_left.is_set() else True)

    async def action_quit(self) -> None:
        self._is_left.set()
