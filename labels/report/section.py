"""The building blocks of a report in every form: sections, tables, and how numbers are written in them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from engine.lean.sections import text_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from labels.measure.intervals import Interval
    from labels.measure.metrics import Ratio
    from labels.report.counted import CountedPrompts

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
