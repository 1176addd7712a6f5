"""Labels: their tones and texts, the list of the latest, and the reason and note that are saved with the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Input

from tui.keys import KEYS, keyed, keys_of
from tui.plain import cells, plain
from tui.widgets.lists.rows import RowList
from tui.widgets.signs import VERDICTS, signs

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from textual.app import ComposeResult

    from engine.memory import Memory
    from labels.records import Card, Event, Pair
    from tui.widgets.lists.rows import Cell


TONES = {"relevant": "good", "not": "bad", "unsure": "match", "unrateable": "muted"}
"""By verdict: the tone of its sign in a row."""


def dispute_text(labels: Iterable[Event]) -> Content:
    """A line for each label: verdict, reason and note, sorted by verdict so that the order names no annotator."""
    lines = sorted((label.verdict or "", ", ".join(filter(None, (label.reason, label.note)))) for label in labels)
    return Content("\n").join(
        plain(VERDICTS[verdict]).stylize_before("bold") + plain(f": {why}" if why else "") for verdict, why in lines
    )


TITLE, EMPTY, CHANGING = "Latest · {label.latest}", "Latest · nothing yet", "Change it · {go.back} leaves"


class RecentLabels(RowList["Event"]):
    """A row for each label: the sign of its verdict, its grade, its reason or "note", and the title of the memory."""

    NOUN = "label"
    _titles: dict[str, str] = {}

    def show_labels(self, labels: Sequence[Event], memory_of: Callable[[str], Memory | None]) -> None:
        found = {label.memory_id: memory_of(label.memory_id) for label in labels}
        self._titles = {memory_id: memory.summary.name if memory else memory_id for memory_id, memory in found.items()}
        self.show(labels)
        self.tell_key()

    def tell_key(self) -> None:
        """Name the key that leads here, or the keys that act here."""
        title = CHANGING if self.has_focus else TITLE if self.count else EMPTY
        self.border_title = plain(keyed(self.app, title))

    def id_of(self, record: Event) -> str:
        return str((record.prompt_id, record.pair, record.repeat))

    def row_cells(self, index: int, width: int) -> list[Cell]:
        label = self.records[index]
        verdict = label.verdict or ""
        grade = "" if label.grade is None else str(label.grade)
        why = label.reason or ("note" if label.note else "")
        head = f" {signs(self).verdicts[verdict]}{grade} "
        return [
            (head, TONES[verdict]),
            (cells(f"{f'{why}: ' if why else ''}{self._titles[label.memory_id]}", width - len(head)), ""),
        ]


DIGITS, ANSWERS = "1234567890", ("label.none", "label.some", "label.mark")


class TitleList(RowList["Card"]):
    """The titles of a list card, each with a digit, and the marks of the titles that would have helped."""

    NOUN = "title"
    marked: frozenset[Pair] = frozenset()

    def id_of(self, record: Card) -> str:
        return str(record.pair)

    def mark(self, index: int) -> None:
        """Mark a title, or take its mark away."""
        if index < self.count:
            self.cursor = index
            self.marked ^= {self.records[index].pair}
            self.refresh()
            self.screen.refresh_bindings()

    async def on_key(self, event: Key) -> None:
        """Mark the title with a digit, and answer at once: a binding would act after keys that were typed later.

        A key typed after the answer goes to the app: the next card was meant.
        """
        asked = [name for name in ANSWERS if event.key in keys_of(self.app, name)]
        if not self.display:
            self.app.post_message(Key(event.key, event.character))
        elif event.key in DIGITS:
            self.mark(DIGITS.index(event.key))
        elif asked:
            await self.app.run_action(KEYS[asked[0]].action, self.screen)
        else:
            return
        event.stop()
        event.prevent_default()

    def row_cells(self, index: int, width: int) -> list[Cell]:
        card, drawn = self.records[index], signs(self)
        is_marked = card.pair in self.marked
        head = f" {drawn.selected if is_marked else drawn.off:<2}{DIGITS[index]}  "
        return [(f"{head}{cells(card.memory.title, width - len(head))}", "good" if is_marked else "")]


MAX_NOTE = 2_000
TYPING, WAITING, WRITES = "note: enter keeps, esc leaves", "goes with the label", "{label.note} writes a note"


@dataclass(frozen=True)
class Remark:
    """A reason and a note for one label; either may be empty."""

    reason: str = ""
    note: str = ""


class NoteInput(Input):
    """One line of text. Enter keeps it, escape leaves it unchanged; keys typed after these go to the app."""

    class Left(Message):
        """Enter or escape was pressed."""

    is_open, _before = False, ""

    def __init__(self) -> None:
        super().__init__(compact=True, max_length=MAX_NOTE, select_on_focus=False)

    def open(self) -> None:
        self.is_open, self._before = True, self.value
        self.cursor_position = len(self.value)
        self.screen.set_focus(self)

    def on_focus(self) -> None:
        """Open after a click, too."""
        if not self.is_open:
            self.open()

    def on_blur(self) -> None:
        self.is_open = False

    async def on_key(self, event: Key) -> None:
        """Handle every key here. A binding would act too late: after letters that were typed after its key."""
        if self.is_open and event.is_printable:
            return
        if not self.is_open:
            self.app.post_message(Key(event.key, event.character))
        elif event.key in ("enter", "escape"):
            if event.key == "escape":
                self.value = self._before
            self.is_open = False
            # no focus until the app moves it: of two keys that follow, the second must not overtake the first
            self.screen.set_focus(None)
            self.post_message(self.Left())
        elif bound := self._bindings.key_to_bindings.get(event.key):  # the input's own action
            for binding in bound:
                await self.run_action(binding.action)
        else:
            return
        event.stop()
        event.prevent_default()


class RemarkLine(Vertical):
    """The remark on one card, hidden while it is empty. Each card keeps its remark until its label is saved."""

    line = query_one(NoteInput)

    def __init__(self) -> None:
        super().__init__(classes="pane")
        self._reason = ""
        self._about: Hashable = None
        self._begun: dict[Hashable, Remark] = {}

    def compose(self) -> ComposeResult:
        yield NoteInput()

    @property
    def remark(self) -> Remark:
        return Remark(self._reason, self.line.value.strip())

    def turn_to(self, about: Hashable) -> None:
        """Keep the present remark for its card, and show the remark of card *about*; None is no card."""
        if self._about is not None:
            self._begun[self._about] = self.remark
        self._about = about
        self.line.is_open = False
        self._show(self._begun.get(about, Remark()))

    def begin(self, about: Hashable, remark: Remark) -> None:
        """Set the remark of a card that is not shown now."""
        self._begun[about] = remark

    def forget(self) -> None:
        """Drop the remark of the present card: it is saved."""
        self._begun.pop(self._about, None)
        self._about = None

    def write(self) -> None:
        """Open the note for typing."""
        self.display = True  # a hidden input takes no focus
        self.line.open()
        self._show(self.remark)

    @on(NoteInput.Left)
    def close(self) -> None:
        self._show(self.remark)

    def give_reason(self, reason: str) -> None:
        self._show(replace(self.remark, reason=reason))

    def _show(self, remark: Remark) -> None:
        self._reason, self.line.value = remark.reason, remark.note
        state = TYPING if self.line.is_open else WAITING
        self.line.placeholder = "A note that goes with the label" if self.line.is_open else keyed(self.app, WRITES)
        self.border_title = plain((f"{remark.reason} · {state}" if remark.reason else state).capitalize())
        self.display = remark != Remark() or self.line.is_open
