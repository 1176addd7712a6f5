"""How precision became known while people labelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.charts.svg import TOP, Plot, area, chart, dot, label, line, path, series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.measure.history import Moment


def history_chart(system: str, moments: Sequence[Moment], number: int) -> str:
    """The precision so far, in the band of its interval for any look, over the number of labelled prompts."""
    plot, last = Plot(180), moments[-1]
    kind = series(number)

    def at(moment: Moment, value: float) -> tuple[float, float]:
        return plot.at(moment.prompts / last.prompts, value)

    band = [at(each, each.live.high) for each in moments] + [at(each, each.live.low) for each in reversed(moments)]
    parts = [
        *(line(plot.at(0, tick), plot.at(1, tick), "grid") for tick in (0.0, 0.5, 1.0)),
        *(label((plot.left - 6, plot.y(tick) + 4), f"{tick:g}", "tick end") for tick in (0.0, 0.5, 1.0)),
        area(band, f"band {kind}"),
        path([at(each, each.precision) for each in moments], f"line {kind}"),
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
