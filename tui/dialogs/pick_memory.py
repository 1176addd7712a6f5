"""The dialog that picks any memory of the root, by words typed into a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Input, Static

from engine.search.query import filter_terms
from tui.bindings import bindings
from tui.dialogs.dialog import Dialog
from tui.widgets.lists.memories import MemoryList
from tui.widgets.lists.rows import RowList

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Key

    from engine.roots import OpenIndex


NO_MATCH = "No memory has all of these words."


class PickMemory(Dialog[str | None]):
    """The memories of *index* that match the filter, as in Browse. Gives the chosen memory's id, or None."""

    DEFAULT_CSS = """
    PickMemory {
        Vertical { width: 90%; max-width: 100; height: 80%; }
        Input { background: $boost; padding: 0 1; }
        #none { padding: 0 1; color: $foreground-muted; }
    }
    """
    AUTO_FOCUS = "Input"
    BINDINGS = bindings(hidden="pick.leave")

    line = query_one(Input)
    memories = query_one(MemoryList)
    none = query_one("#none", Static)

    def __init__(self, index: OpenIndex, question: str = "Why not this memory?") -> None:
        super().__init__()
        self._index, self._question = index, question

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield Input(placeholder="Type words of title, tags or body", compact=True)
            yield MemoryList()
            yield Static(NO_MATCH, id="none")
        self.head(box, self._question, "enter chooses, {pick.leave} closes")

    def on_mount(self) -> None:
        self.line.cursor_blink = False
        self.show_matching()

    @on(Input.Changed)
    def show_matching(self) -> None:
        found = self._index.matching(filter_terms(self.line.value))
        self.memories.show(found)
        self.memories.display, self.none.display = bool(found), not found

    @on(Input.Submitted)
    @on(RowList.Selected)
    def choose(self) -> None:
        current = self.memories.current
        if current:
            self.dismiss(current.id)

    def on_key(self, event: Key) -> None:
        """Move in the list while the input has the focus; with the focus, the list moves by itself."""
        if self.line.has_focus:
            self.memories.cursor += {"down": 1, "up": -1}.get(event.key, 0)
