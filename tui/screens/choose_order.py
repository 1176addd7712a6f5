"""Which prompts come first: one of four, each with what it is good for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from labels.orders import DISAGREEMENT_FIRST, ORDERS, RANDOM, STRATIFIED, UNCERTAIN_FIRST
from tui.bindings import bindings

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui.app import MemsiftApp

CHOICES = {
    RANDOM: ("Random", "Every prompt alike: the numbers need no weighing."),
    STRATIFIED: ("Stratified", "Where systems agree and differ, in proportion."),
    DISAGREEMENT_FIRST: ("Disagreements first", "Up to four of five where systems differ."),
    UNCERTAIN_FIRST: ("Uncertain ones first", "Up to four of five near the threshold."),
}


class ChooseOrder(ModalScreen[str | None]):
    """The orders, the present one under the cursor; gives the one that was chosen, or None."""

    app: MemsiftApp

    DEFAULT_CSS = """
    ChooseOrder {
        align: center middle;
        Vertical {
            width: 90%; max-width: 70; height: auto; max-height: 90%;
            background: $surface; border: round $primary; border-title-color: $text;
        }
        OptionList, OptionList:focus { background: $surface; border: none; padding: 0; height: auto; }
    }
    """
    BINDINGS = bindings(hidden=("pick.leave",))

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield OptionList(*(Option(f"{name}\n  {what}", id=order) for order, (name, what) in CHOICES.items()))
        box.border_title = "Which prompts first?"
        box.border_subtitle = "enter chooses, esc closes"

    def on_mount(self) -> None:
        self.query_one(OptionList).highlighted = ORDERS.index(self.app.workspace.order)

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_leave(self) -> None:
        self.dismiss(None)
