"""The report as the text of a screen, with each system's intervals of precision drawn to scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from labels.report.first_lines import first_lines, next_step
from labels.report.sections import has_order, sections, summary
from labels.report.text import as_item, first_part, laid_out
from tui.plain import cells, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.intervals import Interval
    from labels.measure.report import Report, SystemReport
    from labels.report.section import Section, Table

LOOKS = "━ one look   ─ any look"
MUTED = "$foreground-muted"
SYSTEM_WIDTH = 22
MIN_SCALE, MAX_SCALE = 14, 60
NOTHING_REPLAYED = (
    "No prompt was replayed yet.\n\n"
    "Press r to run every prompt through every system, then F4 to label what they return."
)


def report_text(report: Report, width: int) -> Content:
    """The whole report, *width* cells wide."""
    if not report.systems:
        return plain(NOTHING_REPLAYED)
    step = plain(next_step(report).in_app()).stylize_before("bold")
    first = plain(first_part(first_lines(report), width))
    lines = [first, Content(""), step, Content(""), plain(summary(report))]
    for section in sections(report):
        lines += [Content(""), *_section(section, width)]
        if section.name == "precision" and report.labelled_prompts:
            lines += [Content(""), *_intervals(report, width)]
    return Content("\n").join(lines)


def _section(section: Section, width: int) -> Iterator[Content]:
    yield plain(section.title).stylize_before("bold $text-primary")
    if section.about:
        yield plain(section.about).stylize_before(MUTED)
    if section.table:
        yield from _table(section.table, width)
        if section.lines:
            yield Content("")
    for line in section.lines:
        yield plain(as_item(line, width))


def _table(table: Table, width: int) -> Iterator[Content]:
    head, body = laid_out(table, width)
    yield Content("")
    yield from (plain(line).stylize_before(MUTED) for line in head)
    yield from (plain(line) for line in body)


def _intervals(report: Report, width: int) -> Iterator[Content]:
    scale = max(MIN_SCALE, min(MAX_SCALE, width - SYSTEM_WIDTH))
    for system in report.systems:
        yield plain(cells(system.system, SYSTEM_WIDTH)) + _bar(system, scale)
    ends = "0" + "1".rjust(scale - 1)
    middle = ends[: scale // 2 - 1] + "0.5" + ends[scale // 2 + 2 :]
    yield plain(" " * SYSTEM_WIDTH + middle).stylize_before(MUTED)
    if has_order(report):
        yield plain(" " * SYSTEM_WIDTH + LOOKS).stylize_before(MUTED)


def _bar(system: SystemReport, scale: int) -> Content:
    value, interval = system.precision.value, system.interval
    if value is None or interval is None:
        return plain("nothing judged yet").stylize_before(MUTED)
    return interval_bar(value, interval, system.live or interval, scale)


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
