"""The precision of each system with its intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.charts.svg import RIGHT, TICKS, WIDTH, chart, dot, label, line, series
from labels.report.figures import decimal, span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.systems import SystemReport

EDGE = 12
ROW = 44


def precision_chart(systems: Sequence[SystemReport]) -> str:
    """A row for each system: the dot is its precision, the bar its interval, the thin line the one for any look."""
    bottom = ROW * len(systems) + 8
    parts = [line((across(tick), 6), (across(tick), bottom), "grid") for tick in TICKS]
    parts += [label((across(tick), bottom + 15), f"{tick:g}", "tick middle") for tick in TICKS]
    for number, system in enumerate(systems):
        parts += row(system, number, ROW * number + 20)
    marks = "95 %: the bar for one look, the thin line for any" if any(one.live for one in systems) else ""
    parts.append(label((across(0.5), bottom + 33), marks, "axis middle"))
    said = "; ".join(f"{one.system}: {decimal(one.precision.value)}, interval {span(one.interval)}" for one in systems)
    return chart("precision-chart", "Precision of each system", said, bottom + (40 if marks else 22), parts)


def across(value: float) -> float:
    return EDGE + value * (WIDTH - EDGE - RIGHT)


def row(system: SystemReport, number: int, y: float) -> Iterator[str]:
    value = system.precision.value
    yield label((EDGE, y - 2), system.system, "name", 44)
    yield label((WIDTH - RIGHT, y - 2), "not known" if value is None else f"{value:.2f}", "name end")
    if value is None:
        return
    y += 12
    if system.live:
        yield line((across(system.live.low), y), (across(system.live.high), y), f"thin {series(number)}")
    if system.interval:
        yield line((across(system.interval.low), y), (across(system.interval.high), y), f"bar {series(number)}")
    yield dot((across(value), y), f"point {series(number)}", 5, f"{system.system}: {value:.2f}")
