"""The line of keys at the bottom of a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult
    from textual.events import Resize

ALWAYS = ("app.toggle_help", "app.quit")
"""Actions whose keys are always shown."""

SPACES = 2
"""Cells of a key besides its texts: between key and name, and behind the name."""


class KeyFooter(Footer):
    """As many keys of the screen as there is room for, in the order of its BINDINGS, and always those of help and quit.

    A key that would be cut off is left out: help and palette list it.
    """

    def __init__(self) -> None:
        super().__init__(compact=True, show_command_palette=False)
        self._width = 0

    def compose(self) -> ComposeResult:
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        own = [key for key in keys if key.action not in ALWAYS]
        others = [key for key in keys if key.action in ALWAYS]
        while own and width_of([*own, *others]) > self.app.size.width:
            own.pop()
        yield from (*own, *others)

    async def on_resize(self, event: Resize) -> None:
        if event.size.width != self._width:
            self._width = event.size.width
            await self.recompose()


def width_of(keys: Iterable[FooterKey]) -> int:
    """The cells that *keys* need, without the space behind the last name."""
    return sum(cell_len(key.key_display) + cell_len(key.description) + SPACES for key in keys) - 1
