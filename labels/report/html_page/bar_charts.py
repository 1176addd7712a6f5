"""Charts of bars and squares: precision with its intervals, the worst memories and prompts, the judge's confusion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.html_page.svg import RIGHT, TICKS, WIDTH, chart, dot, element, label, line, series
from labels.report.section import decimal, span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.agreement import Confusion
    from labels.measure.groups import Worst
    from labels.measure.report import SystemReport

EDGE, ROW = 12, 44
WORST_EDGE, WORST_ROW, WORST_NUMBERS = 4, 38, 64
LONGEST = 52
"""Characters of a name that the chart has room for, even in a wide font."""

CONFUSION_LEFT, CONFUSION_TOP, CELL_WIDTH, CELL_HEIGHT = 144, 30, (WIDTH - 148) / 2, 58


def precision_chart(systems: Sequence[SystemReport]) -> str:
    """A row for each system: the dot is its precision, the bar its interval, the thin line the one for any look."""
    bottom = ROW * len(systems) + 8
    parts = [line((across(tick), 6), (across(tick), bottom), "grid") for tick in TICKS]
    parts += [label((across(tick), bottom + 15), f"{tick:g}", "tick middle") for tick in TICKS]
    for number, system in enumerate(systems):
        parts += precision_row(system, number, ROW * number + 20)
    marks = "95 %: the bar for one look, the thin line for any" if any(system.live for system in systems) else ""
    parts.append(label((across(0.5), bottom + 33), marks, "axis middle"))
    described = "; ".join(
        f"{system.system}: {decimal(system.precision.value)}, interval {span(system.interval)}" for system in systems
    )
    return chart("precision-chart", "Precision of each system", described, bottom + (40 if marks else 22), parts)


def across(value: float) -> float:
    return EDGE + value * (WIDTH - EDGE - RIGHT)


def precision_row(system: SystemReport, number: int, y: float) -> Iterator[str]:
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


def worst_chart(name: str, title: str, rows: Sequence[Worst]) -> str:
    """A bar for each memory or prompt: its irrelevant pairs, and after them the relevant ones."""
    most = max(row.irrelevant + row.relevant for row in rows)
    parts = [part for number, row in enumerate(rows) for part in worst_row(row, WORST_ROW * number, most)]
    described = "; ".join(f"{row.text or row.id}: {row.irrelevant} irrelevant, {row.relevant} relevant" for row in rows)
    return chart(f"{name}-chart", title, described, WORST_ROW * len(rows) + 2, parts)


def worst_row(row: Worst, y: float, most: int) -> Iterator[str]:
    scale = (WIDTH - 2 * WORST_EDGE - WORST_NUMBERS) / most
    wrong, right = row.irrelevant * scale, row.relevant * scale
    yield label((WORST_EDGE, y + 13), row.text or row.id, "name", LONGEST)
    yield element("rect", x=WORST_EDGE, y=y + 19.0, width=wrong, height=11, class_="differ")
    if row.relevant:
        yield element("rect", x=WORST_EDGE + wrong, y=y + 19.0, width=right, height=11, class_="agree")
    yield label((WORST_EDGE + wrong + right + 6, y + 29), f"{row.irrelevant} : {row.relevant}", "tick")


def confusion_chart(system: str, counts: Confusion, number: int) -> str:
    """Rows are the judge's decisions, columns people's; a fuller square is darker. They agree on the diagonal."""
    table = (
        ("the judge kept it", counts.kept_relevant, counts.kept_irrelevant),
        ("the judge dropped it", counts.dropped_relevant, counts.dropped_irrelevant),
    )
    parts = [
        label((CONFUSION_LEFT + CELL_WIDTH * (column + 0.5), CONFUSION_TOP - 10), name, "axis middle")
        for column, name in enumerate(("people: relevant", "irrelevant"))
    ]
    for row, (name, *numbers) in enumerate(table):
        y = CONFUSION_TOP + row * (CELL_HEIGHT + 4)
        parts.append(label((CONFUSION_LEFT - 8, y + CELL_HEIGHT / 2 + 4), name, "axis end"))
        for column, count in enumerate(numbers):
            parts += cell(column, y, count, counts.total, agrees=row == column)
    described = "; ".join(
        f"{name}: {relevant} relevant, {irrelevant} irrelevant" for name, relevant, irrelevant in table
    )
    title = f"Judge against people: {system}"
    return chart(f"confusion-{number}", title, described, CONFUSION_TOP + 2 * (CELL_HEIGHT + 4), parts)


def cell(column: int, y: float, count: int, total: int, *, agrees: bool) -> Iterator[str]:
    x = CONFUSION_LEFT + column * (CELL_WIDTH + 4)
    share = count / total if total else 0.0
    yield element(
        "rect",
        x=float(x),
        y=float(y),
        width=CELL_WIDTH - 2,
        height=float(CELL_HEIGHT),
        rx=4,
        class_="agree" if agrees else "differ",
        fill_opacity=f"{0.12 + 0.68 * share:.2f}",
    )
    yield label((x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 2), f"{count:,}", "count middle")
    yield label((x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 18), f"{100 * share:.0f} %", "tick middle")
