"""What the four screens share: the line at the top, and a fresh start whenever one of them is shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from tui.messages import Reloaded
from tui.widgets.top_bar import TopBar

if TYPE_CHECKING:
    from tui.app import MemsiftApp
    from tui.workspace.workspace import Workspace


class ModeScreen(Screen[None]):
    """A screen that is reached by a key of its own and stays as it was while another is shown."""

    app: MemsiftApp

    def begin(self) -> None:
        """Show what may have changed meanwhile: memories, prompts, labels."""
        raise NotImplementedError

    def on_screen_resume(self) -> None:
        self._begin()

    @on(Reloaded)
    def begin_anew(self) -> None:
        self._begin()

    @on(Worker.StateChanged)
    def end_failed(self, event: Worker.StateChanged) -> None:
        """Tell why a worker of this screen failed; the app hears of its own workers only."""
        if event.state is WorkerState.ERROR:
            self.app.tell_failure(event.worker.error)

    def _begin(self) -> None:
        self.query_one(TopBar).show_where(where_text(self.app.workspace))
        self.begin()


def where_text(workspace: Workspace) -> str:
    """Which memories are open: the project's folder name, and how many files were skipped."""
    skipped = len(workspace.skipped)
    return f"{root_name(workspace.root)}{f' · {skipped:,} skipped (s)' if skipped else ''}"


def root_name(root: str) -> str:
    """The folder that a person knows: the project's, not `.claude/memory` inside it."""
    named = [part for part in Path(root).resolve().parts[1:] if part not in (".claude", "memory")]
    return named[-1] if named else root
