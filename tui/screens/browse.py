"""Browse: the memories, filtered as you type, and the one under the cursor in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Container
from textual.getters import query_one
from textual.widgets import Footer, Input

from engine.search.highlight import Marker
from engine.search.query import filter_terms
from tui.bindings import bindings
from tui.plain import plain
from tui.screens.curating_screen import CuratingScreen
from tui.widgets.browse_columns import MemoryList
from tui.widgets.memory_pane import MemoryPane, memory_text
from tui.widgets.row_list import RowList
from tui.widgets.top_bar import TopBar

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.memory import MemorySummary
    from engine.search.query import Term

NO_MEMORIES = "There are no memories here yet.\n\nName another folder with --root, or press ctrl+r once there are some."
NO_MATCH = "No memory has all of these words. Press esc to clear the filter."

ON_MEMORIES = ("copy", "open", "retire", "archive", "restore", "retag", "edit", "edit_file")
"""Actions that need a memory in the list."""


class BrowseScreen(CuratingScreen):
    """A list of memories, and a memory beside it, or below it where the terminal is narrow."""

    CSS_PATH = "browse.tcss"
    AUTO_FOCUS = "MemoryList"
    BINDINGS = bindings(
        shown="browse.filter browse.open change.retire change.edit change.undo",
        hidden="browse.clear browse.copy change.archive change.restore change.tags change.file",
    )
    HELP = (
        "The memories of this root. Type / and some words to filter by title, tags and body. "
        "Every change of a memory can be taken back with u, also tomorrow."
    )

    filter_line = query_one(Input)
    memories = query_one(MemoryList)
    detail = query_one(MemoryPane)

    def __init__(self) -> None:
        super().__init__()
        self._reading = 0

    def compose(self) -> ComposeResult:
        yield TopBar("browse")
        yield Input(placeholder="Press / and type: words of title, tags or body", compact=True)
        with Container(id="panes"):
            yield MemoryList(classes="pane")
            yield MemoryPane("detail")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self.filter_line.cursor_blink = False

    def begin(self) -> None:
        """Fill the list again if another screen has reloaded the memories."""
        if self._reading != self.app.workspace.reading:
            self.show_matching()

    @on(Input.Changed)
    def show_matching(self) -> None:
        """List the memories that match the filter, the best match first."""
        index = self.app.workspace.index
        self._reading = self.app.workspace.reading
        found = index.matching(self.terms)
        self.memories.show(found)
        total = f"{len(index):,} memories"
        self.memories.border_title = f"{len(found):,} of {total}" if self.terms else total
        if not found:
            self.detail.show(plain(NO_MATCH if self.terms else NO_MEMORIES))

    @on(RowList.Highlighted)
    def show_current(self) -> None:
        current = self.memories.current
        memory = self.app.workspace.memory(current.id) if current else None
        if memory:
            self.note_seen(memory.summary)
            self.detail.show(memory_text(memory, self.marker))

    @property
    def terms(self) -> tuple[Term, ...]:
        return filter_terms(self.filter_line.value)

    @property
    def marker(self) -> Marker:
        return Marker(self.terms, by_stem=False)

    # Keys

    @on(Input.Submitted)
    def leave_filter(self) -> None:
        self.memories.focus()

    def key_down(self) -> None:
        if self.filter_line.has_focus:
            self.memories.focus()

    @on(RowList.Selected)
    def action_open(self) -> None:
        if current := self.memories.current:
            self.read_memory(current.id, current.id, self.marker)

    def action_filter(self) -> None:
        self.set_focus(self.filter_line)

    def action_clear(self) -> None:
        """Stop the changes under way; else clear the filter; if it is empty, leave it."""
        if self.is_changing:
            self.stop_changing()
        elif self.filter_line.value:
            self.filter_line.value = ""
        else:
            self.memories.focus()

    def action_copy(self) -> None:
        if current := self.memories.current:
            self.app.copy_to_clipboard(current.path)
            self.app.tell(f"Copied {current.path}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action not in (*ON_MEMORIES, "filter", "undo") or not self.is_mounted:
            return True
        if isinstance(self.focused, Input):
            return False
        return action not in ON_MEMORIES or bool(self.memories.count)

    # Changing memories

    def chosen(self) -> list[MemorySummary]:
        return [self.memories.current] if self.memories.current else []

    def end_selection(self) -> None:
        pass

    def show_progress(self, text: str) -> None:
        self.memories.border_subtitle = text
