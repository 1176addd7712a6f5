"""The base of the apps: readable colours, none where NO_COLOR is set, and a plain mode for screen readers.

Text has a contrast of at least 4.5 to each ground in every theme (WCAG 2.2, 1.4.3).
"""

from __future__ import annotations

import asyncio
import os
import signal
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual import on
from textual.app import App
from textual.color import BLACK, WHITE, Color
from textual.driver import Driver
from textual.events import DescendantFocus, Event, Key, Load, Mount
from textual.filter import LineFilter, Monochrome, NoColor
from textual.geometry import Offset
from textual.message import Message
from textual.theme import Theme
from textual.widgets import Input, TextArea

from engine.lean.sections import text_beside
from engine.settings.values import write_user_settings
from tui.keys import KEYS, active_keys, bindings, idle_keys, key_map, key_word, keyed, refuse_wrong_keys
from tui.plain import printable
from tui.widgets.bars import SCREEN_NAMES, WhereLine, where
from tui.widgets.signs import PLAIN
from tui.workspace.app_settings import KEYS as OWN_KEYS
from tui.workspace.app_settings import read_app_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rich.segment import Segment
    from textual.binding import Binding
    from textual.widget import AwaitMount

T = TypeVar("T")

NOTICE_SECONDS = 20.0
"""Time to read which settings are ignored, and what to do."""

LOOK_SECONDS = 0.1
"""Time between two looks at the place of the cursor."""

TAKE_NO_CELL = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters: control, format, surrogate, and separators of lines and paragraphs."""

NO_SHELL = "No shell started this program, so there is none to go back to."
NO_KEY = " is no key here. Switch the keyboard to Latin letters, or give actions other keys: {app.help}."

FRAMES = dict.fromkeys(range(0x2500, 0x25A0), " ")
"""Lines and blocks, of which borders, bars and scrollbars are drawn."""


# What the app tells its screens. Workers need no message: they have `call_later` call a method.


class Reloaded(Message, bubble=False):
    """App to screens: the workspace has read the memories from disk again."""


@dataclass
class Kept(Message, bubble=False):
    """App to screens: the workspace holds new retrievals of these prompts."""

    prompt_ids: frozenset[str]


class RunChanged(Message, bubble=False):
    """App to screens: `Runner.progress` has changed."""


@dataclass
class AllReplayed(Message, bubble=False):
    """App to screens: a replay has ended, with *prompts* finished."""

    prompts: int


class LabelsChanged(Message, bubble=False):
    """App to screens: another program has written to the label store, perhaps labels."""


class FindingsChanged(Message, bubble=False):
    """App to screens: checks have begun or are done, or a finding was settled."""


class Harmless(LineFilter):
    """Leaves out characters that move the terminal's cursor or turn text round. The inputs of Textual draw them."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        def harmless(text: str) -> str:
            """*text* without characters that take no cell, so that its width stays."""
            return "".join(character for character in text if unicodedata.category(character) not in TAKE_NO_CELL)

        return [
            segment if segment.text.isprintable() else segment._replace(text=harmless(segment.text))
            for segment in segments
        ]


class Undecorated(LineFilter):
    """Takes frames away, and writes a comma for the dot between two facts."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [segment._replace(text=_in_words(segment.text)) for segment in segments]


def _in_words(text: str) -> str:
    return text.translate(FRAMES).replace(" · ", ",  ") if text.strip() != "·" else text.replace("·", " ")


class PlainApp(App[T]):
    """An app that is in plain mode if *is_plain*: words, one column, no movement, and a line that names the place.

    `trail`: the screens to which escape goes back, the latest last.
    """

    BINDINGS = bindings(hidden="app.suspend")

    def __init__(self, *, is_plain: bool = False) -> None:
        super().__init__()
        self.is_plain = is_plain
        self._own_filters: list[LineFilter] = [Harmless(), *([NoColor()] if self.no_color else [])]
        self._toast = ""
        self.trail: list[str] = []
        self.keys: dict[str, str] = {}
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = DARK.name
        if is_plain:
            self._own_filters.append(Undecorated())
            self.add_class(PLAIN)
            self.animation_level = "none"
            self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow")]

    def switch_mode(self, mode: str) -> AwaitMount:
        """Show another screen. Escape leads back to the one before; each screen is on that way at most once."""
        here = self.current_mode
        if here in self.MODES and here != mode:
            self.trail = [screen for screen in self.trail if screen not in (here, mode)] + [here]
        return super().switch_mode(mode)

    async def go_back(self) -> None:
        """Show the screen from which this one was opened."""
        if self.trail:
            await super().switch_mode(self.trail.pop())

    @on(Load)
    def start_no_task_eagerly(self) -> None:
        """Let the first screen be on the stack before its inputs look for it, also on Python 3.12 or later.

        Textual lets tasks start at once there, so a screen is composed before Textual puts it on the stack.
        """
        asyncio.get_running_loop().set_task_factory(None)

    async def on_event(self, event: Event) -> None:
        """Say that a letter of another keyboard is no key, unless it is typed into an input or a person chose it."""
        if isinstance(event, Key) and not event.is_forwarded and self.screen_stack:
            await self._flush_next_callbacks()  # the answer of a dialog counts before a key that was typed after it
            letter = event.character or ""
            is_typed = isinstance(self.focused, Input | TextArea) or event.key in self.screen.active_bindings
            if letter.isalpha() and not letter.isascii() and not is_typed:
                self.tell(f"{letter}{keyed(self, NO_KEY)}")
                return
        await super().on_event(event)

    @on(DescendantFocus)
    def hold_cursor_still(self, event: DescendantFocus) -> None:
        """Let no cursor blink: it tells nothing, and draws the screen again twice a second."""
        if isinstance(event.widget, Input | TextArea):
            event.widget.cursor_blink = False

    @on(Mount)
    def begin_saying(self) -> None:
        if self.is_plain:
            self.set_interval(LOOK_SECONDS, self.say_where)

    def action_toggle_help(self) -> None:
        from tui.dialogs.key_help import KeyHelp

        if isinstance(self.screen, KeyHelp):
            self.screen.dismiss()
        else:
            self.push_screen(KeyHelp(self.screen, self.remap), self.act)

    def remap(self, name: str, key: str) -> None:
        """Give the action *name* another key, from now on and in config.toml.

        Raises MemsiftError for a key that another action has, and where the file cannot be written.
        """
        refuse_wrong_keys(read_app_settings(os.environ), name, key)
        write_user_settings({(OWN_KEYS, name): key}, os.environ)
        self.keys, _ = key_map(read_app_settings(os.environ))
        self.set_keymap(self.keys)

    async def act(self, name: str | None) -> None:
        """Do what the key with the id *name* does on this screen, or tell why it is off now."""
        active = active_keys(self.screen).get(name or "")
        if active:
            await self.run_action(active.binding.action, active.node)
        elif name:
            why = {**idle_keys(self, ()), **idle_keys(self.screen, ())}.get(name, "")
            self.tell(f"{KEYS[name].phrase}: this is off now. {why}".strip())

    def action_suspend_process(self) -> None:
        """Stop this program and those that wait for it, such as `uv run`, as ctrl+z does elsewhere.

        Without a shell above, nobody could let them go on.
        """
        if not self._driver or not self._driver.can_suspend or os.getpgrp() == os.getsid(0):
            self.tell(NO_SHELL)
            return
        self.app_suspend_signal.publish(self)
        os.killpg(0, signal.SIGTSTP)

    @on(Driver.SignalResume)
    def draw_again(self) -> None:
        """Draw the whole screen: the shell has written over it, and Textual would draw only its changes."""
        self.screen.refresh(layout=True)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's filters and those of this app. Textual's own way with NO_COLOR leaves shades of grey."""
        return [
            *(line_filter for line_filter in super().get_line_filters() if not isinstance(line_filter, Monochrome)),
            *self._own_filters,
        ]

    def get_css_variables(self) -> dict[str, str]:
        """The variables of the theme, with colours of text that can be read on its grounds."""
        variables = super().get_css_variables()
        self.theme_variables = {**variables, **readable(variables)}
        return self.theme_variables

    def get_key_display(self, binding: Binding) -> str:
        return key_word(binding.key) if self.is_plain else super().get_key_display(binding)

    def notify(self, message: str, *, title: str = "", severity: Any = "information", **options: Any) -> None:
        """Show a toast. Where its colour cannot tell that it is a warning, its title does."""
        if (self.is_plain or self.no_color) and severity != "information":
            title = f"{severity.capitalize()}: {title}".removesuffix(": ")
        self._toast = f"{title}. {message}" if title else message
        super().notify(message, title=title, severity=severity, **options)

    def tell(
        self, message: str, *, title: str = "", severity: str = "information", seconds: float | None = None
    ) -> None:
        """Show a toast, for *seconds* or as long as usual, in place of earlier news. *message*: text of any origin.

        Warnings, errors and toasts with a time of their own stay.
        """
        for earlier in list(self._notifications):
            if earlier.severity == "information" and earlier.timeout == self.NOTIFICATION_TIMEOUT:
                del self._notifications[earlier]
        self.notify(printable(message), title=title, severity=severity, timeout=seconds, markup=False)

    def tell_news(self, message: str, **how: Any) -> None:
        """Show a toast that answers no key, as `tell` does. It waits while a toast is shown that may be an answer."""
        self.call_later(self._tell_after_answers, partial(self.tell, message, **how))

    def _tell_after_answers(self, tell: Callable[[], None]) -> None:
        answers = (toast.time_left for toast in self._notifications if toast.timeout < NOTICE_SECONDS)
        if (left := max(answers, default=0)) > 0:
            self.set_timer(left, partial(self._tell_after_answers, tell))
        else:
            tell()

    def tell_mistakes(self, mistakes: Iterable[str]) -> None:
        """Show which settings are ignored, long enough to read it."""
        self.tell_news("\n".join(mistakes), title="Configuration", severity="warning", seconds=NOTICE_SECONDS)

    def say_where(self) -> None:
        """Say where the cursor is, and what was told since it went there. The terminal's own cursor rests there."""
        if not self.screen_stack:
            return
        screen = self.screen
        lines = screen.query_children(WhereLine)
        if not lines:
            screen.mount(WhereLine(), before=0)
            return
        if not isinstance(screen.focused, Input | TextArea):
            self.cursor_position = Offset(0, 0)
        line, place = lines.first(), where(screen, SCREEN_NAMES.get(self.current_mode, self.title))
        if not line.text.startswith(place) and self._toast in line.text:
            self._toast = ""
        line.say(f"{place}\n{self._toast}" if self._toast else place)


DARK, LIGHT = (Theme(name, **made) for name, made in tomllib.loads(text_beside(__file__, "themes.toml")).items())
"""The app's own themes. The file says what each colour means."""

GROUNDS = ("background", "surface", "panel")
TEXTS = (
    *(f"text-{name}" for name in ("primary", "warning", "error", "success", "accent")),
    *("foreground", "foreground-muted", "footer-foreground", "footer-key-foreground", "footer-description-foreground"),
)
"""Variables of a theme: the grounds of text, and the colours of text."""

LEAST, STEPS = 4.5, 20


def readable(variables: Mapping[str, str]) -> dict[str, str]:
    """The colours of text in *variables*, each as near to its own as the least ratio allows.

    Colours of the terminal stay as they are: nobody knows them.
    """
    grounds = [*_colors(variables, GROUNDS).values()]
    return {name: _readable(color, grounds).hex for name, color in _colors(variables, TEXTS).items() if grounds}


def ratio(text: Color, ground: Color) -> float:
    """The ratio of the lighter to the darker colour, 1 to 21."""
    low, high = sorted(map(_luminance, (ground + text, ground)))
    return (high + 0.05) / (low + 0.05)


def _colors(variables: Mapping[str, str], names: Iterable[str]) -> dict[str, Color]:
    return {name: Color.parse(variables[name]) for name in names if variables.get(name, "").startswith("#")}


def _readable(color: Color, grounds: Sequence[Color]) -> Color:
    """*color*, or a mixture with black or white, whichever is further from the grounds."""
    end = BLACK if all(ratio(BLACK, ground) > ratio(WHITE, ground) for ground in grounds) else WHITE
    mixtures = (color.blend(end, step / STEPS, 1 if step == STEPS else color.a) for step in range(STEPS))
    return next((mixture for mixture in mixtures if all(ratio(mixture, ground) >= LEAST for ground in grounds)), end)


def _luminance(color: Color) -> float:
    """The relative luminance of WCAG, 0 to 1."""
    parts = [part / 255 for part in color.rgb]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
