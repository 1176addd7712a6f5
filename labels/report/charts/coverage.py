"""Precision against coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.charts.svg import BOTTOM, Plot, chart, dot, legend, path, series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from labels.measure.coverage import Coverage, Point

RECALL, FIRES = "recall", "fires"
AXES: Mapping[str, tuple[str, Callable[[Point], float]]] = {
    RECALL: ("recall of all known to be relevant", lambda point: point.recall),
    FIRES: ("prompts that get a memory", lambda point: point.fires),
}


def coverage_chart(curves: Mapping[str, Coverage], against: str, numbers: Mapping[str, int]) -> str:
    """A line for each system; the dot at its end is the system as it is. *numbers* say which series a system is."""
    across, value = AXES[against]
    plot = Plot()
    parts = plot.axes(across, "precision")
    for name, curve in curves.items():
        places = [plot.at(value(point), point.precision) for point in curve.points]
        kind, last = series(numbers[name]), curve.points[-1]
        parts.append(path(places, f"line {kind}"))
        parts.append(dot(places[-1], f"point {kind}", 5, f"{name}: {last.precision:.2f} at {value(last):.2f}"))
    top = plot.bottom + BOTTOM + 12
    described = "; ".join(
        f"{name}: from {curve.points[0].precision:.2f} at {value(curve.points[0]):.2f} "
        f"to {curve.points[-1].precision:.2f} at {value(curve.points[-1]):.2f}"
        for name, curve in curves.items()
    )
    parts += legend_of(curves, numbers, top)
    title = f"Precision against {across}"
    return chart(f"coverage-{against}", title, described, top + 18 * len(curves) - 6, parts)


def legend_of(curves: Mapping[str, Coverage], numbers: Mapping[str, int], top: float) -> list[str]:
    parts = []
    for place, name in enumerate(curves):
        parts += legend(name, numbers[name], top + 18 * place)
    return parts
