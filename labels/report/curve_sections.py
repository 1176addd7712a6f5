"""The curves of a report as tables of a few of their points. A page has a chart beside each."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from labels.report.section import ReportTable, decimal, range_of, section, span, system_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.curves import Coverage, Moment, ReliabilityCurve
    from labels.measure.report import Report
    from labels.report.section import ReportSection

SHOWN_POINTS = 6
T = TypeVar("T")


def curve_sections(report: Report) -> Iterator[ReportSection]:
    """Precision against coverage, precision over time, and reliability, as far as they are known."""
    found = [(system.system, system.curves) for system in report.systems if system.curves]
    yield from coverage([(name, curves.coverage) for name, curves in found if curves.coverage])
    yield from history([(name, curves.history) for name, curves in found if curves.history])
    yield from reliability([(name, curves.reliability) for name, curves in found if curves.reliability])


def reliability(found: Sequence[tuple[str, ReliabilityCurve]]) -> Iterator[ReportSection]:
    rows = system_rows(
        [(name, curve.bins) for name, curve in found],
        lambda bucket: (f"{bucket.said:.2f}", f"{bucket.found:.2f}", span(bucket.interval), f"{bucket.memories:,}"),
    )
    if rows:
        ranges = tuple(range_of(bucket.found, bucket.interval) for _, curve in found for bucket in curve.bins)
        table = ReportTable(("", "said", "found", "95 % interval", "memories"), rows, ranges=ranges)
        yield section("reliability", table, (f"{name}: Brier score {curve.brier:.3f}." for name, curve in found))


def coverage(curves: Sequence[tuple[str, Coverage]]) -> Iterator[ReportSection]:
    rows = system_rows(
        [(name, some(curve.points)) for name, curve in curves],
        lambda at: (*map(decimal, (at.least, at.precision, at.recall, at.fires)), f"{at.judged:,}"),
    )
    if rows:
        along = " or ".join(sorted({curve.by for _, curve in curves}))
        table = ReportTable(("", "at least", "precision", "recall", "fires", "labelled"), rows)
        yield section("coverage", table, along=along)


def history(found: Sequence[tuple[str, Sequence[Moment]]]) -> Iterator[ReportSection]:
    rows = system_rows(
        [(name, some(moments)) for name, moments in found],
        lambda moment: (f"{moment.prompts:,}", decimal(moment.precision), span(moment.live)),
    )
    if rows:
        ranges = tuple(range_of(moment.precision, moment.live) for _, moments in found for moment in some(moments))
        yield section("history", ReportTable(("", "prompts", "precision", "95 %, any time"), rows, ranges=ranges))


def some(points: Sequence[T]) -> list[T]:
    """At most SHOWN_POINTS of them, evenly spread, the first and the last among them."""
    if len(points) <= SHOWN_POINTS:
        return list(points)
    return [points[round(at * (len(points) - 1) / (SHOWN_POINTS - 1))] for at in range(SHOWN_POINTS)]
