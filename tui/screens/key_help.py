"""The keys that do something on the screen now, and what the screen is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui.bindings import KEYS, bindings
from tui.plain import plain
from tui.screens.full_text import FullText

if TYPE_CHECKING:
    from textual.screen import Screen

SCROLLING = "arrows, page up, page down, home, end   Move in a list, or scroll"


class KeyHelp(FullText):
    """Closed like any other text, and by the keys that open it."""

    BINDINGS = bindings(hidden=("app.help",))


def key_help(screen: Screen[object]) -> KeyHelp:
    about = [plain(screen.HELP), Content("")] if screen.HELP else []
    keys = keys_by_id(screen)
    width = max(map(len, keys.values()), default=0)
    lines = [
        plain(shown.ljust(width)).stylize_before("bold $text-accent") + plain(f"   {sentence_of(name)}")
        for name, shown in keys.items()
    ]
    return KeyHelp("Keys", Content("\n").join([*about, *lines, Content(""), plain(SCROLLING)]))


def keys_by_id(screen: Screen[object]) -> dict[str, str]:
    """By the id of each binding that acts now, its keys; those of the screen before those of the app."""
    keys: dict[str, list[str]] = {}
    for active in screen.active_bindings.values():
        name = active.binding.id or ""
        if active.enabled and name in KEYS:
            keys.setdefault(name, []).append(screen.app.get_key_display(active.binding))
    return {name: " ".join(shown) for name, shown in keys.items()}


def sentence_of(name: str) -> str:
    """What the key does; the palette says before it on which screen."""
    return KEYS[name][3].split(": ", 1)[-1]
