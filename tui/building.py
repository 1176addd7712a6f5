"""The first thing that a person sees of many memories: a progress bar, while the index of a root is built."""

from __future__ import annotations

import os
from threading import Event
from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Vertical
from textual.widgets import Footer, ProgressBar, Static
from textual.worker import Worker

from engine.opening import build
from tui.bindings import bindings
from tui.plain import plain
from tui.plain_app import PlainApp

if TYPE_CHECKING:
    from textual.app import ComposeResult

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
