"""What is injected most often in vain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.charts.svg import WIDTH, chart, element, label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.worst import Worst

ROW, EDGE, NUMBERS = 38, 4, 64
LONGEST = 52
"""Characters of a name that the chart has room for, in a wide font too."""


def worst_chart(name: str, title: str, found: Sequence[Worst]) -> str:
    """A bar for each: the irrelevant ones, and behind them the relevant ones."""
    most = max(each.irrelevant + each.relevant for each in found)
    parts = [part for number, each in enumerate(found) for part in row(each, ROW * number, most)]
    described = "; ".join(
        f"{each.text or each.id}: {each.irrelevant} irrelevant, {each.relevant} relevant" for each in found
    )
    return chart(f"{name}-chart", title, described, ROW * len(found) + 2, parts)


def row(each: Worst, y: float, most: int) -> Iterator[str]:
    scale = (WIDTH - 2 * EDGE - NUMBERS) / most
    wrong, right = each.irrelevant * scale, each.relevant * scale
    yield label((EDGE, y + 13), each.text or each.id, "name", LONGEST)
    yield element("rect", x=EDGE, y=y + 19.0, width=wrong, height=11, class_="differ")
    if each.relevant:
        yield element("rect", x=EDGE + wrong, y=y + 19.0, width=right, height=11, class_="agree")
    yield label((EDGE + wrong + right + 6, y + 29), f"{each.irrelevant} : {each.relevant}", "tick")
