"""The judge against people, as four squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.charts.svg import WIDTH, chart, element, label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.agreement import Confusion

LEFT, TOP, CELL_WIDTH, CELL_HEIGHT = 144, 30, (WIDTH - 148) / 2, 58


def confusion_chart(system: str, counts: Confusion, number: int) -> str:
    """Rows are what the judge said, columns what people said; the fuller, the darker. They agree on the diagonal."""
    table = (
        ("the judge kept it", counts.kept_relevant, counts.kept_irrelevant),
        ("the judge dropped it", counts.dropped_relevant, counts.dropped_irrelevant),
    )
    parts = [
        label((LEFT + CELL_WIDTH * (column + 0.5), TOP - 10), name, "axis middle")
        for column, name in enumerate(("people: relevant", "irrelevant"))
    ]
    for row, (name, *numbers) in enumerate(table):
        y = TOP + row * (CELL_HEIGHT + 4)
        parts.append(label((LEFT - 8, y + CELL_HEIGHT / 2 + 4), name, "axis end"))
        for column, count in enumerate(numbers):
            parts += cell(column, y, count, counts.total, agrees=row == column)
    described = "; ".join(
        f"{name}: {relevant} relevant, {irrelevant} irrelevant" for name, relevant, irrelevant in table
    )
    title = f"The judge of {system} against people"
    return chart(f"confusion-{number}", title, described, TOP + 2 * (CELL_HEIGHT + 4), parts)


def cell(column: int, y: float, count: int, total: int, *, agrees: bool) -> Iterator[str]:
    x = LEFT + column * (CELL_WIDTH + 4)
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
