"""Dialogs that choose one of a few: the order of prompts, the reason for a label or for retiring a memory, a theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from labels.labelling_order import DISAGREEMENT_FIRST, RANDOM, STRATIFIED, UNCERTAIN_FIRST
from labels.records import REASONS
from tui.bindings import bindings
from tui.dialogs.dialog import Dialog
from tui.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.app import ComposeResult

ORDERS = {
    RANDOM: "Random\n  Every prompt alike: the numbers need no weighing.",
    STRATIFIED: "Stratified\n  Where systems agree and differ, in proportion.",
    DISAGREEMENT_FIRST: "Disagreements first\n  Up to four of five where systems differ.",
    UNCERTAIN_FIRST: "Uncertain ones first\n  Up to four of five near the threshold.",
}
DIGITS = "0123456789"
ANOTHER = "another"
"""The choice of a reason that is not in the list."""


OPTION_KEYS: list[BindingType] = [
    Binding("j", "cursor_down", "Down", show=False),
    Binding("k", "cursor_up", "Up", show=False),
    Binding("g", "first", "First", show=False),
    Binding("G", "last", "Last", show=False),
    Binding("ctrl+d", "page_down", "Page down", show=False),
    Binding("ctrl+u", "page_up", "Page up", show=False),
]
"""The keys of vim in a list of options."""


class Options(OptionList):
    """Options that are gone through with arrows and with the keys of vim."""

    BINDINGS = OPTION_KEYS


class ChoiceDialog(Dialog[str | None]):
    """A list of *options*, value -> text, with the cursor on *current*. Gives a value, or None after escape."""

    DEFAULT_CSS = """
    ChoiceDialog {
        Vertical { height: auto; max-height: 90%; }
        OptionList, OptionList:focus { background: $surface; border: none; padding: 0; height: auto; }
    }
    """
    BINDINGS = bindings(hidden="pick.leave")
    QUESTION = HINT = ""

    def __init__(self, options: Mapping[str, str], current: str, question: str = "") -> None:
        super().__init__()
        self.options, self.question = options, question or self.QUESTION
        self._current = current

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield Options(*(Option(plain(text)) for text in self.options.values()))
        self.head(box, self.question, self.HINT)

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


class ChooseOrder(ChoiceDialog):
    """One of the orders of prompts."""

    DEFAULT_CSS = "ChooseOrder Vertical { width: 90%; max-width: 70; }"
    QUESTION, HINT = "Which prompts first?", "enter chooses, {pick.leave} closes"

    def __init__(self, current: str) -> None:
        super().__init__(ORDERS, current)


class ChooseTheme(ChoiceDialog):
    """One of the themes. The theme under the cursor is tried at once; escape brings the present theme back."""

    DEFAULT_CSS = "ChooseTheme Vertical { width: 40; }"
    QUESTION, HINT = "Theme", "enter chooses, {pick.leave} goes back"

    def __init__(self, themes: Iterable[str], current: str) -> None:
        super().__init__({name: name for name in themes}, current)

    @on(OptionList.OptionHighlighted)
    def preview(self, event: OptionList.OptionHighlighted) -> None:
        self.app.theme = list(self.options)[event.option_index]

    def leave_with(self, value: str | None) -> None:
        self.app.theme = value or self._current
        super().leave_with(value)


class DigitChoice(ChoiceDialog):
    """A choice in which a digit chooses, too."""

    HINT = "a digit or enter, {pick.leave} closes"

    def __init__(self, options: Mapping[str, str], current: str, question: str = "") -> None:
        super().__init__(options, current, question)
        self._is_left = False

    def on_key(self, event: Key) -> None:
        """Choose by a digit. A key typed after the choice goes to the app: the screen below was meant."""
        digits = DIGITS[: len(self.options)]
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


class ChooseReason(DigitChoice):
    """One of the reasons for a label, or "" for none."""

    DEFAULT_CSS = "ChooseReason Vertical { width: 36; }"
    QUESTION = "Why?"

    def __init__(self, current: str) -> None:
        reasons = ("", *REASONS)
        super().__init__({name: f"{digit}  {name or 'no reason'}" for digit, name in enumerate(reasons)}, current)


class ChooseRetirement(DigitChoice):
    """One of the reasons to retire memories, or ANOTHER."""

    DEFAULT_CSS = "ChooseRetirement Vertical { width: 90%; max-width: 54; }"

    def __init__(self, question: str) -> None:
        notes = {"wrong": "wrong: the same text is not made again", ANOTHER: "another reason, or none"}
        reasons = (ANOTHER, *REASONS)
        options = {name: f"{digit}  {notes.get(name, name)}" for digit, name in enumerate(reasons)}
        super().__init__(options, REASONS[0], question)


class ChooseOne(ChoiceDialog):
    """Any question with any options."""

    DEFAULT_CSS = "ChooseOne Vertical { width: 90%; max-width: 90; }"
    HINT = "enter chooses, {pick.leave} closes"

    def __init__(self, question: str, options: Mapping[str, str], current: str = "") -> None:
        super().__init__(options, current, question)


class ChoosePrompt(ChooseOne):
    """One of many prompts, a line each."""

    DEFAULT_CSS = "ChoosePrompt OptionList { text-wrap: nowrap; text-overflow: ellipsis; }"
