"""A report as text for a terminal, as Markdown, as JSON and as a page: the same content in each form."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from engine.lean.json_text import printed_json
from labels.measure.evidence import Evidence
from labels.measure.metrics import Ratio
from labels.measure.report import Captions
from labels.report.first_lines import first_lines, next_step
from labels.report.html_page import report_html
from labels.report.notes import notes
from labels.report.sections import sections, summary
from labels.report.text import WIDTH, one_line, report_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.report import Report
    from labels.report.section import ReportSection, ReportTable

SPECIAL = frozenset("\\`*_[]<>|#~&")
"""Characters that Markdown does not show as they are."""


def report_in(form: str, report: Report, width: int = WIDTH, *, is_full: bool = True) -> str:
    """*report* as "text", "json", "markdown" or "html". *width* and *is_full* are for text, which is else short."""
    if form == "text":
        return report_text(report, width, is_full=is_full)
    return {"json": report_json, "markdown": report_markdown, "html": report_html}[form](report)


# JSON. The names of the fields are an interface: programs read them.


def report_json(report: Report) -> str:
    """Every number of the report; a ratio is {"value", "part", "whole"}, its value null where it is unknown.

    Where prompts or memories are weighted, the value is the estimate and not part / whole.
    """
    texts = {"notes": notes(report), "first_lines": first_lines(report), "next": next_step(report).in_shell()}
    return printed_json({**record(report), **texts}, indent=2, default=record) + "\n"


def record(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, in order, without captions and evidence. Nested dataclasses are not converted."""
    if isinstance(value, Ratio):
        return {"value": value.value, "part": value.part, "whole": value.whole}
    named = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: rows(content) for name, content in named.items() if not isinstance(content, (Captions, Evidence))}


def rows(value: Any) -> Any:
    """A tuple of named tuples as a list of objects; json would write each of them as a list."""
    if not isinstance(value, tuple):
        return value
    return [item._asdict() if hasattr(item, "_asdict") else item for item in value]


# Markdown. Names come from files and are shown literally.


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
