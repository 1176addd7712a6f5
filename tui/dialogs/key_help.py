"""Help on keys: all that act on the screen below or are off, and the letters of jump mode."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.dialogs.dialog import FullText, text_width
from tui.keys import KEYS, active_keys, bindings, idle_keys, key_names, keyed
from tui.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.app import App, ComposeResult
    from textual.events import Key
    from textual.screen import Screen
    from textual.widget import Widget


OFF = "$foreground-muted"
GAP, MIN_PHRASE = 3, 12
"""Cells between keys and phrase, and cells of a phrase at least."""

PALETTE = "ctrl+p"
MOVING = {
    "↑ ↓ j k": "Move in a list, or scroll",
    "pgup pgdn": "A page up or down",
    "^d ^u": "Half a page down or up",
    "home end g G": "The beginning or the end",
    "tab": "The next list or panel",
    PALETTE: "Find any action by its name",
}


class KeyLine(NamedTuple):
    """A key of the table by its id (empty for keys that move), as a person reads it, and what it does."""

    name: str
    keys: str
    phrase: str
    is_off: bool = False


class KeyHelp(FullText):
    """Help for *screen*. The keys that open it close it, too."""

    BINDINGS = bindings(hidden="app.help")

    def __init__(self, screen: Screen[object]) -> None:
        about = [plain(keyed(screen.app, screen.HELP))] if screen.HELP else []
        keys = _paragraphs(sections(screen), text_width(screen.size.width))
        super().__init__("Keys", Content("\n").join([*about, *keys]))


def sections(screen: Screen[object]) -> dict[str, list[KeyLine]]:
    """The lines of the help by title. The keys of the app stand apart from those of the screen, off ones last."""
    acting = active_keys(screen)
    app = screen.app
    of_screen = [name for name, active in acting.items() if active.node is not app]
    return {
        "On this screen": [_line(app, name) for name in of_screen],
        "Off now": [_line(app, *item) for item in idle_keys(screen, acting).items()],
        "Everywhere": [
            *(_line(app, name) for name in acting if name not in of_screen),
            *(_line(app, *item) for item in idle_keys(app, acting).items()),
        ],
        "Moving": [
            KeyLine("", keys, phrase)
            for keys, phrase in MOVING.items()
            if keys != PALETTE or app.ENABLE_COMMAND_PALETTE
        ],
    }


def _line(app: App[object], name: str, why: str | None = None) -> KeyLine:
    """The line of a key that acts, or with the reason *why* of a key that is off."""
    phrase = KEYS[name].phrase
    return KeyLine(name, key_names(app, name), f"{phrase}. {why}" if why else phrase, is_off=why is not None)


def _paragraphs(found: dict[str, list[KeyLine]], width: int) -> Iterator[Content]:
    keys_width = max(len(line.keys) for lines in found.values() for line in lines) + GAP
    for title, lines in found.items():
        if lines:
            yield plain(f"\n{title}").stylize_before("bold $text-primary")
            yield from (_shown(line, keys_width, width) for line in lines)


def _shown(line: KeyLine, keys_width: int, width: int) -> Content:
    """The keys, and beside them the phrase, of which every line begins at the same cell."""
    pieces = wrap(line.phrase, max(MIN_PHRASE, width - keys_width))
    phrase = plain(("\n" + " " * keys_width).join(pieces))
    keys = plain(line.keys.ljust(keys_width))
    return (keys + phrase).stylize(OFF) if line.is_off else keys.stylize_before("bold $text-accent") + phrase


LETTERS = "asdfghjklqwertzuiop"


class Letter(Static):
    """The letter of a list or panel, at the corner of it."""


class Jump(ModalScreen["Widget | None"]):
    """Shows letters over *targets*, which can have the focus. Gives the chosen one, or None after any other key."""

    CSS_PATH = "dialogs.tcss"
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
