"""The base of all dialogs, a box in the middle of the screen; and the dialog that shows a long text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual.binding import Binding
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.keys import bindings
from tui.plain import ELLIPSIS, plain, printable
from tui.widgets.bars import KeyFooter
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import TextPane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Click, Key
    from textual.screen import Screen
    from textual.widget import Widget

    from engine.memory import Skipped


T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """A subclass composes a box with a title. Its keys stand in the footer, and can be clicked there.

    Escape, and a click beside the box, leave it without an answer: the dialog gives None.
    """

    CSS_PATH = "dialogs.tcss"
    BINDINGS = bindings(shown="pick.leave")

    def on_mount(self) -> None:
        self.mount(KeyFooter())

    def on_click(self, event: Click) -> None:
        if event.widget is self:
            self.action_leave()

    def action_leave(self) -> None:
        self.dismiss(None)


class Line(Input):
    """An input of one line, which names its key in the footer."""

    BINDINGS = [Binding("enter", "submit", "OK")]

    def __init__(self, value: str = "", **options: Any) -> None:
        super().__init__(value, compact=True, **options)


class Finder(Dialog[str | None]):
    """A line and a list below it, which follows the typing. Arrows move in the list from the line too."""

    AUTO_FOCUS = "Input"
    MOVES: ClassVar[dict[str, str]] = {
        "down": "cursor(1)",
        "up": "cursor(-1)",
        "pagedown": "page(1)",
        "pageup": "page(-1)",
    }

    line = query_one(Line)

    @property
    def found(self) -> Widget:
        """The list."""
        raise NotImplementedError

    async def on_key(self, event: Key) -> None:
        if self.line.has_focus and event.key in self.MOVES:
            event.stop()
            await self.app.run_action(self.MOVES[event.key], self.found)


MOST_SAID = 60
"""Characters of a copied text that are shown."""

SHARE, MOST_CELLS, FRAME_CELLS = 90, 100, 6
"""Width of the dialog: per cent of the terminal, and cells at most. Cells that border, padding and scrollbar take."""


class FullText(Dialog[None]):
    """Shows *text* under *title*, and *above* it what a person finds by scrolling up."""

    BINDINGS = bindings(shown="copy.text close")

    def __init__(self, title: str, text: Content, above: Content | None = None) -> None:
        super().__init__()
        self._heading = title
        self._text = text
        self._above = above

    def compose(self) -> ComposeResult:
        with TextPane() as box:
            if self._above:
                yield Static(self._above, id="above")
            yield Static(self._text, id="text")
        box.border_title = plain(self._heading)
        box.border_subtitle = "k shows the turns before it" if self._above else ""

    def on_mount(self) -> None:
        """Begin at the text. Where all of it has room, all is shown."""
        if self._above:
            pane, text = self.query_one(TextPane), self.query_one("#text")
            self.call_after_refresh(pane.scroll_to_widget, text, animate=False, top=True)

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
