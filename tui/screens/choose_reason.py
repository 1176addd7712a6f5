"""Why a label says what it says: one of a few reasons, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from labels.records import REASONS
from tui.bindings import bindings

if TYPE_CHECKING:
    from textual.app import ComposeResult

CHOICES = ("", *REASONS)
DIGITS = "0123456"


class ChooseReason(ModalScreen[str | None]):
    """The reasons, *reason* under the cursor; gives the one that was chosen, "" for none, None if it was left."""

    DEFAULT_CSS = """
    ChooseReason {
        align: center middle;
        Vertical {
            width: 36; height: auto; max-height: 90%;
            background: $surface; border: round $primary; border-title-color: $text;
        }
        OptionList, OptionList:focus { background: $surface; border: none; padding: 0; height: auto; }
    }
    """
    BINDINGS = bindings(hidden=("pick.leave",))

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason
        self._is_left = False

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield OptionList(*(Option(f"{number}  {name or 'no reason'}") for number, name in enumerate(CHOICES)))
        box.border_title = "Why?"
        box.border_subtitle = "a digit or enter, esc closes"

    def on_mount(self) -> None:
        self.query_one(OptionList).highlighted = CHOICES.index(self._reason) if self._reason in CHOICES else 0

    @on(OptionList.OptionSelected)
    def take(self, event: OptionList.OptionSelected) -> None:
        self._leave(CHOICES[event.option_index])

    def on_key(self, event: Key) -> None:
        """A digit chooses; what was typed behind it goes to the app, as it would have later."""
        if self._is_left:
            self.app.post_message(Key(event.key, event.character))
        elif event.key in DIGITS:
            self._leave(CHOICES[DIGITS.index(event.key)])
        else:
            return
        event.stop()

    def action_leave(self) -> None:
        self._leave(None)

    def _leave(self, reason: str | None) -> None:
        self._is_left = True
        self.dismiss(reason)
