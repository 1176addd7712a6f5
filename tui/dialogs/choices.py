"""Dialogs that choose one or several of a few: an order, a reason, a theme, the systems side by side, two runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.getters import query_one
from textual.strip import Strip
from textual.widgets import OptionList, SelectionList, Static
from textual.widgets.option_list import Option
from textual.widgets.selection_list import Selection

from tui.dialogs.dialog import Dialog, Finder, Line
from tui.keys import bindings
from tui.plain import hanging, plain
from tui.workspace.filtering import WordFilter
from tui.workspace.replay.run_diffs import run_line
from tui.workspace.systems import MOST_COLUMNS, described

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from textual.app import ComposeResult
    from textual.content import Content

    from engine.config import System
    from labels.runs import SavedRun


NUMBER, EDGES = re.compile(r" *[\d,]+  "), 5
"""The number before an option, and the cells of a dialog beside an option: frame, padding and scrollbar."""

OPTION_KEYS: list[BindingType] = [
    Binding("j", "cursor_down", "Down", show=False),
    Binding("k", "cursor_up", "Up", show=False),
    Binding("g", "first", "First", show=False),
    Binding("G", "last", "Last", show=False),
    Binding("ctrl+d", "page_down", "Page down", show=False),
    Binding("ctrl+u", "page_up", "Page up", show=False),
    Binding("enter", "select", "Choose"),
]
"""The keys of vim in a list of options."""


class Options(OptionList):
    """Options that are gone through with arrows and with the keys of vim."""

    BINDINGS = OPTION_KEYS

    async def action_cursor(self, step: int) -> None:
        await self.run_action("cursor_down" if step > 0 else "cursor_up")

    async def action_page(self, pages: int) -> None:
        await self.run_action("page_down" if pages > 0 else "page_up")


def _numbered(text: str, width: int) -> Content:
    """The *text* of an option, wrapped behind the number with which it begins."""
    number = NUMBER.match(text)
    return hanging(plain(text), number.end() if number else 0, width)


class ChooseOne(Dialog[str | None]):
    """A *question* with a list of *options*, value -> text, and the cursor on *current*. Gives a value, or None.

    *width*: cells of the box at most.
    """

    def __init__(self, question: str, options: Mapping[str, str], current: str = "", width: int = 90) -> None:
        super().__init__()
        self.options = options
        self._question, self._current, self._width = question, current, width

    def compose(self) -> ComposeResult:
        room = min(self._width, self.app.size.width * 9 // 10) - EDGES
        with Vertical() as box:
            box.styles.max_width = self._width
            yield Options(*(Option(_numbered(text, room)) for text in self.options.values()))
        box.border_title = plain(self._question)

    def on_mount(self) -> None:
        values = list(self.options)
        self.query_one(OptionList).highlighted = values.index(self._current) if self._current in values else 0

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self.leave_with(list(self.options)[event.option_index])

    def action_leave(self) -> None:
        self.leave_with(None)

    def leave_with(self, value: str | None) -> None:
        self.dismiss(value)


class ChoosePrompt(ChooseOne):
    """One of many prompts, a line each."""


class ChooseByDigit(ChooseOne):
    """A choice in which a digit chooses, too: it stands before each option."""

    def __init__(self, question: str, options: Mapping[str, str], current: str, width: int) -> None:
        texts = {value: f"{digit}  {text}" for digit, (value, text) in enumerate(options.items())}
        super().__init__(question, texts, current, width)
        self._is_left = False

    def on_key(self, event: Key) -> None:
        """Choose by a digit. A key typed after the choice goes to the app: the screen below was meant."""
        digits = "0123456789"[: len(self.options)]
        if self._is_left:
            self.app.post_message(Key(event.key, event.character))
        elif event.key in digits:
            self.leave_with(list(self.options)[digits.index(event.key)])
        else:
            return
        event.stop()

    def leave_with(self, value: str | None) -> None:
        self._is_left = True
        super().leave_with(value)


class OptionFinder(Finder):
    """Options with the typed words, of which it gives the id of one."""

    found = query_one(Options)

    @on(Line.Submitted)
    def choose(self) -> None:
        self.found.action_select()

    @on(OptionList.OptionSelected)
    def leave_with(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)


class ChooseTheme(OptionFinder):
    """One of the *themes* with the typed letters. The theme under the cursor is tried; escape brings *current* back."""

    def __init__(self, themes: Iterable[str], current: str) -> None:
        super().__init__()
        self._themes, self._current = sorted(themes), current

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield Line(placeholder="Type a part of its name")
            yield Options(*(Option(name, name) for name in self._themes))
        box.border_title = "Theme"

    def on_mount(self) -> None:
        self.found.highlighted = self._themes.index(self._current)

    @on(Line.Changed)
    def show_matching(self) -> None:
        words = WordFilter(self.line.value)
        self.found.set_options(Option(name, name) for name in self._themes if words.fits(name))
        self.found.action_first()

    @on(OptionList.OptionHighlighted)
    def preview(self, event: OptionList.OptionHighlighted) -> None:
        self.app.theme = event.option.id or self._current

    def action_leave(self) -> None:
        """Bring the theme back, and close when it is drawn: an impatient second escape must not leave the screen."""
        self.app.theme = self._current
        self.call_after_refresh(self._close)

    def _close(self) -> None:
        if self.is_current:
            self.dismiss(None)


TWO = 2


class Boxes(SelectionList[str]):
    """Options with a box each, gone through with arrows and with the keys of vim."""

    BINDINGS = [*OPTION_KEYS, Binding("space", "select", "Select")]

    def render_line(self, y: int) -> Strip:
        """Draw no cross in an empty box. Textual draws it always, and tells by colour alone whether it counts."""
        strip = super().render_line(y)
        at = next(
            (segment.style.meta["option"] for segment in strip if segment.style and "option" in segment.style.meta),
            None,
        )
        if at is None or self.get_option_at_index(at).value in self.selected:
            return strip
        return Strip([segment._replace(text=" ") if segment.text == "X" else segment for segment in strip])


class ChooseSeveral(Dialog[tuple[str, ...] | None]):
    """*options*, value -> text, with a cross in those of *current*. Gives the values with a cross, or None."""

    BINDINGS = bindings(shown="columns.agree", at_once="columns.agree")
    QUESTION = ""

    boxes: query_one[SelectionList[str]] = query_one(SelectionList)
    note = query_one(Static)

    def __init__(self, options: Mapping[str, str], current: Collection[str]) -> None:
        super().__init__()
        self._options, self._current = options, current

    def refusal(self, chosen: Sequence[str]) -> str:
        """The reason why *chosen* cannot be agreed to; empty if it can."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield Boxes(
                *(Selection(plain(text), value, value in self._current) for value, text in self._options.items())
            )
            yield Static()
        box.border_title = self.QUESTION

    @on(SelectionList.SelectedChanged)
    def clear_note(self) -> None:
        self.note.update("")

    def action_agree(self) -> None:
        chosen = tuple(self.boxes.selected)
        if refusal := self.refusal(chosen):
            self.note.update(plain(refusal))
        else:
            self.dismiss(chosen)


class ChooseSystems(ChooseSeveral):
    """The systems side by side, by name."""

    QUESTION = "Which systems side by side?"

    def __init__(self, possible: Sequence[System], current: Sequence[str]) -> None:
        width = max(len(system.name) for system in possible)
        super().__init__({system.name: f"{system.name:<{width}}  {described(system)}" for system in possible}, current)

    def refusal(self, chosen: Sequence[str]) -> str:
        if len(chosen) > MOST_COLUMNS:
            return f"At most {MOST_COLUMNS} systems have room. Take one out first."
        return "" if chosen else "Select at least one system."


class ChooseRuns(ChooseSeveral):
    """Two saved runs, by id. A third takes the place of the one that was selected first."""

    QUESTION = "Which two runs?"

    def __init__(self, runs: Sequence[SavedRun], current: Collection[str]) -> None:
        width = max((len(run.system) for run in runs), default=0)
        lines = {run.run_id: run_line(number, run, width) for number, run in enumerate(runs, start=1)}
        super().__init__(lines, current)

    @on(SelectionList.SelectedChanged)
    def keep_two(self) -> None:
        if len(self.boxes.selected) > TWO:
            self.boxes.deselect(self.boxes.selected[0])

    def refusal(self, chosen: Sequence[str]) -> str:
        return "" if len(chosen) == TWO else "Select two runs."
