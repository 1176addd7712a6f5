"""The memories of a root, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tui.plain import cells
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import MemorySummary
    from tui.widgets.row_list import Cell

CATEGORY_WIDTH = 11
DATE_WIDTH = 12
WIDE = 70
CATEGORY_NAMES = {"session_summary": "session", "tech_debt": "tech debt"}


class MemoryList(RowList):
    """Category, title, and where there is room the day of the last change; retired memories say so."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.memories: Sequence[MemorySummary] = ()

    def show(self, memories: Sequence[MemorySummary]) -> None:
        """Show these; the cursor stays on the memory on which it stood, if that is among them."""
        current = self.current
        self.memories = memories
        places = {memory.id: i for i, memory in enumerate(memories)} if current else {}
        self.set_count(len(memories), places.get(current.id, 0) if current else 0)

    @property
    def current(self) -> MemorySummary | None:
        return self.memories[self.cursor] if self.memories else None

    def row_cells(self, index: int, width: int) -> list[Cell]:
        memory = self.memories[index]
        date = cells(memory.updated_at[:10], DATE_WIDTH) if width >= WIDE else ""
        status = "" if memory.status == "active" else f"[{memory.status}] "
        room = width - CATEGORY_WIDTH - len(date) - 1
        tone = "muted" if status else ""
        return [
            (" " + cells(category_name(memory.category), CATEGORY_WIDTH), "muted"),
            (cells(status + memory.title, room - 1) + " ", tone),
            (date, "muted"),
        ]


def category_name(category: str) -> str:
    """The category in words for people."""
    return CATEGORY_NAMES.get(category, category.replace("_", " "))
