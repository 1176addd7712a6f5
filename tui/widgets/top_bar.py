"""The lines at the top: the screens with their keys, the open memories, and a run that is under way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from tui.plain import plain

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui.workspace.background_run import Progress
    from tui.workspace.workspace import Workspace

TABS = (("browse", "F2 Browse"), ("replay", "F3 Replay"), ("label", "F4 Label"), ("report", "F5 Report"))


class Tab(Static):
    """The name of one screen; a click goes there."""

    def __init__(self, mode: str, text: str) -> None:
        super().__init__(text, markup=False)
        self.mode = mode

    async def on_click(self) -> None:
        await self.app.switch_mode(self.mode)


class TopBar(Vertical):
    """Tabs on the left, the root on the right; below them the progress of a run. *mode* is the present screen's tab."""

    DEFAULT_CSS = """
    TopBar {
        height: auto;
        background: $panel;
        Horizontal { height: 1; }
        Tab { width: auto; padding: 0 1; color: $foreground-muted; }
        Tab.-current { background: $primary; color: $text; text-style: bold; }
        #where { width: 1fr; text-align: right; padding: 0 1; color: $foreground-muted; }
        #where, #run { text-overflow: ellipsis; text-wrap: nowrap; }
        #running { display: none; background: $surface; }
        #running.-on { display: block; }
        #run { width: 1fr; padding: 0 1; color: $text-accent; }
        #cancel { width: auto; padding-right: 1; color: $foreground-muted; }
    }
    """

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode = mode

    def compose(self) -> ComposeResult:
        with Horizontal():
            for mode, text in TABS:
                yield Tab(mode, text).add_class("-current") if mode == self._mode else Tab(mode, text)
            yield Static("", id="where", markup=False)
        with Horizontal(id="running"):
            yield Static("", id="run", markup=False)
            yield Static("ctrl+x cancels", id="cancel", markup=False)

    def show_where(self, workspace: Workspace) -> None:
        self.query_one("#where", Static).update(plain(where_text(workspace)))

    def show_run(self, progress: Progress | None) -> None:
        self.query_one("#running").set_class(progress is not None, "-on")
        self.query_one("#run", Static).update(progress.text if progress else "")


def where_text(workspace: Workspace) -> str:
    """The cost of the judge so far, the name of the open root, and the number of skipped files."""
    skipped = len(workspace.skipped)
    spent = workspace.spending.text if workspace.spending else ""
    return " · ".join(filter(None, (spent, root_name(workspace.root), f"{skipped:,} skipped (s)" if skipped else "")))


def root_name(root: str) -> str:
    """The folder that a person knows: the project's, not `.claude/memory` inside it."""
    named = [part for part in Path(root).resolve().parts[1:] if part not in (".claude", "memory")]
    return named[-1] if named else root
