"""The base of screens with a long list: words filter it, columns sort it, and a pane shows the row under the cursor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.containers import Container, Vertical
from textual.getters import query_one
from textual.widgets import Input

from tui.dialogs.choices import ChooseOne
from tui.keys import keyed
from tui.plain import TITLE_EDGES, joined, plain
from tui.screens.base_screen import ModeScreen
from tui.widgets.bars import KeyFooter, TopBar
from tui.widgets.lists.columns import ColumnHeads, ColumnList
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import MemoryPane
from tui.widgets.signs import signs
from tui.workspace.filtering import RowChoice, WordFilter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from textual.app import ComposeResult
    from textual.content import Content
    from textual.widget import Widget

    from tui.workspace.filtering import RowRules

TYPING = "Leave the filter with enter first."
BESIDE_FROM = 140
"""Columns of a terminal from which the pane is beside the list; before that it would take the list's columns away."""

CHOOSING = ("filter", "order", "turn")


def numbered(texts: Mapping[str, str], numbers: Mapping[str, int]) -> dict[str, str]:
    """Options of a dialog: value -> its number, aligned with the others, and its text."""
    width = max((len(f"{number:,}") for number in numbers.values()), default=0)
    return {value: f"{numbers.get(value, 0):>{width},}  {text}" for value, text in texts.items()}


class RowsScreen(ModeScreen):
    """A screen with a list of rows. `choice`: the rows that a person wants to see, by RULES."""

    RULES: ClassVar[RowRules]
    USUAL = ""
    """The kind of rows that is listed until a person chooses another."""

    def __init__(self) -> None:
        super().__init__()
        self.choice = RowChoice(kind=self.USUAL, order=next(iter(self.RULES.orders)))

    def choose(self, choice: RowChoice) -> None:
        self.choice = choice
        self.show_matching()

    def show_matching(self) -> None:
        """List the rows of the choice."""
        raise NotImplementedError

    def ask_kind(self, question: str, numbers: Mapping[str, int]) -> None:
        """Ask which kind of rows is listed; *numbers*: kind -> how many rows it has."""
        texts = {kind: rule.text for kind, rule in self.RULES.kinds.items()}
        dialog = ChooseOne(question, numbered(texts, numbers), self.choice.kind)
        self.ask(dialog, lambda kind: self.choose(replace(self.choice, kind=kind)))

    def action_order(self) -> None:
        names = {name: order.text for name, order in self.RULES.orders.items()}
        dialog = ChooseOne("Sort by", names, self.choice.order)
        self.ask(dialog, lambda order: self.choose(replace(self.choice, order=order, is_turned=False)))

    @on(ColumnHeads.Chosen)
    def sort_by_head(self, event: ColumnHeads.Chosen) -> None:
        is_turned = event.order == self.choice.order and not self.choice.is_turned
        self.choose(replace(self.choice, order=event.order, is_turned=is_turned))

    def action_turn(self) -> None:
        self.choose(replace(self.choice, is_turned=not self.choice.is_turned))


class ListScreen(RowsScreen):
    """A subclass names its list, and gives all rows."""

    CSS_PATH = "list_screen.tcss"
    AUTO_FOCUS = "ColumnList"
    MODE = PLACEHOLDER = ""
    HINT, SHOWS_ALL = "{list.order} sorts", "{go.back} shows all"
    """The keys of the list, while nothing is selected and all rows are listed."""

    NOT_LISTED = "No row is listed."
    LIST: ClassVar[type[ColumnList[Any]]]
    ON_ROWS: ClassVar[tuple[str, ...]] = ("select", "select_all")
    """Actions that need a row in the list."""

    CHOOSING: ClassVar[tuple[str, ...]] = CHOOSING
    """Actions that are off while the filter is typed, as those in ON_ROWS are."""

    filter_line = query_one(Input)
    rows = query_one(ColumnList)
    list_pane = query_one("#list", Vertical)
    detail = query_one("#detail", MemoryPane)

    def __init__(self) -> None:
        super().__init__()
        self._shown_id = ""

    # For subclasses

    def make_list(self) -> ColumnList[Any]:
        return self.LIST()

    def below(self, place: str) -> Iterable[Widget]:  # noqa: ARG002
        """Panes for a large terminal, below the "list" or below the "detail"."""
        return ()

    @property
    def all_rows(self) -> Sequence[Any] | None:
        """All rows as they were read; None before that."""
        raise NotImplementedError

    def nothing(self) -> Content:
        """Why no row is listed."""
        raise NotImplementedError

    def show_title(self) -> None:
        """Say how many rows are listed, and which filters hold."""
        raise NotImplementedError

    def show_current(self, *, from_start: bool = True) -> None:
        """Show the row under the cursor in the pane, from its beginning or where the pane is scrolled to."""
        raise NotImplementedError

    @property
    def is_narrowed(self) -> bool:
        """Whether a filter other than the words holds."""
        return self.choice.kind != self.USUAL

    def show_everything(self) -> bool:
        """Take filters off other than the words; whether there were any."""
        was_narrowed = self.is_narrowed
        self.choice = replace(self.choice, kind=self.USUAL)
        return was_narrowed

    # The screen

    def compose(self) -> ComposeResult:
        rows = self.make_list()
        yield TopBar(self.MODE)
        yield Input(placeholder=keyed(self.app, self.PLACEHOLDER), compact=True)
        with Container(id="panes"):
            with Vertical(id="listed"):
                with Vertical(id="list", classes="pane"):
                    yield ColumnHeads(rows.columns, self.RULES.orders)
                    yield rows
                yield from self.below("list")
            with Vertical(id="shown"):
                yield MemoryPane("detail")
                yield from self.below("detail")
        yield KeyFooter()

    @on(Input.Changed)
    def show_filtered(self) -> None:
        self.choose(replace(self.choice, words=WordFilter(self.filter_line.value)))

    def on_resize(self) -> None:
        self.set_class(self.size.width >= BESIDE_FROM and not signs(self).in_words, "-beside")

    def show_again(self) -> None:
        self.show_title()
        if self.rows.current:
            self.show_current(from_start=False)

    def show_matching(self, *, is_near: bool = False) -> None:
        """List the rows that fit the filters, in the chosen order. *is_near*: see `RecordList.show`."""
        if self.all_rows is not None:
            found = self.RULES.listed(self.all_rows, self.choice)
            self.rows.marker = self.choice.words
            self.show_rows(found, is_near=is_near)
            if not found:
                self.detail.show(self.nothing())

    def show_rows(self, records: Sequence[Any], *, is_near: bool = False) -> None:
        """Show *records*, of which the others are not selected any more. *is_near*: see `RecordList.show`."""
        if self.rows.selected:
            self.rows.selected &= {self.rows.id_of(record) for record in records}
        was_empty = not self.rows.count
        self.rows.show(records, is_near=is_near)
        if was_empty != (not records):
            self.refresh_bindings()
        self.query_one(ColumnHeads).show(self.choice)
        self.show_title()

    @on(RowList.Highlighted)
    def show_highlighted(self) -> None:
        """Show the row under the cursor: from its beginning, or where the pane is scrolled to if it is the same row."""
        current = self.rows.current
        before, self._shown_id = self._shown_id, self.rows.id_of(current) if current else ""
        self.show_current(from_start=before != self._shown_id)

    # Keys

    @on(Input.Submitted)
    def leave_filter(self) -> None:
        self.rows.focus()

    def key_down(self) -> None:
        if self.filter_line.has_focus:
            self.rows.focus()

    def action_filter(self) -> None:
        self.set_focus(self.filter_line)

    def step_back(self) -> bool:
        """Select nothing; else show all; else go to the list."""
        if self.rows.selected and not self.filter_line.has_focus:
            self.select(set())
        elif self.show_everything() or self.filter_line.value:
            if self.filter_line.value:
                self.filter_line.value = ""
            else:
                self.show_matching()
        elif self.rows.has_focus:
            return False
        self.rows.focus()
        return True

    def action_select(self) -> None:
        """Select the row under the cursor, or no longer, and go on to the next."""
        if current := self.rows.current:
            self.select(self.rows.selected ^ {self.rows.id_of(current)})
            self.rows.cursor += 1

    def action_select_all(self) -> None:
        listed = {self.rows.id_of(record) for record in self.rows.records}
        self.select(set() if listed <= self.rows.selected else listed)

    def select(self, selected: set[str]) -> None:
        self.rows.selected = selected
        self.rows.refresh()
        self.show_title()

    def of_all(self, total: int, noun: str) -> str:
        """How many rows are listed, of *total*."""
        count = self.rows.count
        return f"{count:,} of {total:,} {noun}" if count < total else f"{total:,} {noun}"

    def entitle(self, *parts: str) -> None:
        """Show *parts*, without empty ones, over the list, and the key that comes next. In a narrow list parts go."""
        selected = len(self.rows.selected)
        last = f"{selected:,} selected · {{go.back}} selects none" if selected else self.HINT
        if not selected and (self.is_narrowed or self.filter_line.value):
            last = self.SHOWS_ALL
        elif not self.rows.count:
            last = ""
        last = last and keyed(self.app, f" · {last}")
        room = self.list_pane.size.width - TITLE_EDGES - cell_len(last)
        shown = joined(filter(None, (*parts, self._order_words)), room)
        self.list_pane.border_title = plain(f"{shown}{last}")

    @property
    def _order_words(self) -> str:
        """The order where no sign over a column shows it."""
        if not signs(self).in_words:
            return ""
        return f"sorted by {self.RULES.orders[self.choice.order].text}{', turned' if self.choice.is_turned else ''}"

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        if action not in (*self.ON_ROWS, *self.CHOOSING) or not self.is_mounted:
            return ""
        if isinstance(self.focused, Input):
            return TYPING
        return self.NOT_LISTED if action in self.ON_ROWS and not self.rows.count else ""
