"""Jump mode: a letter on every list and panel of the screen; pressing the letter goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import ModalScreen
from textual.widgets import Static

from tui.bindings import bindings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Key
    from textual.widget import Widget

LETTERS = "asdfghjklqwertzuiop"


class Letter(Static):
    """The letter of a list or panel, at the corner of it."""

    DEFAULT_CSS = """
    Letter {
        position: absolute; width: 3; height: 1;
        background: $primary; color: $text; text-style: bold;
    }
    """


class Jump(ModalScreen["Widget | None"]):
    """Shows letters over *targets*, which can have the focus. Gives the chosen one, or None after any other key."""

    DEFAULT_CSS = "Jump { background: $background 40%; }"
    BINDINGS = bindings(hidden="pick.leave")

    def __init__(self, targets: Sequence[Widget]) -> None:
        super().__init__()
        self._targets = dict(zip(LETTERS, targets, strict=False))

    def compose(self) -> ComposeResult:
        for letter, target in self._targets.items():
            shown = Letter(f" {letter} ", markup=False)
            shown.styles.offset = (target.region.x, target.region.y)
            yield shown

    def on_key(self, event: Key) -> None:
        event.stop()
        self.dismiss(self._targets.get(event.key))

    def action_leave(self) -> None:
        self.dismiss(None)
