"""Charts of Report. Each stands beside a table with the same numbers, and differs by signs as well as by colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.content import Content

from labels.report.charts import TICKS, ConfusionChart, LineChart, WorstChart, charts_of, confusion_rows
from labels.report.first_lines import main_system
from labels.report.section import percent
from tui.plain import cells, plain
from tui.widgets.report import MIN_SCALE, MUTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.report import Report

NAME_WIDTH = 24
MARKERS = "●×▲◆■○"
COLORS = ((40, 120, 200), (205, 95, 10), (0, 135, 95), (160, 85, 180), (190, 60, 90), (110, 110, 30))
GREY = (128, 128, 128)
"""A sign and a colour for each system in a plot, and the colour of lines beside the points. All can be read on dark
and on light ground."""

WRONG, RIGHT = "█", "░"
CELL = 24
"""Cells of a field in the chart of the judge."""


# Charts of characters


def drawn_chart(name: str, report: Report, width: int) -> Content | None:
    """The chart of the section *name*, in lines of *width* cells; None if it has none."""
    for chart in charts_of(name, report):
        match chart:
            case WorstChart():
                return Content("\n").join(_worst(chart, width))
            case ConfusionChart():
                head = f"{cells('', NAME_WIDTH)}{cells('people: relevant', CELL)}people: not relevant"
                lines = [plain(head).stylize_before(MUTED)]
                for row, (name, numbers) in enumerate(confusion_rows(chart.counts)):  # a longer bar is a larger share
                    fields = (_field(count, chart.counts.total, is_same=row == i) for i, count in enumerate(numbers))
                    lines.append(plain(cells(name, NAME_WIDTH)) + Content("").join(fields))
                return Content("\n").join(lines)
    return None


def _worst(chart: WorstChart, width: int) -> Iterator[Content]:
    name = max(MIN_SCALE, min(60, width // 2))
    scale = min(4.0, max(1, width - name - 10) / chart.longest)
    for row in chart.rows:
        wrong, right = round(row.irrelevant * scale), round(row.relevant * scale)
        bar = plain(WRONG * wrong).stylize_before("$text-error") + plain(RIGHT * right).stylize_before("$text-success")
        yield plain(cells(row.text or row.id, name) + " ") + bar + plain(f" {row.irrelevant} : {row.relevant}")
    yield plain(f"{WRONG} not relevant   {RIGHT} relevant").stylize_before(MUTED)


def _field(count: int, total: int, *, is_same: bool) -> Content:
    room = CELL - 12
    bar = (RIGHT if is_same else WRONG) * max(bool(count), round(room * count / max(1, total)))
    tone = "$text-success" if is_same else "$text-error"
    return plain(cells(bar, room)).stylize_before(tone) + plain(cells(f" {count:,} ({percent(count, total)})", 12))


# Charts of points, with plotext


PLOTS = {
    "precision": "history",
    "comparison": "coverage",
    "injecting": "coverage",
    "recall": "coverage",
    "confidence": "reliability",
    "limits": "history",
}
"""Kind of section -> the curve that stands beside it where there is room. Curves have sections of their own, too."""


def curve_beside(section: str, report: Report) -> LineChart | None:
    """The curve that is drawn beside a section: of all systems, or of the main one; None if nothing is known of it."""
    main = main_system(report)
    for chart in charts_of(PLOTS.get(section.partition("-")[0], section), report):
        if isinstance(chart, LineChart) and (
            not chart.lines[0].spans or chart.lines[0].system == (main and main.system)
        ):
            return chart
    return None


def plot(plt: Any, chart: LineChart) -> None:
    """Draw a curve with plotext. *plt* is the object of a plot."""
    plt.clear_figure()
    names = []
    if chart.has_diagonal:
        plt.plot([0, 1], [0, 1], marker="braille", color=GREY)
    for line, marker, color in zip(chart.lines, MARKERS, COLORS, strict=False):
        xs, ys = [x for x, _ in line.points], [y for _, y in line.points]
        if chart.is_band:
            plt.plot(xs, [span.high for span in line.spans], marker="braille", color=GREY)
            plt.plot(xs, [span.low for span in line.spans], marker="braille", color=GREY)
        elif not line.spans:
            plt.plot(xs, ys, marker="braille", color=color)
        for x, span in zip(xs, () if chart.is_band else line.spans, strict=False):
            plt.plot([x] * 2, [span.low, span.high], marker="braille", color=color)
        plt.scatter(xs, ys, marker=marker, color=color)
        names.append(f"{marker} {line.system}")
    if chart.far == 1:
        plt.xlim(0, 1)
        plt.xticks(TICKS)
    else:
        plt.xticks(sorted({xs[round(part * (len(xs) - 1))] for part in TICKS}))
    plt.ylim(0, 1)
    plt.yticks(TICKS)
    plt.xlabel(chart.across)
    plt.title(f"{chart.title}: {'   '.join(names)}")
