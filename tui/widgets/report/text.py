"""Texts of Report: the answer of the gate, and intervals of precision drawn to scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from labels.report.first_lines import first_lines, next_step
from labels.report.gate_text import answer, gate_lines, gate_step
from labels.report.sections import summary
from labels.report.text import as_item, first_part
from tui.plain import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from labels.measure.intervals import Interval
    from labels.report.section import ReportSection
    from tui.workspace.report.reading import ReportReading

    Say = Callable[[str], str]

MUTED = "$foreground-muted"
NOTHING_REPLAYED = (
    "No prompt was replayed yet.\n\n"
    "Press {report.replay} to run every prompt through every system, then {go.label} to label what they return."
)


def answer_text(reading: ReportReading, width: int, say: Say, *, is_short: bool) -> Content:
    """The gate's answer and the next step; unless *is_short*, also the numbers behind it.

    *width* in cells; *say* puts keys in the place of their ids.
    """
    report, gate = reading.report, reading.gate
    if not report.systems:
        return plain(say(NOTHING_REPLAYED))
    said = answer(gate) if gate else first_lines(report)[0]
    step = say((gate_step(gate) if gate else next_step(report)).in_app())
    lines = [_wrapped([said], width).stylize_before("bold"), _wrapped([step], width).stylize_before("$text-accent")]
    if not is_short:
        more = gate_lines(gate)[1:] if gate else first_lines(report)[1:]
        lines += [_wrapped(more, width), _wrapped([summary(report)], width).stylize_before(MUTED)]
    return Content("\n").join(lines)


def _wrapped(lines: Sequence[str], width: int) -> Content:
    return plain(first_part(lines, width))


def part_text(section: ReportSection, whole: str, width: int, behind: Content | None = None) -> Content:
    """The row under the cursor in full, sentences about the numbers, how to read them, and what is *behind* the row."""
    lines = [plain(first_part([whole], width))] if whole else []
    lines += [plain(as_item(line, width)) for line in section.lines]
    if section.about:
        lines.append(plain(first_part([section.about], width)).stylize_before(MUTED))
    lines += [Content(""), behind] if behind else []
    return Content("\n").join(lines)


def interval_bar(point: float, one: Interval, live: Interval, width: int) -> Content:
    """A *point* on a scale from 0 to 1 of *width* cells, its interval for *one* look (thick) and for any (thin)."""
    dot, *ends = (round(share * (width - 1)) for share in (point, one.low, one.high, live.low, live.high))
    thick, thin = ends[:2], ends[2:]
    first, last = min(thin[0], thick[0]), max(thin[1], thick[1])
    drawn = "".join("●" if i == dot else _sign(i, thick, thin) for i in range(width))
    return Content(drawn).stylize(MUTED).stylize("$text-success", first, last + 1).stylize("bold", dot, dot + 1)


def _sign(i: int, thick: Sequence[int], thin: Sequence[int]) -> str:
    if thick[0] <= i <= thick[1]:
        return "━"
    return "─" if thin[0] <= i <= thin[1] else "·"
