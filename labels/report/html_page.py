"""A report as one HTML page that loads nothing: no script, no font, no picture."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from labels.report.charts import charts_of
from labels.report.first_lines import first_lines, next_step
from labels.report.sections import sections, summary
from labels.report.svg_charts import drawn, element
from labels.report.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labels.measure.report import Report
    from labels.report.section import ReportSection, ReportTable

FOLDER = Path(__file__).parent


def report_html(report: Report) -> str:
    """The whole page. Texts from files are escaped, and isolated from the text direction around them."""
    parts = sections(report)
    template = Template((FOLDER / "page.html").read_text(encoding="utf-8"))
    return template.substitute(
        style=(FOLDER / "page.css").read_text(encoding="utf-8").strip(),
        first_lines="\n".join(element("li", shown(line)) for line in first_lines(report)),
        next=shown(next_step(report).in_shell()),
        summary=shown(summary(report)),
        contents=contents(parts),
        sections="\n".join(
            section_html(section, map(drawn, charts_of(section.name, report)), at) for at, section in enumerate(parts)
        ),
    )


def contents(parts: Sequence[ReportSection]) -> str:
    links = (
        element("li", element("a", shown(section.title.split(":")[0]), href=f"#part-{at}"))
        for at, section in enumerate(parts)
    )
    return element("ul", *links) if parts else ""


def section_html(section: ReportSection, charts: Iterable[str], number: int) -> str:
    parts = [element("h2", shown(section.title), id=f"part-{number}")]
    if section.about:
        parts.append(element("p", shown(section.about), class_="about"))
    shapes = [element("figure", chart) for chart in charts]
    if section.table:
        shapes.append(element("div", table_html(section.table), class_="table", tabindex=0))
    if shapes:
        parts.append(element("div", *shapes, class_="part"))
    if section.lines:
        parts.append(element("ul", *(element("li", shown(line)) for line in section.lines)))
    return element("section", "\n", "\n".join(parts), "\n", aria_labelledby=f"part-{number}")


def table_html(table: ReportTable) -> str:
    head = (cell("th", column, at, table, scope="col") for at, column in enumerate(table.head))
    body = (
        element(
            "tr",
            cell("th", row[0], 0, table, scope="row"),
            *(cell("td", row[at], at, table) for at in range(1, len(row))),
        )
        for row in table.rows
    )
    return element("table", element("thead", element("tr", *head)), element("tbody", *body))


def cell(name: str, text: str, at: int, table: ReportTable, **attributes: str) -> str:
    lines = "\n".join(shown(line) for line in text.split("\n")) if name == "th" and at else shown(text)
    kind = {"class_": "name"} if at < table.names else {}
    return element(name, lines or "&nbsp;", **kind, **attributes)


def shown(text: str) -> str:
    """*text*, escaped; its writing direction does not change that of the page."""
    harmless = escape(one_line(text)).replace(" %", "&nbsp;%")
    return harmless if harmless.isascii() else element("bdi", harmless)
