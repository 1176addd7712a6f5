"""Whether the probabilities of a system are true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.charts.svg import BOTTOM, Plot, chart, dot, label, line, path, series

if TYPE_CHECKING:
    from labels.measure.reliability import Reliability


def reliability_chart(system: str, found: Reliability, number: int) -> str:
    """What was said against what was found, with intervals; the diagonal is a model that is right."""
    plot = Plot()
    kind = series(number)
    parts = plot.axes("probability that was said", "share that is relevant")
    parts.append(line(plot.at(0, 0), plot.at(1, 1), "grid"))
    parts.append(label((plot.x(1) - 4, plot.y(0) - 8), system, "name end", 40))
    parts.append(path([plot.at(each.said, each.found) for each in found.bins], f"thin {kind}"))
    for each in found.bins:
        parts.append(
            line(plot.at(each.said, each.interval.low), plot.at(each.said, each.interval.high), f"thin {kind}")
        )
        hint = f"said {each.said:.2f}, found {each.found:.2f}, {each.memories} memories"
        parts.append(dot(plot.at(each.said, each.found), f"point {kind}", 4, hint))
    described = "; ".join(f"said {each.said:.2f}, found {each.found:.2f}" for each in found.bins)
    return chart(f"reliability-{number}", f"Reliability of {system}", described, plot.bottom + BOTTOM, parts)
