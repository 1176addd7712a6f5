"""The base of all dialogs, a box in the middle of the screen; and the dialog that shows a long text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.keys import bindings, keyed
from tui.plain import ELLIPSIS, plain, printable
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import TextPane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.screen import Screen
    from textual.widget import Widget

    from engine.memory import Skipped


T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """A subclass composes its box, and gives it a head. Without an answer, a dialog gives None."""

    CSS_PATH = "dialogs.tcss"

    def head(self, box: Widget, title: str, hint: str) -> None:
        """Write *title* over the box, and *hint*, with keys in the place of their ids, below it."""
        box.border_title = plain(title)
        box.border_subtitle = plain(keyed(self.app, hint))

    def action_leave(self) -> None:
        self.dismiss(None)


MOST_SAID = 60
"""Characters of a copied text that are shown."""

SHARE, MOST_CELLS, FRAME_CELLS = 90, 100, 6
"""Width of the dialog: per cent of the terminal, and cells at most. Cells that border, padding and scrollbar take."""


class FullText(Dialog[None]):
    """Shows *text* under *title*, and *above* it what a person finds by scrolling up. `close` keys close it."""

    BINDINGS = bindings(hidden="close copy.text")

    def __init__(self, title: str, text: Content, above: Content | None = None) -> None:
        super().__init__()
        self._heading = title
        self._text = text
        self._above = above

    def compose(self) -> ComposeResult:
        with TextPane() as scroll:
            if self._above:
                yield Static(self._above, id="above")
            yield Static(self._text, id="text")
        above = "k shows the turns before it, " if self._above else ""
        self.head(scroll, self._heading, f"{above}{{close}} closes")

    def on_mount(self) -> None:
        if self._above:
            self.call_after_refresh(self._scroll_to_text)

    def _scroll_to_text(self) -> None:
        """Begin at the text. Where all of it has room, all is shown."""
        self.query_one(TextPane).scroll_to_widget(self.query_one("#text"), animate=False, top=True)

    def action_close(self) -> None:
        self.dismiss()

    def action_copy(self) -> None:
        copy_focused(self)


def copy_focused(screen: Screen[Any]) -> None:
    """Copy the row or the text that has the focus, through the terminal, and say so."""
    found = screen.focused
    copy_text(
        screen, found.row_text() if isinstance(found, RowList) else found.text if isinstance(found, TextPane) else ""
    )


def copy_text(screen: Screen[Any], text: str) -> None:
    if text:
        screen.app.copy_to_clipboard(text)
        said = " ".join(text[:MOST_SAID].split())
        screen.app.notify(printable(f"Copied {said}{ELLIPSIS if len(text) > MOST_SAID else ''}"), markup=False)


def text_width(terminal_width: int) -> int:
    """Cells of one line of the text in a terminal of *terminal_width* cells."""
    return min(terminal_width * SHARE // 100, MOST_CELLS) - FRAME_CELLS


def skipped_text(skipped: Sequence[Skipped], notices: Sequence[Skipped] = ()) -> Content:
    """A line for each skipped file or row: its place, and the reason. Below them the notices, which cost no memory."""
    lines = [_reason_line(file) for file in skipped] or [Content("Everything was read: nothing was skipped.")]
    if notices:
        lines += [Content(""), Content("To know:"), *map(_reason_line, notices)]
    return Content("\n").join(lines)


def _reason_line(skipped: Skipped) -> Content:
    return plain(skipped.where).stylize_before("bold") + plain(f" {skipped.reason}")
