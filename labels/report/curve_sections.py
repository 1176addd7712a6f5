"""The sections on curves: what a stricter cutoff would cost, how precision became known, and whether P is true."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from labels.measure.curves import bin_number, strengths
from labels.report.counted import CountedPrompts, marks, weighed_by
from labels.report.section import ReportRow, ReportTable, decimal, range_of, section, span, system_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.curves import Bin, CutPoint, Moment
    from labels.measure.report import Report
    from labels.records import Outcome
    from labels.report.section import ReportSection

SHOWN_POINTS = 6
T = TypeVar("T")


def curve_sections(report: Report) -> Iterator[ReportSection]:
    """Precision against coverage, precision over time, and reliability, as far as they are known."""
    evidence, found = report.evidence, [(system.system, system.curves) for system in report.systems if system.curves]

    def above(by: str, least: float, row: Outcome) -> float:
        stronger = zip(row.injected, strengths(row, by), strict=False)
        return marks(evidence, row, [name for name, own in stronger if own is not None and own >= least])

    def cut(system: str, at: tuple[str, CutPoint]) -> ReportRow:
        by, point = at
        cells = (*map(decimal, (point.least, point.precision, point.recall, point.fires)), f"{point.judged:,}")
        return ReportRow(cells, None, weighed_by(evidence, (system,), partial(above, by, point.least)))

    covered = [(name, own.coverage) for name, own in found if own.coverage]
    if rows := system_rows([(name, [(own.by, point) for point in some(own.points)]) for name, own in covered], cut):
        along = " or ".join(sorted({own.by for _, own in covered}))
        table = ReportTable(("", "at least", "precision", "recall", "fires", "labelled"), rows)
        yield section("coverage", table, along=along)

    def moment(system: str, at: Moment) -> ReportRow:
        behind = CountedPrompts(lambda: [*evidence.sample(system).judged][: at.prompts], (system,))
        cells = (f"{at.prompts:,}", decimal(at.precision), span(at.live))
        return ReportRow(cells, range_of(at.precision, at.live), behind)

    if rows := system_rows([(name, some(own.history)) for name, own in found], moment):
        yield section("history", ReportTable(("", "prompts", "precision", "95 %, any time"), rows))

    def in_bin(number: int, row: Outcome) -> float:
        return marks(evidence, row, [name for name, p in row.probabilities.items() if bin_number(p) == number])

    def bucket(system: str, own: Bin) -> ReportRow:
        cells = (f"{own.said:.2f}", f"{own.found:.2f}", span(own.interval), f"{own.memories:,}")
        behind = weighed_by(evidence, (system,), partial(in_bin, bin_number(own.said)))
        return ReportRow(cells, range_of(own.found, own.interval), behind)

    reliable = [(name, own.reliability) for name, own in found if own.reliability]
    if rows := system_rows([(name, own.bins) for name, own in reliable], bucket):
        table = ReportTable(("", "said", "found", "95 % interval", "memories"), rows)
        yield section("reliability", table, (f"{name}: Brier score {own.brier:.3f}." for name, own in reliable))


def some(points: Sequence[T]) -> list[T]:
    """At most SHOWN_POINTS of them, evenly spread, the first and the last among them."""
    if len(points) <= SHOWN_POINTS:
        return list(points)
    return [points[round(at * (len(points) - 1) / (SHOWN_POINTS - 1))] for at in range(SHOWN_POINTS)]
