"""The columns of lists of memories: which facts of a memory stand in its row, in which order and width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.memory import MemorySummary
from tui.widgets.row_columns import MARGIN, Column, ColumnList
from tui.workspace.curate.memory_facts import (
    CATEGORY,
    INJECTED,
    NO_FACTS,
    PRECISION,
    TITLE,
    TOKENS,
    UPDATED,
    Facts,
    root_label,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

CATEGORY_NAMES = {"session_summary": "session", "tech_debt": "tech debt"}


def category_name(category: str) -> str:
    """The category in words for people."""
    return CATEGORY_NAMES.get(category, category.replace("_", " "))


def is_inactive(memory: MemorySummary) -> bool:
    """Whether its status is anything but active."""
    return memory.status != "active"


def status_and_title(memory: MemorySummary, _: Facts) -> str:
    return f"[{memory.status}] {memory.title}" if is_inactive(memory) else memory.title


def title_tone(memory: MemorySummary, _: Facts) -> str:
    return "muted" if is_inactive(memory) else ""


def relevant_of_labelled(memory: MemorySummary, facts: Facts) -> str:
    relevant, labelled = facts.labelled(memory.id)
    return f"{relevant}/{labelled}" if labelled else ""


def _number(number: int) -> str:
    return f"{number:,}" if number else ""


SHORT_COLUMNS = (
    Column(lambda memory, _: category_name(memory.category), "Category", CATEGORY, width=11),
    Column(status_and_title, "Title", TITLE, tone=title_tone, has_marks=True),
    Column(lambda memory, _: memory.updated_at[:10], "Updated", UPDATED, width=12, from_width=70),
)
COLUMNS = (
    *SHORT_COLUMNS,
    Column(lambda memory, facts: _number(facts.injected(memory.id)), "Inj.", INJECTED, width=6, from_width=66),
    Column(relevant_of_labelled, "Relevant", PRECISION, width=10, from_width=76),
    Column(lambda memory, facts: _number(facts.tokens(memory.id)), "Tokens", TOKENS, width=8, from_width=84),
)


def columns_over(roots: Sequence[str]) -> tuple[Column, ...]:
    """The columns of Browse, and one for the root where several are open. The list begins in the order of the roots."""
    if len(roots) < 2:
        return COLUMNS
    names = {root: root_label(root) for root in roots}

    def name(memory: MemorySummary, _: Facts) -> str:
        return next((name for root, name in names.items() if f"{memory.file}/".startswith(f"{root}/")), "")

    return (COLUMNS[0], Column(name, "Root", width=14, from_width=56), *COLUMNS[1:])


class MemoryList(ColumnList[MemorySummary]):
    """Memories, a row each, where a memory is picked."""

    columns: tuple[Column, ...] = SHORT_COLUMNS
    margin = 1

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.facts = NO_FACTS

    def id_of(self, record: MemorySummary) -> str:
        return record.id

    def known(self, record: MemorySummary) -> tuple[MemorySummary, Facts]:
        return record, self.facts


class MemoryTable(MemoryList):
    """Memories in Browse, with all columns."""

    margin = MARGIN

    def __init__(self, columns: tuple[Column, ...] = COLUMNS) -> None:
        super().__init__()
        self.columns = columns
