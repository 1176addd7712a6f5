"""A report as Markdown. Names come from files and are shown literally."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.first_lines import first_lines, next_step
from labels.report.sections import sections, summary
from labels.report.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.report import Report
    from labels.report.section import ReportSection, ReportTable

SPECIAL = frozenset("\\`*_[]<>|#~&")


def report_markdown(report: Report) -> str:
    """The report as Markdown, with a table in each section."""
    lines = "\n".join(f"- {escaped(line)}" for line in first_lines(report))
    parts = ["# memsift report", lines, escaped(summary(report))]
    for section in sections(report):
        parts += section_parts(section)
    parts.append(escaped(next_step(report).in_shell()))
    return "\n\n".join(parts) + "\n"


def section_parts(section: ReportSection) -> Iterator[str]:
    yield f"## {escaped(section.title)}"
    if section.about:
        yield escaped(section.about)
    if section.table:
        yield "\n".join(table_lines(section.table))
    if section.lines:
        yield "\n".join(f"- {escaped(line)}" for line in section.lines)


def table_lines(table: ReportTable) -> Iterator[str]:
    for row in (table.head, *table.rows):
        yield f"| {' | '.join(map(escaped, row))} |"
        if row is table.head:
            yield f"|{'|'.join([' --- '] * table.names + [' ---: '] * (len(row) - table.names))}|"


def escaped(text: str) -> str:
    """*text* on one line as Markdown shows it literally, in a table too."""
    return "".join(f"\\{char}" if char in SPECIAL else char for char in one_line(text))
