"""The lines at the top: the screens with their keys, the open memories, and a run that is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from tui.key_names import keyed
from tui.plain import plain
from tui.widgets.signs import signs
from tui.workspace.curate.memory_facts import root_name

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize

    from tui.workspace.replay.background_run import RunProgress
    from tui.workspace.workspace import Workspace

TABS = (
    ("browse", "Browse"),
    ("replay", "Replay"),
    ("label", "Label"),
    ("report", "Report"),
    ("whatif", "What-if"),
    ("inbox", "Inbox"),
    ("activity", "Activity"),
)
"""Mode and name of each tab; the id of its key is `go.` and the mode. A tab is there if the app has its mode."""

NAMED_FROM = 120
"""In terminals of at least this number of columns, each tab shows its name; in others, only the current tab."""


class Tab(Static):
    """The key of one screen, with or without its name; a click goes there."""

    def __init__(self, mode: str, key: str, name: str) -> None:
        super().__init__(key, markup=False)
        self.mode = mode
        self._key, self._label = key, name
        self.tooltip = name

    def show(self, *, is_named: bool) -> None:
        here = " (this screen)" if signs(self).in_words and self.has_class("-current") else ""
        self.update(f"{self._key} {self._label}{here}" if is_named else self._key)

    async def on_click(self) -> None:
        await self.app.switch_mode(self.mode)


class TopBar(Vertical):
    """Tabs on the left, the root on the right; below them the progress of a run. *mode* is the present screen's tab."""

    DEFAULT_CSS = """
    TopBar {
        height: auto;
        background: $panel;
        Horizontal { height: 1; }
        Tab { width: auto; padding: 0 0 0 1; color: $foreground-muted; }
        Tab.-current { padding: 0 1; margin-left: 1; background: $primary; color: $text; text-style: bold; }
        Tab:first-child { margin-left: 0; }
        &.-named Tab { padding: 0 1; margin-left: 0; }
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
            for mode, name in TABS:
                if mode in self.app.MODES:
                    key = keyed(self.app, f"{{go.{mode}}}")
                    yield Tab(mode, key, name).set_class(mode == self._mode, "-current")
            yield Static("", id="where", markup=False)
        with Horizontal(id="running"):
            yield Static("", id="run", markup=False)
            yield Static(keyed(self.app, "{app.cancel} cancels"), id="cancel", markup=False)

    def on_mount(self) -> None:
        self._name_tabs(self.app.size.width)

    def on_resize(self, event: Resize) -> None:
        self._name_tabs(event.size.width)

    def _name_tabs(self, width: int) -> None:
        """Show as many names as a terminal of *width* columns has room for."""
        self.set_class(width >= NAMED_FROM, "-named")
        for tab in self.query(Tab):
            tab.show(is_named=width >= NAMED_FROM or tab.mode == self._mode)

    def show_where(self, workspace: Workspace) -> None:
        self.query_one("#where", Static).update(plain(where_text(workspace, keyed(self.app, "{app.skipped}"))))

    def show_run(self, progress: RunProgress | None) -> None:
        self.query_one("#running").set_class(progress is not None, "-on")
        self.query_one("#run", Static).update(progress.text if progress else "")


def where_text(workspace: Workspace, key: str) -> str:
    """The cost of the judge so far, the first open root, and the number of skipped files with their *key*."""
    skipped = len(workspace.skipped)
    spent = workspace.spending.text if workspace.spending else ""
    names = root_name(workspace.root)
    if workspace.others:
        names += f" and {len(workspace.others)} more"
    return " · ".join(filter(None, (spent, names, f"{skipped:,} skipped ({key})" if skipped else "")))
