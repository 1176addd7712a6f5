"""Columns of a list: which facts of a record stand in its row, in which order and width, and their names above it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.message import Message
from textual.widget import Widget

from engine.search.highlight import Marker
from tui.plain import cells
from tui.widgets.lists.rows import COPIED, RowList, marked_cells
from tui.widgets.signs import signs
from tui.workspace.filtering import RowChoice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from textual.events import Click

    from tui.plain import Marks
    from tui.widgets.lists.rows import Cell
    from tui.workspace.filtering import RowOrder

T = TypeVar("T")

NO_FACT = " ·–"
"""Characters of a cell that has nothing to say."""

GAP, LEAST_MORE = 2, 12
"""Cells between a text and the muted text behind it, and cells that this text needs at least."""

MARGIN = 2
"""Cells before the first column, for the sign of a selected row."""


@dataclass(frozen=True)
class Column:
    """*width* in cells, None for the rest of the row; *gap* cells of it stay blank at the right.

    *text* and *tone* get what the list knows of a row. The column is shown in lists of at least *from_width* cells.
    *order*: the order that sorts by it. *has_marks*: the words of the filter are marked in it. *is_number*: it is
    aligned at the right. *more*: a muted text behind the text, where there is room.
    """

    text: Callable[..., str]
    head: str = ""
    order: str = ""
    width: int | None = None
    gap: int = 1
    from_width: int = 0
    tone: Callable[..., str] = lambda *_: "muted"
    has_marks: bool = False
    is_number: bool = False
    more: Callable[..., str] = lambda *_: ""

    def aligned(self, text: str, size: int) -> str:
        """*text* in *size* cells, and the gap."""
        shown = cells(text, size)
        return (shown.rstrip().rjust(size) if self.is_number else shown) + " " * self.gap


@lru_cache
def sizes(columns: tuple[Column, ...], width: int) -> tuple[tuple[Column, int], ...]:
    """The columns that a list of *width* cells has room for, each with the cells of its text."""
    shown = [column for column in columns if column.from_width <= width]
    rest = width - sum(column.width or 0 for column in shown)
    return tuple((column, (rest if column.width is None else column.width) - column.gap) for column in shown)


def pieces(columns: Iterable[Column], width: int, text: Callable[[Column], str]) -> list[tuple[Column, str]]:
    """The text of each column that a list of *width* cells has room for, in its width and with its gap."""
    return [(column, column.aligned(text(column), size)) for column, size in sizes(tuple(columns), width)]


class ColumnHeads(Widget):
    """The names of the columns above their list, with an arrow at the column that it is sorted by, in one of *orders*.

    A click on a name sorts by that column, or turns its order round.
    """

    @dataclass
    class Chosen(Message):
        """An order was clicked."""

        order: str

    def __init__(self, rows: ColumnList[Any], orders: Mapping[str, RowOrder], **options: Any) -> None:
        super().__init__(**options)
        self._rows, self._orders = rows, orders
        self._choice = RowChoice()

    def show(self, choice: RowChoice) -> None:
        self._choice = choice
        self.refresh()

    def render(self) -> Text:
        def head(column: Column) -> str:
            if not column.order or column.order != self._choice.order:
                return column.head
            is_rising = self._orders[column.order].is_rising != self._choice.is_turned
            sign = drawn.rising if is_rising else drawn.falling
            return f"{sign}{column.head}"

        drawn, margin = signs(self), self._rows.margin
        width = self.size.width - 1  # the rows have a scrollbar beside them
        row = Text(" " * margin, no_wrap=True)
        for column, text in pieces(self._rows.columns_at(width), width - margin, head):
            row.append(text, Style(meta={"order": column.order}))
        return row

    def on_click(self, event: Click) -> None:
        if order := event.style.meta.get("order"):
            self.post_message(self.Chosen(order))


class ColumnList(RowList[T]):
    """Records in columns, a row each, with a mark before selected rows and the words of a filter marked."""

    columns: tuple[Column, ...] = ()
    margin = MARGIN

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.marker: Marks = Marker()
        self.selected: set[str] = set()
        self.sorted_by = ""

    def columns_at(self, width: int) -> tuple[Column, ...]:  # noqa: ARG002
        """The columns of a list of *width* cells, from left to right. The one that it is sorted by has room always."""
        return tuple(
            replace(column, from_width=0) if column.from_width and column.order == self.sorted_by else column
            for column in self.columns
        )

    def known(self, record: T) -> tuple[Any, ...]:
        """The arguments of `Column.text` and `Column.tone` for a record."""
        return (record,)

    @property
    def chosen(self) -> list[T]:
        """The selected records in the order of the list; without any, the record under the cursor."""
        chosen = [record for record in self.records if self.id_of(record) in self.selected] if self.selected else []
        return chosen or ([self.current] if self.current else [])

    def said(self) -> str:
        """The row for a screen reader: the texts that can be searched, then each fact after the name of its column."""
        if self.current is None:
            return ""
        known = self.known(self.current)
        said: list[str] = []
        for column in sorted(self.columns_at(COPIED), key=lambda column: not column.has_marks):
            if text := column.text(*known).strip(NO_FACT):
                said += [text, column.more(*known)] if column.has_marks else [f"{column.head}: {text}"]
        said.append("selected" if self.id_of(self.current) in self.selected else "")
        return "; ".join(filter(None, said))

    def row_cells(self, index: int, width: int) -> list[Cell]:
        record = self.records[index]
        known = self.known(record)
        is_selected = self.selected and self.id_of(record) in self.selected
        mark = (signs(self).selected if is_selected else "").ljust(self.margin)
        row: list[Cell] = [(mark, "match" if mark.strip() else "")]
        for column, text in pieces(self.columns_at(width), width - len(mark), lambda shown: shown.text(*known)):
            tone, end = column.tone(*known), len(text.rstrip()) + GAP
            more = column.more(*known) if len(text) - end >= LEAST_MORE else ""
            if more:
                row += marked_cells(text[:end], self.marker, tone)
                text, tone = cells(more, cell_len(text[end:]) - column.gap) + " " * column.gap, "muted"
            row += marked_cells(text, self.marker, tone) if column.has_marks else [(text, tone)]
        return row
