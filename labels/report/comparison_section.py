"""What a report says of two systems on the same prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.figures import UNKNOWN, counted
from labels.report.section import Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.measure.comparison import Difference, SystemComparison

SMALLEST_P = 0.001


def comparison_section(comparisons: Sequence[SystemComparison]) -> Section:
    head = ("system", "instead\nof", "precision", "95 %\nfrom", "95 %\nto", "p", "not\nrelevant", "relevant")
    fewest, most = min(each.prompts for each in comparisons), max(each.prompts for each in comparisons)
    prompts = counted(most, "prompt") if fewest == most else f"{fewest:,} to {counted(most, 'prompt')}"
    return Section(
        "comparison",
        "Differences: what one system changes against another",
        f"On the {prompts} labelled in full for both. Precision: the difference over all of them, with its interval. "
        "p looks only at prompts for which both inject something: how often chance alone would make their precisions "
        "differ as much. Not relevant, relevant: how many more memories per prompt (+), or fewer (-).",
        Table(head, tuple(map(row_of, comparisons)), names=2, is_whole=True),
    )


def row_of(each: SystemComparison) -> tuple[str, ...]:
    changes = (signed(each.irrelevant), signed(each.relevant))
    return each.second, each.first, signed(each.precision), *interval(each.precision), p(each.p_value), *changes


def signed(difference: Difference | None) -> str:
    return UNKNOWN if difference is None else f"{difference.value:+.2f}"


def interval(difference: Difference | None) -> tuple[str, str]:
    if difference is None or difference.interval is None:
        return UNKNOWN, UNKNOWN
    return f"{difference.interval.low:+.2f}", f"{difference.interval.high:+.2f}"


def p(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"<{SMALLEST_P}" if value < SMALLEST_P else f"{value:.3f}"
