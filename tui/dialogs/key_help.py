"""Help on keys: all that act on the screen below or are off, and the letters of jump mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.containers import Vertical
from textual.events import Mount
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from engine.errors import MemsiftError
from tui.dialogs.choices import OptionFinder, Options
from tui.dialogs.dialog import Dialog, Line, text_width
from tui.keys import KEYS, active_keys, bindings, idle_keys, key_names, keyed, keys_of
from tui.plain import hanging, plain
from tui.workspace.filtering import WordFilter, folded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import App, ComposeResult
    from textual.content import Content
    from textual.events import Click, Key
    from textual.screen import Screen
    from textual.widget import Widget


OFF = "$foreground-muted"
GAP = 3
"""Cells between keys and phrase."""

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


class HelpLine(Line):
    """A line into which the keys of help cannot be typed: they close the help."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return key not in keys_of(self.app, "app.help") and super().check_consume_key(key, character)


class KeyHelp(OptionFinder):
    """The keys of *screen*, fewer with each letter that is typed. Gives the id of the chosen one, to act; or None.

    The keys that open it close it, too. *remap* gives an action another key; it raises MemsiftError.
    """

    BINDINGS = bindings(shown="help.change", hidden="app.help", at_once="app.help")

    def __init__(self, screen: Screen[object], remap: Callable[[str, str], None]) -> None:
        super().__init__()
        self._remap = remap
        self._about = keyed(screen.app, screen.HELP) if screen.HELP else ""
        self._below = screen
        self._sections = sections(screen)
        self._width = text_width(screen.size.width) - GAP

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield HelpLine(placeholder="Type to find a key; enter does what it does")
            yield Options()
        box.border_title = "Keys"

    @on(Input.Changed)
    @on(Mount)
    def show_matching(self) -> None:
        """List the lines with the typed words; without any, all of them below the help of the screen."""
        words = WordFilter(self.line.value)
        keys_width = max(len(line.keys) for lines in self._sections.values() for line in lines) + GAP
        listed = [] if words.words or not self._about else [Option(plain(self._about), disabled=True)]
        for title, lines in self._sections.items():
            fitting = [line for line in lines if words.fits(folded(line[1:3]))]
            if fitting:
                heading = plain(f"\n{title}" if listed else title).stylize_before("bold $text-primary")
                listed.append(Option(heading, disabled=True))
            listed += [
                Option(_shown(line, keys_width, self._width), line.name or None, disabled=not line.name)
                for line in fitting
            ]
        self.found.set_options(listed)
        self.found.action_first()

    def action_change(self) -> None:
        """Ask for the new key of the line under the cursor."""
        at = self.found.highlighted
        name = self.found.get_option_at_index(at).id if at is not None else None

        def take(key: str | None) -> None:
            if name and key:
                try:
                    self._remap(name, key)
                except MemsiftError as error:
                    self.app.notify(str(error), severity="warning", markup=False)
                self._sections = sections(self._below)
                self.show_matching()

        if name:
            self.app.push_screen(PressKey(KEYS[name].phrase), take)


class PressKey(Dialog[str | None]):
    """Waits for the new key of an action, which is called *phrase*, and gives it as config.toml has it."""

    def __init__(self, phrase: str) -> None:
        super().__init__()
        self._phrase = phrase

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield Static(plain(self._phrase))
        box.border_title = "Press the new key"

    def on_key(self, event: Key) -> None:
        if event.key not in keys_of(self.app, "pick.leave"):
            event.stop()
            typed = event.character or ""
            self.dismiss(typed if typed.isprintable() and typed.strip(" ,") else event.key)


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


def _shown(line: KeyLine, keys_width: int, width: int) -> Content:
    """The keys, and beside them the phrase, of which every line begins at the same cell."""
    keys, phrase = plain(line.keys.ljust(keys_width)), plain(line.phrase)
    shown = (keys + phrase).stylize(OFF) if line.is_off else keys.stylize_before("bold $text-accent") + phrase
    return hanging(shown, keys_width, width)


class Letter(Static):
    """The letter of a list or panel, at the corner of it."""


class Jump(ModalScreen["Widget | None"]):
    """Shows letters over *targets*, which can have the focus. Gives the chosen one, or None after any other key."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS = bindings(hidden="pick.leave")

    def __init__(self, targets: Sequence[Widget]) -> None:
        super().__init__()
        self._targets = dict(zip("asdfghjklqwertzuiop", targets, strict=False))

    def compose(self) -> ComposeResult:
        for letter, target in self._targets.items():
            shown = Letter(f" {letter} ", markup=False)
            shown.styles.offset = (target.region.x, target.region.y)
            yield shown

    def on_key(self, event: Key) -> None:
        event.stop()
        self.dismiss(self._targets.get(event.key))

    def on_click(self, event: Click) -> None:
        """Take the letter that is clicked; a click elsewhere is no choice."""
        letter = str(event.widget.content).strip() if isinstance(event.widget, Letter) else ""
        self.dismiss(self._targets.get(letter))

    def action_leave(self) -> None:
        self.dismiss(None)
