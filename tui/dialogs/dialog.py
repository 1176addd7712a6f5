"""The base of all dialogs: a box in the middle of the screen, with its title above and its keys below."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from textual.screen import ModalScreen

from tui.key_names import keyed
from tui.plain import plain

if TYPE_CHECKING:
    from textual.widget import Widget

T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """A subclass composes its box, and gives it a head. Without an answer, a dialog gives None."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > Vertical, & > VerticalScroll { background: $surface; border: round $primary; border-title-color: $text; }
    }
    """

    def head(self, box: Widget, title: str, hint: str) -> None:
        """Write *title* over the box, and *hint*, with keys in the place of their ids, below it."""
        box.border_title = plain(title)
        box.border_subtitle = plain(keyed(self.app, hint))

    def action_leave(self) -> None:
        self.dismiss(None)
