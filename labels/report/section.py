"""The building blocks of a report in every form: sections, tables, how numbers are written, and what a row counts."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from engine.judge.verdict import APPROVED
from engine.lean.sections import text_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from labels.measure.evidence import Evidence
    from labels.measure.intervals import Interval
    from labels.measure.metrics import Ratio
    from labels.records import Outcome

    Weight = Callable[[Outcome], float]
    """How much a prompt belongs to a row; 0 for a prompt that the row does not count."""


T = TypeVar("T")

TEXTS: dict[str, dict[str, Any]] = tomllib.loads(text_beside(__file__, "texts.toml"))

UNKNOWN = "-"
LEAST_ERROR = 0.005


class Range(NamedTuple):
    """A share, 0..1, and its intervals: for who asks once, and for who asks at any time."""

    value: float
    once: Interval
    live: Interval


def range_of(value: float | None, once: Interval | None, live: Interval | None = None) -> Range | None:
    return None if value is None or once is None else Range(value, once, live or once)


class ReportRow(NamedTuple):
    """The cells of a row. `range` is what a bar beside it would show, `counted` are the prompts that it counts."""

    cells: tuple[str, ...]
    range: Range | None = None
    counted: CountedPrompts | None = None


@dataclass(frozen=True)
class ReportTable:
    """Rows under a *head*, in which a newline separates two lines.

    The first *names* columns are names, the others numbers. `is_whole`: the names must not be cut.
    """

    head: tuple[str, ...]
    rows: tuple[ReportRow, ...]
    names: int = 1
    is_whole: bool = False

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """The cells of each row."""
        return [row.cells for row in self.rows]


@dataclass(frozen=True)
class ReportSection:
    """A part of a report: `name` is its anchor, `about` explains how to read it and may be empty.

    `lines` are sentences below the table. Texts come from files as they are: the code that shows a section makes them
    harmless.
    """

    name: str
    title: str
    about: str = ""
    table: ReportTable | None = None
    lines: tuple[str, ...] = ()


def section(
    name: str, table: ReportTable | None = None, lines: Iterable[str] = (), *, anchor: str = "", **words: object
) -> ReportSection:
    """The section *name* of texts.toml, with *words* in the places of its braces. Its anchor is its name by default."""
    title, about = (text.format(**words) for text in TEXTS["sections"][name].values())
    return ReportSection(anchor or name, title, about, table, tuple(lines))


def sentence(name: str, *numbers: str, **words: object) -> str:
    """A sentence of texts.toml."""
    text: str = TEXTS["sentences"][name].format(*numbers, **words)
    return text


def system_rows(
    systems: Iterable[tuple[str, Iterable[T]]], row_of: Callable[[str, T], ReportRow]
) -> tuple[ReportRow, ...]:
    """A row for each item of each system, with the name of the system as first cell of its first row."""
    rows = ((name if at == 0 else "", row_of(name, item)) for name, items in systems for at, item in enumerate(items))
    return tuple(row._replace(cells=(name, *row.cells)) for name, row in rows)


def share(ratio: Ratio) -> str:
    """A ratio and its counts: 0.57 (48/84)."""
    return UNKNOWN if ratio.value is None else f"{ratio.value:.2f} ({ratio.part}/{ratio.whole})"


def part_of(ratio: Ratio) -> str:
    """The counts of a ratio: 48 of 84."""
    return f"{ratio.part:,} of {ratio.whole:,}"


def span(interval: Interval | None) -> str:
    return UNKNOWN if interval is None else f"{interval.low:.2f}-{interval.high:.2f}"


def decimal(number: float | None) -> str:
    return UNKNOWN if number is None else f"{number:.2f}"


def give_or_take(number: float | None, error: float | None) -> str:
    """A number and its standard error. An error of zero is left out: it comes from the formula and is no certainty."""
    return decimal(number) if error is None or error < LEAST_ERROR else f"{decimal(number)} ± {error:.2f}"


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else UNKNOWN


def one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """*text* without control characters, which could command a terminal."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "�" for char in text)


# The prompts that a row counts


class CountedPrompts:
    """The prompts that a row counts, the worst first; for a row about a `memory`, the prompts that got it.

    They are found when somebody opens the row.
    `systems` are the names of the systems that the row is about; empty for all.
    """

    def __init__(self, find: Callable[[], Iterable[str]], systems: tuple[str, ...] = (), memory: str = "") -> None:
        self._find = find
        self.systems = systems
        self.memory = memory

    @cached_property
    def prompts(self) -> tuple[str, ...]:
        return tuple(self._find())


def weighed_by(evidence: Evidence, systems: tuple[str, ...], weight: Weight) -> CountedPrompts:
    """The prompts of the last of *systems* with a weight above 0, the largest first."""

    def find() -> list[str]:
        weights = {row.prompt_id: weight(row) for row in evidence.of(systems[-1])}
        return sorted([name for name in weights if weights[name] > 0], key=lambda name: -weights[name])

    return CountedPrompts(find, systems)


def injected_with(evidence: Evidence, memory_id: str) -> CountedPrompts:
    """The prompts for which any system injects a memory; those for which it is not relevant come first."""

    def find() -> list[str]:
        found = dict.fromkeys(row.prompt_id for row in evidence.rows if memory_id in row.injected)
        return sorted(found, key=lambda name: bool(evidence.judgements.get(name, {}).get(memory_id)))

    return CountedPrompts(find, memory=memory_id)


# Weights


def marks(evidence: Evidence, row: Outcome, memory_ids: Iterable[str]) -> float:
    """Irrelevant memories weigh more than relevant ones, so that prompts with them come first."""
    judged = evidence.judgements.get(row.prompt_id, {})
    return sum(0.01 if judged[name] else 1.0 for name in memory_ids if name in judged)


def doubt(evidence: Evidence, row: Outcome) -> float:
    """The irrelevant memories of a prompt; memories without a label weigh little."""
    judged = evidence.judgements.get(row.prompt_id, {})
    return sum(0.001 if name not in judged else 0.0 if judged[name] else 1.0 for name in row.injected)


def false_fire(evidence: Evidence, row: Outcome) -> float:
    return len(row.injected) if row.prompt_id in evidence.without_relevant else 0


def lost(evidence: Evidence, row: Outcome) -> float:
    """The relevant memories of the pool that were not injected, for a prompt that was looked through."""
    if row.prompt_id not in evidence.looked_through:
        return 0
    judged = evidence.judgements.get(row.prompt_id, {})
    return evidence.relevant_in_pools[row.prompt_id] - sum(bool(judged.get(name)) for name in row.injected)


def trouble(_: Evidence, row: Outcome) -> float:
    """Every prompt counts: failures of the judge first, then silence."""
    return 2 * bool(row.fallback) + (not row.injected) + 0.01


def known_relevant(evidence: Evidence, row: Outcome) -> float:
    return sum(evidence.judgements.get(row.prompt_id, {}).values())


def decided(evidence: Evidence, row: Outcome, *, is_kept: bool) -> float:
    """Decisions of the judge on memories with a label; those with which people differ weigh more."""
    judged = evidence.judgements.get(row.prompt_id, {})
    return sum(
        0.01 if judged[name] is is_kept else 1.0
        for name, decision in zip(row.candidates, row.decisions, strict=True)
        if decision is not None and (decision == APPROVED) is is_kept and name in judged
    )


def difference(evidence: Evidence, system: str) -> Weight:
    """The number of memories that only one of two systems injects; *system* is the other one."""
    others = {row.prompt_id: row.injected for row in evidence.of(system)}
    return lambda row: len({*row.injected} ^ {*others.get(row.prompt_id, row.injected)})
