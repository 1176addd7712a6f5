"""Charts of curves: precision against coverage, precision over time, and reliability of probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.html_page.svg import BOTTOM, TOP, Plot, area, chart, dot, label, legend, line, path, series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from labels.measure.curves import Coverage, CutPoint, Moment, ReliabilityCurve
    from labels.measure.report import Report

RECALL, FIRES = "recall", "fires"
AXES: Mapping[str, tuple[str, Callable[[CutPoint], float]]] = {
    RECALL: ("recall of all known to be relevant", lambda point: point.recall),
    FIRES: ("prompts that get a memory", lambda point: point.fires),
}


def coverage_charts(report: Report) -> Iterator[str]:
    numbers = {system.system: number for number, system in enumerate(report.systems)}
    found = {
        system.system: system.curves.coverage for system in report.systems if system.curves and system.curves.coverage
    }
    for against in (RECALL, FIRES):
        yield coverage_chart(found, against, numbers)


def coverage_chart(curves: Mapping[str, Coverage], against: str, numbers: Mapping[str, int]) -> str:
    """A line for each system; the dot at its end is the system as it is. *numbers* are the series of the systems."""
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
    for place, name in enumerate(curves):
        parts += legend(name, numbers[name], top + 18 * place)
    title = f"Precision against {across}"
    return chart(f"coverage-{against}", title, described, top + 18 * len(curves) - 6, parts)


def history_chart(system: str, moments: Sequence[Moment], number: int) -> str:
    """The precision so far, in the band of its interval for any look, over the number of labelled prompts."""
    plot, last = Plot(180), moments[-1]
    kind = series(number)

    def at(moment: Moment, value: float) -> tuple[float, float]:
        return plot.at(moment.prompts / last.prompts, value)

    band = [at(moment, moment.live.high) for moment in moments]
    band += [at(moment, moment.live.low) for moment in reversed(moments)]
    parts = [
        *(line(plot.at(0, tick), plot.at(1, tick), "grid") for tick in (0.0, 0.5, 1.0)),
        *(label((plot.left - 6, plot.y(tick) + 4), f"{tick:g}", "tick end") for tick in (0.0, 0.5, 1.0)),
        area(band, f"band {kind}"),
        path([at(moment, moment.precision) for moment in moments], f"line {kind}"),
        dot(at(last, last.precision), f"point {kind}", 4, f"{last.precision:.2f} after {last.prompts} prompts"),
        label((plot.x(1) - 4, plot.y(0) - 8), system, "name end", 40),
        label((plot.x(0), plot.bottom + 15), "0", "tick middle"),
        label((plot.x(1), plot.bottom + 15), f"{last.prompts:,}", "tick end"),
        label((plot.x(0.5), plot.bottom + 15), "labelled prompts", "axis middle"),
    ]
    described = (
        f"After {moments[0].prompts} prompts {moments[0].live.low:.2f} to {moments[0].live.high:.2f}, "
        f"after {last.prompts} {last.live.low:.2f} to {last.live.high:.2f}."
    )
    title = f"Precision of {system} while it was labelled"
    return chart(f"history-{number}", title, described, plot.height + TOP + 24, parts)


def reliability_chart(system: str, found: ReliabilityCurve, number: int) -> str:
    """Probabilities against relevant shares, with intervals; a model that is right lies on the diagonal."""
    plot = Plot()
    kind = series(number)
    parts = plot.axes("probability that was said", "share that is relevant")
    parts.append(line(plot.at(0, 0), plot.at(1, 1), "grid"))
    parts.append(label((plot.x(1) - 4, plot.y(0) - 8), system, "name end", 40))
    parts.append(path([plot.at(bucket.said, bucket.found) for bucket in found.bins], f"thin {kind}"))
    for bucket in found.bins:
        parts.append(
            line(plot.at(bucket.said, bucket.interval.low), plot.at(bucket.said, bucket.interval.high), f"thin {kind}")
        )
        hint = f"said {bucket.said:.2f}, found {bucket.found:.2f}, {bucket.memories} memories"
        parts.append(dot(plot.at(bucket.said, bucket.found), f"point {kind}", 4, hint))
    described = "; ".join(f"said {bucket.said:.2f}, found {bucket.found:.2f}" for bucket in found.bins)
    return chart(f"reliability-{number}", f"Reliability of {system}", described, plot.bottom + BOTTOM, parts)
