"""The charts of a report, without a drawing: a page draws them as SVG, a terminal as characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.agreement import Confusion
    from labels.measure.curves import Curves
    from labels.measure.groups import Worst
    from labels.measure.intervals import Interval
    from labels.measure.report import Report, SystemReport

TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
RECALL, FIRES = "recall", "fires"
ACROSS = {RECALL: "recall of all known to be relevant", FIRES: "prompts that get a memory"}


class PrecisionChart(NamedTuple):
    """A row for each system: its precision between 0 and 1, with the intervals for one look and for any look."""

    systems: Sequence[SystemReport]


class WorstChart(NamedTuple):
    """A bar for each memory or prompt: its irrelevant pairs, and after them the relevant ones."""

    name: str
    title: str
    rows: Sequence[Worst]

    @property
    def longest(self) -> int:
        """The pairs of the longest bar."""
        return max(row.irrelevant + row.relevant for row in self.rows)


def confusion_rows(counts: Confusion) -> tuple[tuple[str, tuple[int, int]], ...]:
    """The decisions of the judge, with the numbers of memories that people call relevant, and irrelevant."""
    return (
        ("the judge kept it", (counts.kept_relevant, counts.kept_irrelevant)),
        ("the judge dropped it", (counts.dropped_relevant, counts.dropped_irrelevant)),
    )


class ConfusionChart(NamedTuple):
    """A square for each of the `confusion_rows` of a system's judge. It and people agree on the diagonal."""

    system: str
    counts: Confusion
    number: int


class ChartLine(NamedTuple):
    """The points (x, y) of a system, the interval of each where it has one, and the number of the system."""

    system: str
    number: int
    points: tuple[tuple[float, float], ...]
    spans: tuple[Interval, ...] = ()


class LineChart(NamedTuple):
    """Lines over an axis from 0 to `far`; y goes from 0 to 1. `across` is the title of the axis.

    `is_band`: the intervals of a line make a band around it, else each stands at its point. `has_diagonal`: what is
    right lies on the diagonal. Without intervals, the last point of a line is the system as it is.
    """

    name: str
    title: str
    across: str
    lines: tuple[ChartLine, ...]
    far: float = 1.0
    is_band: bool = False
    has_diagonal: bool = False


def charts_of(section: str, report: Report) -> Iterator[PrecisionChart | WorstChart | ConfusionChart | LineChart]:
    """The charts of the section of that name; most sections have none."""
    if section == "precision" and report.labelled_prompts:
        yield PrecisionChart(report.systems)
    elif section == "worst-memories":
        yield WorstChart(section, "Worst memories: irrelevant and relevant injections", report.worst_memories)
    elif section == "worst-prompts":
        yield WorstChart(section, "Worst prompts: irrelevant and relevant memories", report.worst_prompts)
    elif section == "coverage":
        yield from coverage_charts(report)
    for number, figures in enumerate(report.systems):
        if section == f"judge-{figures.system}" and figures.agreement:
            yield ConfusionChart(figures.system, figures.agreement.confusion, number)
        elif figures.curves:
            yield from curve_chart(section, figures.system, figures.curves, number)


def coverage_charts(report: Report) -> Iterator[LineChart]:
    found = [
        (number, figures.system, figures.curves.coverage.points)
        for number, figures in enumerate(report.systems)
        if figures.curves and figures.curves.coverage
    ]
    for against, across in ACROSS.items() if found else ():
        lines = (
            ChartLine(system, number, tuple((getattr(point, against), point.precision) for point in points))
            for number, system, points in found
        )
        title = "Precision, if only stronger memories were injected"
        yield LineChart(f"coverage-{against}", title, across, tuple(lines))


def curve_chart(section: str, system: str, curves: Curves, number: int) -> Iterator[LineChart]:
    """The chart of one system for the sections on its history and its reliability."""
    if section == "history" and curves.history:
        points = tuple((moment.prompts, moment.precision) for moment in curves.history)
        line = ChartLine(system, number, points, tuple(moment.live for moment in curves.history))
        title = "Precision so far, between the ends of its interval"
        yield LineChart(f"history-{number}", title, "labelled prompts", (line,), points[-1][0], is_band=True)
    elif section == "reliability" and curves.reliability:
        bins = curves.reliability.bins
        spans = tuple(bucket.interval for bucket in bins)
        line = ChartLine(system, number, tuple((bucket.said, bucket.found) for bucket in bins), spans)
        title, across = "Relevant share, with its 95 % interval", "said probability; true on the diagonal"
        yield LineChart(f"reliability-{number}", title, across, (line,), has_diagonal=True)
