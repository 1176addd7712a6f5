"""Help: the purpose of the screen below, and the keys that act on it now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui.bindings import KEYS, active_keys, bindings
from tui.dialogs.full_text import FullText
from tui.plain import plain

if TYPE_CHECKING:
    from textual.screen import Screen

SCROLLING = "arrows, page up, page down, home, end   Move in a list, or scroll"


class KeyHelp(FullText):
    """Help for *screen*. The keys that open it close it, too."""

    BINDINGS = bindings(hidden="app.help")

    def __init__(self, screen: Screen[object]) -> None:
        about = [plain(screen.HELP), Content("")] if screen.HELP else []
        keys = keys_by_id(screen)
        width = max(map(len, keys.values()), default=0)
        lines = [
            plain(shown.ljust(width)).stylize_before("bold $text-accent") + plain(f"   {KEYS[name].phrase}")
            for name, shown in keys.items()
        ]
        super().__init__("Keys", Content("\n").join([*about, *lines, Content(""), plain(SCROLLING)]))


def keys_by_id(screen: Screen[object]) -> dict[str, str]:
    """By the id of each binding that acts on *screen* now: its keys, as a person reads them."""
    keys: dict[str, list[str]] = {}
    for name, active in active_keys(screen):
        keys.setdefault(name, []).append(screen.app.get_key_display(active.binding))
    return {name: " ".join(shown) for name, shown in keys.items()}
