"""Which charts stand in which part of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.charts.confusion import confusion_chart
from labels.report.charts.coverage import FIRES, RECALL, coverage_chart
from labels.report.charts.history import history_chart
from labels.report.charts.precision import precision_chart
from labels.report.charts.reliability import reliability_chart
from labels.report.charts.worst import worst_chart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.report import Report


def figures(section: str, report: Report) -> Iterator[str]:
    """The charts of the part of that name; of most parts none."""
    if section == "precision" and report.labelled_prompts:
        yield precision_chart(report.systems)
    elif section == "coverage":
        yield from coverage_charts(report)
    elif section == "history":
        yield from history_charts(report)
    elif section == "reliability":
        yield from reliability_charts(report)
    elif section == "worst-memories":
        yield worst_chart(section, "Worst memories: irrelevant and relevant injections", report.worst_memories)
    elif section == "worst-prompts":
        yield worst_chart(section, "Worst prompts: irrelevant and relevant memories", report.worst_prompts)
    elif section.startswith("judge-"):
        yield from confusion_charts(section.removeprefix("judge-"), report)


def coverage_charts(report: Report) -> Iterator[str]:
    numbers = {one.system: number for number, one in enumerate(report.systems)}
    found = {one.system: one.curves.coverage for one in report.systems if one.curves and one.curves.coverage}
    for against in (RECALL, FIRES):
        yield coverage_chart(found, against, numbers)


def history_charts(report: Report) -> Iterator[str]:
    for number, one in enumerate(report.systems):
        if one.curves and one.curves.history:
            yield history_chart(one.system, one.curves.history, number)


def reliability_charts(report: Report) -> Iterator[str]:
    for number, one in enumerate(report.systems):
        if one.curves and one.curves.reliability:
            yield reliability_chart(one.system, one.curves.reliability, number)


def confusion_charts(system: str, report: Report) -> Iterator[str]:
    for number, one in enumerate(report.systems):
        if one.system == system and one.agreement:
            yield confusion_chart(system, one.agreement.confusion, number)
