"""Dialogs that ask: for a line of text, a prompt, an agreement to the judge's cost, and where labels go."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from textual import on, work
from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Input, Static, TextArea

from engine.config import SYSTEMS
from engine.prompt import typed_prompt
from engine.wording import counted
from labels.records import LABEL
from tui.dialogs.choices import ChooseOne
from tui.dialogs.dialog import Dialog, Line
from tui.keys import bindings, keyed
from tui.plain import plain, printable
from tui.widgets.memory_pane import NO_MARKS
from tui.widgets.ranking_table import RankingPane, ranking_rows

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.timer import Timer

    from engine.retrieval import Retrieval
    from labels.store import LabelStore
    from tui.workspace.judging import Offer
    from tui.workspace.workspace import Workspace

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
NOT_A_LIMIT = "Type an amount above 0, such as 0.50."
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


REST_SECONDS = 0.15
"""The ranking is made when nothing was typed for this time."""

NOT_ASKED = "So far, without the judge. Nothing is recorded."
NOTHING_FITS = "No memory fits the text so far."


class TypePrompt(Dialog[str | None]):
    """An editor of many lines. Gives its text without spaces and empty lines around it, or None if there is none."""

    AUTO_FOCUS = "TextArea"
    BINDINGS = bindings(shown="type.send")

    editor = query_one(TextArea)
    ranking = query_one(RankingPane)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        quick = [name for name in workspace.heads if name in SYSTEMS and name not in workspace.with_judge]
        self._systems = quick or [workspace.first.name]
        self._resting: Timer | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            yield TextArea(placeholder="Type or paste a prompt. Enter begins a new line.")
            yield RankingPane()
        box.border_title = "A prompt to replay"

    def on_mount(self) -> None:
        self.ranking.show(self._systems, [], NO_MARKS)
        self.ranking.tell_judge(NOT_ASKED)

    @property
    def text(self) -> str:
        return self.editor.text.strip()

    @on(TextArea.Changed)
    def rank_soon(self) -> None:
        if self._resting:
            self._resting.stop()
        self._resting = self.set_timer(REST_SECONDS, lambda: self.rank(self.text))

    @work(thread=True, exclusive=True, group="ranking", exit_on_error=False)
    def rank(self, text: str) -> None:
        prompt = typed_prompt(text)
        self.call_later(self.show_ranking, text, [self._workspace.run(prompt, name) for name in self._systems])

    def show_ranking(self, text: str, answers: list[Retrieval]) -> None:
        """Show the answers to *text*, unless it has changed since."""
        if text == self.text:
            rows = ranking_rows(self._systems, answers, {})
            self.ranking.show(self._systems, rows, self._workspace.marker(typed_prompt(text)))
            self.ranking.tell_judge(NOT_ASKED if rows or not text else NOTHING_FITS)

    def action_send(self) -> None:
        self.dismiss(self.text or None)
