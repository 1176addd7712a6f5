"""The columns of lists of memories: which facts of a memory stand in its row, in which order and width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.widget import Widget

from engine.memory import MemorySummary
from engine.search.highlight import Marker
from tui.plain import cells
from tui.widgets.row_list import RecordList, marked_cells
from tui.workspace.memory_facts import (
    CATEGORY,
    INJECTED,
    NO_FACTS,
    PRECISION,
    RISING,
    TITLE,
    TOKENS,
    UPDATED,
    Facts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tui.widgets.row_list import Cell

CATEGORY_NAMES = {"session_summary": "session", "tech_debt": "tech debt"}
MARK = "●"
"""Stands before a selected memory."""


@dataclass(frozen=True)
class Column:
    """*width* in cells, None for the rest of the row; *gap* cells of it stay blank at the right.

    The column is shown in lists of at least *from_width* cells. *order*: the order that sorts by it.
    """

    text: Callable[[MemorySummary, Facts], str]
    head: str = ""
    order: str = ""
    width: int | None = None
    gap: int = 0
    from_width: int = 0
    is_muted: Callable[[MemorySummary], bool] = lambda _: True

    def size(self, width: int, rest: int) -> int:
        """The cells of its text in a list of *width* cells, of which *rest* are left for the title."""
        if width < self.from_width:
            return 0
        return (rest if self.width is None else self.width) - self.gap


def category_name(category: str) -> str:
    """The category in words for people."""
    return CATEGORY_NAMES.get(category, category.replace("_", " "))


def is_inactive(memory: MemorySummary) -> bool:
    """Whether its status is anything but active."""
    return memory.status != "active"


def status_and_title(memory: MemorySummary, _: Facts) -> str:
    return f"[{memory.status}] {memory.title}" if is_inactive(memory) else memory.title


def relevant_of_labelled(memory: MemorySummary, facts: Facts) -> str:
    relevant, labelled = facts.labelled(memory.id)
    return f"{relevant}/{labelled}" if labelled else ""


def _number(number: int) -> str:
    return f"{number:,}" if number else ""


SHORT_COLUMNS = (
    Column(lambda memory, _: category_name(memory.category), "Category", CATEGORY, width=11, gap=1),
    Column(status_and_title, "Title", TITLE, gap=1, is_muted=is_inactive),
    Column(lambda memory, _: memory.updated_at[:10], "Updated", UPDATED, width=12, gap=1, from_width=70),
)
COLUMNS = (
    *SHORT_COLUMNS,
    Column(lambda memory, facts: _number(facts.injected(memory.id)), "Inj.", INJECTED, width=6, gap=1, from_width=66),
    Column(relevant_of_labelled, "Relevant", PRECISION, width=10, gap=1, from_width=76),
    Column(lambda memory, facts: _number(facts.tokens(memory.id)), "Tokens", TOKENS, width=8, gap=1, from_width=84),
)


def pieces(columns: Iterable[Column], width: int, text: Callable[[Column], str]) -> list[tuple[Column, str]]:
    """The text of each column that a list of *width* cells has room for, in its width and with its gap."""
    shown = [one for one in columns if width >= one.from_width]
    rest = width - sum(one.width or 0 for one in shown)
    return [(one, cells(text(one), one.size(width, rest)) + " " * one.gap) for one in shown]


class MemoryList(RecordList[MemorySummary]):
    """Memories, a row each, where a memory is picked."""

    columns: tuple[Column, ...] = SHORT_COLUMNS
    margin = 1

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.facts = NO_FACTS
        self.marker = Marker()
        self.selected: set[str] = set()

    def id_of(self, record: MemorySummary) -> str:
        return record.id

    def row_cells(self, index: int, width: int) -> list[Cell]:
        memory = self.records[index]
        mark = MARK if memory.id in self.selected else ""
        row: list[Cell] = [(mark.ljust(self.margin), "match")]
        for column, text in pieces(self.columns, width - self.margin, lambda one: one.text(memory, self.facts)):
            tone = "muted" if column.is_muted(memory) else ""
            row += marked_cells(text, self.marker, tone) if column.order == TITLE else [(text, tone)]
        return row


class MemoryTable(MemoryList):
    """Memories in Browse, with all columns, selected rows, and the words of the filter marked."""

    columns = COLUMNS
    margin = 2


class ColumnHeads(Widget):
    """The names of the columns above a `MemoryTable`, with an arrow at the column that it is sorted by."""

    DEFAULT_CSS = "ColumnHeads { height: 1; color: $foreground-muted; }"

    def __init__(self) -> None:
        super().__init__()
        self._order, self._is_turned = "", False

    def show(self, order: str, *, is_turned: bool) -> None:
        self._order, self._is_turned = order, is_turned
        self.refresh()

    def render(self) -> Text:
        def head(column: Column) -> str:
            if not column.order or column.order != self._order:
                return column.head
            return f"{'▲' if (column.order in RISING) != self._is_turned else '▼'}{column.head}"

        width = self.size.width - MemoryTable.margin - 1
        return Text(" " * MemoryTable.margin + "".join(text for _, text in pieces(COLUMNS, width, head)), no_wrap=True)
