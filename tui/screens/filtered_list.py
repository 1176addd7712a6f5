"""A long list on a screen: words filter it, columns sort it, and a pane shows the row under the cursor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from rich.cells import cell_len
from textual import on
from textual.containers import Container, Vertical
from textual.getters import query_one
from textual.widgets import Input

from tui.dialogs.choices import ChooseOne
from tui.keys import keyed
from tui.plain import TITLE_EDGES, joined, plain
from tui.screens.base_screen import ScreenPart
from tui.widgets.lists.columns import ColumnHeads, ColumnList
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import MemoryPane
from tui.widgets.signs import signs
from tui.workspace.filtering import RowChoice, WordFilter

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from textual.app import ComposeResult
    from textual.content import Content
    from textual.widget import Widget

    from tui.workspace.filtering import RowRules

SHOWS_ALL = "{go.back} shows all"
"""The key of a list that does not show all rows."""

CHOOSING = ("filter", "order", "turn")
"""Actions that change the choice of rows. They are off while words are typed."""


def number_options(texts: Mapping[str, str], numbers: Mapping[str, int]) -> dict[str, str]:
    """Options of a dialog: value -> its number, aligned with the others, and its text."""
    width = max((len(f"{number:,}") for number in numbers.values()), default=0)
    return {value: f"{numbers.get(value, 0):>{width},}  {text}" for value, text in texts.items()}


class RowsPane(ScreenPart, Container):
    """Rows by *rules*. `choice`: the rows that a person wants to see, of the *usual* kind until they choose another."""

    def __init__(self, rules: RowRules, usual: Any = "", **options: Any) -> None:
        super().__init__(**options)
        self.rules, self.usual = rules, usual
        self.choice = RowChoice(kind=usual, order=next(iter(rules.orders)))

    def show_matching(self) -> None:
        """List the rows of the choice."""
        raise NotImplementedError

    def choose(self, **parts: Any) -> None:
        """List other rows: *parts* are fields of the choice."""
        self.choice = replace(self.choice, **parts)
        self.show_matching()

    def ask_kind(self, question: str, numbers: Mapping[str, int]) -> None:
        """Ask which kind of rows is listed; *numbers*: kind -> how many rows it has."""
        texts = {kind: rule.text for kind, rule in self.rules.kinds.items()}
        self._ask(ChooseOne(question, number_options(texts, numbers), self.choice.kind), "kind")

    def _ask(self, dialog: ChooseOne, field: str, **others: Any) -> None:
        def take(chosen: str | None) -> None:
            if chosen is not None:
                self.choose(**{field: chosen}, **others)

        self.app.push_screen(dialog, take)

    def action_order(self) -> None:
        names = {name: order.text for name, order in self.rules.orders.items()}
        self._ask(ChooseOne("Sort by", names, self.choice.order), "order", is_turned=False)

    @on(ColumnHeads.Chosen)
    def sort_by_head(self, event: ColumnHeads.Chosen) -> None:
        self.choose(order=event.order, is_turned=event.order == self.choice.order and not self.choice.is_turned)

    def action_turn(self) -> None:
        self.choose(is_turned=not self.choice.is_turned)


class ListOwner(Protocol):
    """The screen of a list: it finds the rows, and words the texts about them."""

    def find_rows(self) -> Sequence[Any] | None:
        """The rows of the choice, in its order; None before all rows are read."""

    def nothing(self) -> Content:
        """Why no row is listed."""

    def title_parts(self) -> Sequence[str]:
        """How many rows are listed, and which filters hold. Parts may be empty."""

    def show_current(self, *, from_start: bool = True) -> None:
        """Show the row under the cursor in the pane, from its beginning or where the pane is scrolled to."""


class FilteredList(RowsPane):
    """The line of the filter, the list *rows*, and the detail of the row under the cursor.

    *hint*: the keys of the list, while nothing is selected and all rows are listed. *below*: a pane below
    the list and one below the detail.
    """

    filter_line = query_one(Input)
    list_pane = query_one("#list", Vertical)
    detail = query_one("#detail", MemoryPane)

    def __init__(
        self,
        owner: ListOwner,
        rows: ColumnList[Any],
        rules: RowRules,
        placeholder: str,
        *,
        usual: Any = "",
        hint: str = "{list.order} sorts",
        below: Sequence[Widget] = (),
    ) -> None:
        super().__init__(rules, usual)
        self.rows = rows
        self._owner, self._placeholder, self._hint, self._below = owner, placeholder, hint, below
        self.progress = ""
        self._shown_id = ""

    def compose(self) -> ComposeResult:
        yield Input(placeholder=keyed(self.app, self._placeholder), compact=True)
        with Container(id="panes"):
            with Vertical(id="listed"):
                with Vertical(id="list", classes="pane"):
                    yield ColumnHeads(self.rows, self.rules.orders)
                    yield self.rows
                yield from self._below[:1]
            with Vertical(id="shown"):
                yield MemoryPane("detail")
                yield from self._below[1:]

    def show_again(self) -> None:
        self.show_title()
        if self.rows.current:
            self._owner.show_current(from_start=False)

    def show_matching(self, *, is_near: bool = False) -> None:
        """List the rows of the choice; others are not selected any more. *is_near*: see `RowList.show`."""
        found = self._owner.find_rows()
        if found is None:
            return
        if self.rows.selected:
            self.rows.selected &= set(map(self.rows.id_of, found))
        was_empty = not self.rows.count
        self.rows.show(found, is_near=is_near)
        if was_empty != (not found):
            self.screen.refresh_bindings()
        self.show_heads()
        self.show_title()
        if not found:
            self.detail.show(self._owner.nothing())

    def show_heads(self) -> None:
        self.rows.sorted_by = self.choice.order
        self.query_one(ColumnHeads).show(self.choice)

    def find(self, rows: Sequence[Any] | None) -> Sequence[Any] | None:
        """The rows that fit the choice. The list marks its words."""
        self.rows.marker = self.choice.words
        return None if rows is None else self.rules.listed(rows, self.choice)

    @on(RowList.Highlighted)
    def show_highlighted(self) -> None:
        """Show the row under the cursor: from its beginning, or where the pane is scrolled to if it is the same row."""
        current = self.rows.current
        before, self._shown_id = self._shown_id, self.rows.id_of(current) if current else ""
        self._owner.show_current(from_start=before != self._shown_id)

    # The title

    def show_progress(self, text: str) -> None:
        """Show *text* in place of the title until the progress is empty."""
        self.progress = text
        self.show_title()

    def of_all(self, total: int, noun: str) -> str:
        """How many rows are listed, of *total*."""
        count = self.rows.count
        return f"{count:,} of {total:,} {noun}" if count < total else f"{total:,} {noun}"

    def show_title(self) -> None:
        """Show the parts of the title over the list, and the key that comes next. In a narrow list parts go."""
        if self.progress:
            self.list_pane.border_title = plain(self.progress)
            return
        last = self._hint if self.rows.count else ""
        if selected := len(self.rows.selected):
            last = f"{selected:,} selected · {{go.back}} selects none"
        elif self.choice.kind != self.usual or self.filter_line.value:
            last = SHOWS_ALL
        last = last and keyed(self.app, f" · {last}")
        order = ""
        if signs(self).in_words:  # no sign over a column shows it
            turned = ", turned" if self.choice.is_turned else ""
            order = f"sorted by {self.rules.orders[self.choice.order].text}{turned}"
        room = self.list_pane.size.width - TITLE_EDGES - cell_len(last)
        shown = joined(filter(None, (*self._owner.title_parts(), order)), room)
        self.list_pane.border_title = plain(f"{shown}{last}")

    # Keys

    @on(Input.Changed)
    def filter_by_words(self) -> None:
        self.choose(words=WordFilter(self.filter_line.value))

    @on(Input.Submitted)
    def leave_filter(self) -> None:
        self.rows.focus()

    def key_down(self) -> None:
        if self.filter_line.has_focus:
            self.rows.focus()

    def action_filter(self) -> None:
        self.screen.set_focus(self.filter_line)

    def step_back(self) -> bool:
        """Select nothing; else show all; else go to the list."""
        is_narrowed = self.choice.kind != self.usual
        if self.rows.selected and not self.filter_line.has_focus:
            self.select(set())
        elif is_narrowed or self.filter_line.value:
            self.show_all()
        elif self.rows.has_focus:
            return False
        self.rows.focus()
        return True

    def show_all(self) -> None:
        """Show all rows of the usual kind."""
        with self.prevent(Input.Changed):
            self.filter_line.value = ""
        self.choose(kind=self.usual, words=WordFilter())

    def action_select(self) -> None:
        """Select the row under the cursor, or no longer, and go on to the next."""
        if current := self.rows.current:
            self.select(self.rows.selected ^ {self.rows.id_of(current)})
            self.rows.cursor += 1

    def action_select_all(self) -> None:
        listed = set(map(self.rows.id_of, self.rows.records))
        self.select(set() if listed <= self.rows.selected else listed)

    def select(self, selected: Collection[str]) -> None:
        self.rows.selected = set(selected)
        self.rows.refresh()
        self.show_title()

    def why_off(self, action: str, on_rows: Sequence[str], choosing: Sequence[str]) -> str:
        """The reason why an *action* of the screen is off; empty while it acts.

        Actions *on_rows* need a row in the list. They are off while words are typed, as those of *choosing* are.
        """
        if action not in (*on_rows, *choosing, *CHOOSING) or not self.is_mounted:
            return ""
        if isinstance(self.screen.focused, Input):
            return "Leave the filter with enter first."
        return f"No {self.rows.NOUN} is listed." if action in on_rows and not self.rows.count else ""
