"""A dialog that asks for a line of text: a reason, tags, a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Input, Static

from tui.bindings import bindings
from tui.dialogs.dialog import Dialog
from tui.plain import plain, printable

if TYPE_CHECKING:
    from textual.app import ComposeResult

MOST = 2_000
"""Characters of the line."""


class AskLine(Dialog[str | None]):
    """Asks *question* over an input with *value*, and tells *hint* below. Gives the line, or None after escape."""

    DEFAULT_CSS = """
    AskLine {
        Vertical { width: 90%; max-width: 70; height: auto; padding: 0 1; }
        Input { background: $boost; }
        Static { color: $foreground-muted; height: auto; }
    }
    """
    BINDINGS = bindings(hidden="pick.leave")

    line = query_one(Input)

    def __init__(self, question: str, value: str = "", hint: str = "") -> None:
        super().__init__()
        self._question, self._value, self._hint = question, value, hint

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield Input(printable(self._value), compact=True, max_length=MOST, select_on_focus=False)
            yield Static(plain(self._hint))
        self.head(box, self._question, "enter agrees, {pick.leave} leaves")

    def on_mount(self) -> None:
        self.line.cursor_blink = False
        self.line.cursor_position = len(self.line.value)

    @on(Input.Submitted)
    def agree(self) -> None:
        self.dismiss(self.line.value)
