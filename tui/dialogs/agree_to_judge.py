"""The question before the judge is asked for the first time: what, how often, and for how much at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Input, Static

from tui.bindings import bindings
from tui.dialogs.dialog import Dialog
from tui.key_names import keyed
from tui.plain import plain

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui.workspace.spending import Offer

DEFAULT_LIMIT_USD = 1.0
WHAT = (
    "It gets the prompt, the turns before it, and title, tags and category of the memories that were found. "
    "It is asked when the cursor rests on a prompt, for prompts in Label, and for all prompts with {report.replay} "
    "in Report."
)
NOT_A_LIMIT = "Type an amount above 0, such as 0.50."
NO_LIMIT = 0.0
"""Stands for an agreement without a limit, where no price is known."""


class AgreeToJudge(Dialog[float | None]):
    """Shows *offer*. Gives the limit in US dollars, NO_LIMIT where no price is known, or None without an agreement."""

    DEFAULT_CSS = """
    AgreeToJudge {
        Vertical { width: 90%; max-width: 76; height: auto; max-height: 95%; padding: 0 1; }
        Static { height: auto; margin-bottom: 1; }
        Input { background: $boost; padding: 0 1; }
        #wrong { color: $text-error; margin: 0; }
    }
    """
    AUTO_FOCUS = "Input"
    BINDINGS = bindings(hidden="agree.yes pick.leave")

    line = query_one(Input)
    wrong = query_one("#wrong", Static)

    def __init__(self, offer: Offer) -> None:
        super().__init__()
        self._offer = offer

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield Static(plain(keyed(self.app, WHAT)))
            yield Static(plain(cost_sentence(self._offer)), id="cost")
            if self._offer.most_usd is not None:
                yield Static(plain("The most that this start may cost, in US dollars:"))
                yield Input(f"{DEFAULT_LIMIT_USD:.2f}", compact=True)
            yield Static(id="wrong")
        self.head(box, f"Ask {self._offer.judge}?", "{agree.yes} agrees, {pick.leave} asks nobody")

    def on_mount(self) -> None:
        for line in self.query(Input):
            line.cursor_blink = False

    def action_agree(self) -> None:
        if self._offer.most_usd is None:
            self.dismiss(NO_LIMIT)
        elif limit := amount(self.line.value):
            self.dismiss(limit)
        else:
            self.wrong.update(NOT_A_LIMIT)

    def on_input_submitted(self) -> None:
        self.action_agree()


def amount(text: str) -> float | None:
    """US dollars above 0, or None for any other text."""
    try:
        value = float(text.strip().removeprefix("$"))
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None


def cost_sentence(offer: Offer) -> str:
    """How many calls at most, and their price."""
    calls = f"All {offer.prompts:,} prompts need at most {offer.calls:,} calls"
    if offer.most_usd is None:
        return f"{calls}. {offer.payment}"
    return f"{calls}, for at most ${offer.most_usd:,.2f}. Answers that the cache has cost nothing."
