"""Charts of Report. Each stands beside a table with the same numbers, and differs by signs as well as by colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.content import Content

from labels.report.first_lines import main_system
from labels.report.section import percent
from tui.plain import cells, plain
from tui.widgets.report.text import MUTED, interval_bar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.agreement import Confusion
    from labels.measure.groups import Worst
    from labels.measure.report import Report, SystemReport

NAME_WIDTH = 24
MIN_SCALE, MAX_SCALE = 14, 100
LOOKS = "━ 95 %, one look   ─ 95 %, any look"
MARKERS = "●×▲◆■○"
COLORS = ((40, 120, 200), (205, 95, 10), (0, 135, 95), (160, 85, 180), (190, 60, 90), (110, 110, 30))
GREY = (128, 128, 128)
"""A sign and a colour for each system in a plot, and the colour of lines beside the points. All can be read on dark
and on light ground."""

TICKS = (0, 0.25, 0.5, 0.75, 1)
WRONG, RIGHT = "█", "░"
CELL = 24
"""Cells of a field in the chart of the judge."""


# Charts of characters


def drawn_chart(name: str, report: Report, width: int) -> Content | None:
    """The chart of the section *name*, in lines of *width* cells; None if it has none."""
    if name == "precision" and report.labelled_prompts:
        return Content("\n").join(_precision(report, width))
    if name == "worst-memories":
        return Content("\n").join(_worst(report.worst_memories, width))
    if name == "worst-prompts":
        return Content("\n").join(_worst(report.worst_prompts, width))
    found = {f"judge-{system.system}": system.agreement for system in report.systems}.get(name)
    return Content("\n").join(_confusion(found.confusion)) if found else None


def _precision(report: Report, width: int) -> Iterator[Content]:
    scale = max(MIN_SCALE, min(MAX_SCALE, width - NAME_WIDTH))
    for system in report.systems:
        yield plain(cells(system.system, NAME_WIDTH)) + _bar(system, scale)
    ends = "0" + "1".rjust(scale - 1)
    middle = ends[: scale // 2 - 1] + "0.5" + ends[scale // 2 + 2 :]
    yield plain(" " * NAME_WIDTH + middle).stylize_before(MUTED)
    if any(row.live for row in report.systems) and scale >= len(LOOKS):
        yield plain(" " * NAME_WIDTH + LOOKS).stylize_before(MUTED)


def _bar(system: SystemReport, scale: int) -> Content:
    value, interval = system.precision.value, system.interval
    if value is None or interval is None:
        return plain("nothing judged yet").stylize_before(MUTED)
    return interval_bar(value, interval, system.live or interval, scale)


def _worst(rows: Sequence[Worst], width: int) -> Iterator[Content]:
    """A bar for each memory or prompt: its irrelevant pairs, then its relevant pairs."""
    name = max(MIN_SCALE, min(60, width // 2))
    most = max(row.irrelevant + row.relevant for row in rows)
    scale = min(4.0, max(1, width - name - 10) / most)
    for row in rows:
        wrong, right = round(row.irrelevant * scale), round(row.relevant * scale)
        bar = plain(WRONG * wrong).stylize_before("$text-error") + plain(RIGHT * right).stylize_before("$text-success")
        yield plain(cells(row.text or row.id, name) + " ") + bar + plain(f" {row.irrelevant} : {row.relevant}")
    yield plain(f"{WRONG} not relevant   {RIGHT} relevant").stylize_before(MUTED)


def _confusion(counts: Confusion) -> Iterator[Content]:
    """Rows are the judge's decisions, columns those of people; a longer bar is a larger share."""
    yield plain(f"{cells('', NAME_WIDTH)}{cells('people: relevant', CELL)}people: not relevant").stylize_before(MUTED)
    table = (
        ("the judge kept it", counts.kept_relevant, counts.kept_irrelevant),
        ("the judge dropped it", counts.dropped_relevant, counts.dropped_irrelevant),
    )
    for row, (name, *numbers) in enumerate(table):
        fields = [_field(count, counts.total, is_same=row == column) for column, count in enumerate(numbers)]
        yield plain(cells(name, NAME_WIDTH)) + fields[0] + fields[1]


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


def plot_name(section: str, report: Report) -> str:
    """The curve that `plot` draws for a section; empty if there is none or nothing is known of it."""
    main = main_system(report)
    curves = main.curves if main else None
    known = {
        "coverage": any(system.curves and system.curves.coverage for system in report.systems),
        "history": bool(curves and curves.history),
        "reliability": bool(curves and curves.reliability),
    }
    name = PLOTS.get(section.partition("-")[0], section)
    return name if known.get(name) else ""


def plot(plt: Any, name: str, report: Report) -> None:
    """Draw the curve *name* with plotext. *plt* is the object of a plot."""
    plt.clear_figure()
    {"coverage": _coverage, "history": _history, "reliability": _reliability}[name](plt, report)
    plt.ylim(0, 1)
    plt.yticks(TICKS)


def _coverage(plt: Any, report: Report) -> None:
    names = []
    for system, marker, color in zip(report.systems, MARKERS, COLORS, strict=False):
        if system.curves and system.curves.coverage:
            points = system.curves.coverage.points
            recalls, precisions = [point.recall for point in points], [point.precision for point in points]
            plt.plot(recalls, precisions, marker="braille", color=color)
            plt.scatter(recalls, precisions, marker=marker, color=color)
            names.append(f"{marker} {system.system}")
    plt.xlim(0, 1)
    plt.xticks(TICKS)
    plt.xlabel("recall: part of the known relevant memories that is injected")
    plt.title(f"Precision, if only stronger memories were injected: {'   '.join(names)}")


def _history(plt: Any, report: Report) -> None:
    main = main_system(report)
    moments = main.curves.history if main and main.curves else ()
    numbers = [moment.prompts for moment in moments]
    plt.plot(numbers, [moment.live.high for moment in moments], marker="braille", color=GREY)
    plt.plot(numbers, [moment.live.low for moment in moments], marker="braille", color=GREY)
    plt.scatter(numbers, [moment.precision for moment in moments], marker=MARKERS[0], color=COLORS[0])
    plt.xticks(sorted({numbers[round(part * (len(numbers) - 1))] for part in TICKS}))
    plt.xlabel("labelled prompts")
    plt.title(f"{main.system if main else ''}: {MARKERS[0]} precision so far, between the ends of its interval")


def _reliability(plt: Any, report: Report) -> None:
    main = main_system(report)
    found = main.curves.reliability if main and main.curves else None
    bins = found.bins if found else ()
    plt.plot([0, 1], [0, 1], marker="braille", color=GREY)
    for group in bins:
        plt.plot([group.said] * 2, [group.interval.low, group.interval.high], marker="braille", color=COLORS[0])
    plt.scatter([group.said for group in bins], [group.found for group in bins], marker=MARKERS[0], color=COLORS[0])
    plt.xlim(0, 1)
    plt.xticks(TICKS)
    plt.xlabel("said probability; a true probability lies on the diagonal")
    plt.title(f"{main.system if main else ''}: {MARKERS[0]} relevant share, with its 95 % interval")
