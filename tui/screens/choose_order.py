"""Which prompts come first: one of four, each with what it is good for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from labels.orders import DISAGREEMENT_FIRST, ORDERS, RANDOM, STRATIFIED, UNCERTAIN_FIRST
from tui.bindings import bindings

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui.app import MemsiftApp

CHOICES = {
    RANDOM: ("Random", "Every prompt alike. The numbers need no weights."),
    STRATIFIED: ("Stratified", "Prompts on which the systems agree and differ, in proportion."),
    DISAGREEMENT_FIRST: ("Disagreements first", "Four of five are prompts on which the systems differ."),
    UNCERTAIN_FIRST: ("Uncertain ones first", "Four of five have a memory near the cutoff's threshold."),
}


class ChooseOrder(ModalScreen[str | None]):
    """The orders, the present one under the cursor; gives the one that was chosen, or None."""

    app: MemsiftApp

    DEFAULT_CSS = """
    ChooseOrder {
        align: center middle;
        OptionList {
            width: 90%; max-width: 70; height: auto; max-height: 90%;
            background: $surface; border: round $primary; border-title-color: $text;
        }
    }
    """
    BINDINGS = bindings(hidden=("pick.leave",))

    def compose(self) -> ComposeResult:
        yield OptionList(*(Option(f"{name}\n  {what}", id=order) for order, (name, what) in CHOICES.items()))

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.border_title = "Which prompts first?"
        options.border_subtitle = "enter chooses, esc closes"
        options.highlighted = ORDERS.index(self.app.workspace.order)

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_leave(self) -> None:
        self.dismiss(None)
