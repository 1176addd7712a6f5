"""Dialogs that ask: for a line of text, a prompt, an agreement to the judge's cost, and where labels go."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Input, Static

from engine.wording import counted
from labels.records import LABEL
from tui.dialogs.choices import ChooseOne
from tui.dialogs.dialog import Dialog, Line
from tui.keys import bindings, keyed
from tui.plain import plain, printable

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult

    from labels.store import LabelStore
    from tui.workspace.judging import Offer

MOST = 2_000
"""Characters of the line."""


class AskLine(Dialog[str | None]):
    """Asks *question* over an input with *value*, and tells *hint* below. Gives the line, or None after escape."""

    line = query_one(Input)

    def __init__(self, question: str, value: str = "", hint: str = "") -> None:
        super().__init__()
        self._question, self._value, self._hint = question, value, hint

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield Line(printable(self._value), max_length=MOST, select_on_focus=False)
            yield Static(plain(self._hint))
        box.border_title = plain(self._question)

    def on_mount(self) -> None:
        self.line.cursor_position = len(self.line.value)

    @on(Input.Submitted)
    def agree(self) -> None:
        self.dismiss(self.line.value)


DEFAULT_LIMIT_USD = 1.0
WHAT = (
    "It gets the prompt, the turns before it, and title, tags and category of the memories that were found. "
    "It is asked when the cursor rests on a prompt, for prompts in Label, and for all prompts with {report.replay} "
    "in Report."
)
NO_LIMIT = 0.0
"""Stands for an agreement without a limit, where no price is known."""


class AgreeToJudge(Dialog[float | None]):
    """Shows *offer*. Gives the limit in US dollars, NO_LIMIT where no price is known, or None without an agreement."""

    AUTO_FOCUS = "Input"
    BINDINGS = bindings(shown="agree.yes")

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
                yield Static(plain("The most that may be spent until you quit, in US dollars:"))
                yield Line(f"{DEFAULT_LIMIT_USD:.2f}")
            yield Static(id="wrong")
        box.border_title = plain(f"Ask {self._offer.judge}?")

    @on(Input.Submitted)
    def action_agree(self) -> None:
        if self._offer.most_usd is None:
            self.dismiss(NO_LIMIT)
        elif limit := amount(self.line.value):
            self.dismiss(limit)
        else:
            self.wrong.update("Type an amount above 0, such as 0.50.")


def amount(text: str) -> float | None:
    """US dollars above 0, or None for any other text."""
    try:
        value = float(text.strip().removeprefix("$"))
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None


def cost_sentence(offer: Offer) -> str:
    """How many calls at most, and their price."""
    calls = f"{counted(offer.prompts, 'prompt')}: at most {counted(offer.calls, 'call')}"
    if offer.most_usd is None:
        return f"{calls}. {offer.payment}"
    return f"{calls}, for at most ${max(offer.most_usd, 0.01):,.2f}. Cached answers cost nothing."


class NewPlace(NamedTuple):
    """A file for labels, and the *session* whose key presses it gets; the empty text stands for all that were open."""

    path: Path
    session: str
    text: str


class MovedStore(ChooseOne):
    """The places to which the labels of *store* can go. No digit chooses: a person at work may be typing labels."""

    def __init__(self, store: LabelStore) -> None:
        self.places = {place.text: place for place in new_places(store, datetime.now())}  # noqa: DTZ005 - local time
        happened = "was replaced" if store.path.exists() else "is gone"
        super().__init__(f"{store.path.name} {happened}. Where do labels go?", {text: text for text in self.places})


def new_places(store: LabelStore, now: datetime) -> list[NewPlace]:
    """The file that is there now, or a new file with another name; where no file is, a new file with that name."""
    labels = [event.session for event in store.events() if event.action == LABEL]
    everything = f"\n  It gets all that memsift still has: {counted(len(labels), 'label')}."
    own = f"\n  It gets the labels given since the app started: {labels.count(store.session):,}."
    path, other = store.path, store.path.with_stem(f"{store.path.stem}-{now:%Y-%m-%d-%H%M%S}")
    if path.exists():
        return [
            NewPlace(path, store.session, f"Into the file that is there now, {path}{own}"),
            NewPlace(other, "", f"Into the new file {other}{everything}"),
        ]
    return [
        NewPlace(path, "", f"Into the new file {path}{everything}"),
        NewPlace(path, store.session, f"Into the new file {path}{own}"),
    ]
