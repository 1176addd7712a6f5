"""The columns of lists of memories: which facts of a memory stand in its row, in which order and width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.memory import MemorySummary
from tui.widgets.lists.columns import Column, ColumnList
from tui.widgets.memory_pane import category_name, is_inactive
from tui.workspace.curate.memory_facts import (
    CATEGORY,
    FINDINGS,
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

SHORT_CHECKS = {"staleness": "stale", "duplicates": "twin"}
"""Names of checks that are too long for a column."""

BAD_FROM, WARNED_FROM = 0.7, 0.4
"""Severities from which a finding is shown as bad, and as a warning."""


def status_and_name(memory: MemorySummary, _: Facts) -> str:
    return f"[{memory.status}] {memory.name}" if is_inactive(memory) else memory.name


def title_tone(memory: MemorySummary, _: Facts) -> str:
    return "muted" if is_inactive(memory) else ""


def relevant_of_labelled(memory: MemorySummary, facts: Facts) -> str:
    relevant, labelled = facts.labelled(memory.id)
    return f"{relevant}/{labelled}" if labelled else ""


def _number(number: int) -> str:
    return f"{number:,}" if number else ""


def age(memory: MemorySummary, facts: Facts) -> str:
    """The time since the last change in one unit: 5d, 3w, 7mo or 2y."""
    days = facts.days(memory)
    if days is None:
        return ""
    sizes = ((365.25, "y", 2), (30.44, "mo", 2), (7, "w", 2))
    return next((f"{days / size:.0f}{unit}" for size, unit, least in sizes if days >= least * size), f"{days:.0f}d")


def worst_finding(memory: MemorySummary, facts: Facts) -> str:
    """A word for the worst finding, and the number of others."""
    found = facts.found(memory.id)
    if not found:
        return ""
    word = SHORT_CHECKS.get(found[0].check, found[0].check)
    return f"{word} +{len(found) - 1}" if len(found) > 1 else word


def finding_tone(memory: MemorySummary, facts: Facts) -> str:
    found = facts.found(memory.id)
    return severity_tone(found[0].severity) if found else ""


def severity_word(severity: float) -> str:
    if severity >= BAD_FROM:
        return "high"
    return "medium" if severity >= WARNED_FROM else "low"


def severity_tone(severity: float) -> str:
    """The tone of a finding in a row."""
    return {"high": "bad", "medium": "warned", "low": "muted"}[severity_word(severity)]


SHORT_COLUMNS = (
    Column(lambda memory, _: category_name(memory.category), "Category", CATEGORY, width=11),
    Column(status_and_name, "Title", TITLE, tone=title_tone, has_marks=True, more=lambda memory, _: memory.about),
    Column(lambda memory, _: memory.updated_at[:10], "Updated", UPDATED, width=12, from_width=70),
)
COLUMNS = (
    SHORT_COLUMNS[0],
    SHORT_COLUMNS[1],
    Column(age, "Age", UPDATED, width=5, from_width=104, is_number=True),
    Column(lambda memory, facts: _number(facts.tokens(memory.id)), "Tokens", TOKENS, 8, 1, 110, is_number=True),
    Column(lambda memory, facts: _number(facts.injected(memory.id)), "Inj.", INJECTED, 6, 1, 66, is_number=True),
    Column(relevant_of_labelled, "Relevant", PRECISION, width=10, gap=2, from_width=74, is_number=True),
    Column(worst_finding, "Findings", FINDINGS, width=9, gap=0, from_width=48, tone=finding_tone),
)
"""In a narrow list the left ones of the numbers go first, and the findings last."""


def columns_over(roots: Sequence[str]) -> tuple[Column, ...]:
    """The columns of Browse, and one for the root where several are open. The list begins in the order of the roots."""
    if len(roots) < 2:
        return COLUMNS
    names = {root: root_label(root) for root in roots}

    def name(memory: MemorySummary, _: Facts) -> str:
        return next((name for root, name in names.items() if f"{memory.file}/".startswith(f"{root}/")), "")

    return (COLUMNS[0], Column(name, "Root", width=14, from_width=56), *COLUMNS[1:])


class MemoryList(ColumnList[MemorySummary]):
    """Memories, a row each. A column without a value in any row is left out."""

    NOUN = "memory"

    def __init__(self, columns: tuple[Column, ...] = SHORT_COLUMNS, facts: Facts = NO_FACTS) -> None:
        super().__init__()
        self._all_columns, self.facts = columns, facts
        self.take_facts(facts)

    def take_facts(self, facts: Facts) -> None:
        """Show other facts."""
        self.facts, known = facts, facts.known() if facts is not NO_FACTS else {}
        self.columns = tuple(column for column in self._all_columns if known.get(column.order, True))
        self.refresh()

    def id_of(self, record: MemorySummary) -> str:
        return record.id

    def known(self, record: MemorySummary) -> tuple[MemorySummary, Facts]:
        return record, self.facts
