"""The columns of Browse: which facts of a memory stand in its row, in which order and width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.memory import MemorySummary
from tui.plain import cells
from tui.widgets.row_list import RecordList

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.widgets.row_list import Cell

MARGIN = 1
"""Blank cells before the first column."""

CATEGORY_NAMES = {"session_summary": "session", "tech_debt": "tech debt"}


@dataclass(frozen=True)
class Column:
    """*width* in cells, None for the rest of the row; *gap* cells of it stay blank at the right.

    The column is shown in lists of at least *from_width* cells.
    """

    text: Callable[[MemorySummary], str]
    width: int | None = None
    gap: int = 0
    from_width: int = 0
    is_muted: Callable[[MemorySummary], bool] = lambda _: True


def category_name(category: str) -> str:
    """The category in words for people."""
    return CATEGORY_NAMES.get(category, category.replace("_", " "))


def is_inactive(memory: MemorySummary) -> bool:
    """Whether its status is anything but active."""
    return memory.status != "active"


def status_and_title(memory: MemorySummary) -> str:
    return f"[{memory.status}] {memory.title}" if is_inactive(memory) else memory.title


COLUMNS = (
    Column(lambda memory: category_name(memory.category), width=11),
    Column(status_and_title, gap=1, is_muted=is_inactive),
    Column(lambda memory: memory.updated_at[:10], width=12, from_width=70),
)


class MemoryList(RecordList[MemorySummary]):
    """Memories, a row each, in Browse and where a memory is picked."""

    def id_of(self, record: MemorySummary) -> str:
        return record.id

    def row_cells(self, index: int, width: int) -> list[Cell]:
        memory = self.records[index]
        sizes = [column.width if width >= column.from_width else 0 for column in COLUMNS]
        rest = width - MARGIN - sum(filter(None, sizes))
        row = []
        for column, size in zip(COLUMNS, sizes, strict=True):
            text = cells(column.text(memory), (rest if size is None else size) - column.gap) + " " * column.gap
            row.append((text, "muted" if column.is_muted(memory) else ""))
        return [(" " * MARGIN + row[0][0], row[0][1]), *row[1:]]
