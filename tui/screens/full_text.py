"""A long text over the screen, to read and to scroll."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.bindings import bindings
from tui.plain import plain

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.content import Content


SHARE, MOST_CELLS, FRAME_CELLS = 90, 100, 6
"""Per cent of the terminal's width and cells that it is wide at most; what its frame takes of these."""


class FullText(ModalScreen[None]):
    """Shows *text* under *title*; escape, enter, space and q close it."""

    DEFAULT_CSS = """
    FullText {
        align: center middle;
        VerticalScroll {
            width: 90%; max-width: 100; height: auto; max-height: 90%;
            background: $surface; border: round $primary; padding: 0 1; border-title-color: $text;
        }
        Static { width: 100%; height: auto; }
    }
    """
    BINDINGS = bindings(hidden=("close",))

    def __init__(self, title: str, text: Content) -> None:
        super().__init__()
        self._heading = title
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll() as scroll:
            yield Static(self._text)
        scroll.border_title = plain(self._heading)
        scroll.border_subtitle = "esc closes"

    def action_close(self) -> None:
        self.dismiss()


def text_width(terminal_width: int) -> int:
    """Cells of a line of the text, beside border, padding and scrollbar."""
    return min(terminal_width * SHARE // 100, MOST_CELLS) - FRAME_CELLS
