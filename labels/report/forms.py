"""A report as text for a terminal, as Markdown, as JSON and as a page: the same content in each form."""

from __future__ import annotations

from dataclasses import fields
from html import escape
from string import Template
from textwrap import fill
from typing import TYPE_CHECKING, Any

from engine.lean.json_text import printed_json
from engine.lean.sections import text_beside
from engine.wording import GAP, cells, counted, cut, padded
from labels.measure.evidence import Evidence
from labels.measure.metrics import Ratio
from labels.measure.report import Captions
from labels.report.charts import charts_of
from labels.report.first_lines import first_lines, next_step
from labels.report.notes import notes
from labels.report.section import one_line, printable
from labels.report.sections import sections, summary
from labels.report.svg_charts import drawn, element

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from labels.measure.report import Report
    from labels.report.first_lines import Step
    from labels.report.section import ReportSection, ReportTable

SPECIAL = frozenset("\\`*_[]<>|#~&")
"""Characters that Markdown does not show as they are."""

WIDTH = 80
MIN_NAME = 8
NO_BREAK = "\N{NO-BREAK SPACE}"


def report_in(form: str, report: Report, width: int = WIDTH, *, is_full: bool = True) -> str:
    """*report* as "text", "json", "markdown" or "html". *width* and *is_full* are for text, which is else short."""
    if form == "text":
        return report_text(report, width, is_full=is_full)
    return {"json": report_json, "markdown": report_markdown, "html": report_html}[form](report)


# Text for a terminal. Names come from files, so control characters are removed from them.


def report_text(report: Report, width: int = WIDTH, *, is_full: bool = False) -> str:
    """The first lines and the next step, in lines of at most *width* cells; with *is_full* every section between them.

    A line is longer only if a number needs more.
    """
    parts = [wrapped(first_lines(report), width, "  ")]
    if is_full:
        parts += [wrapped([summary(report)], width), *(section_text(section, width) for section in sections(report))]
    elif report.systems:
        number = len(notes(report))
        noted = f", and {counted(number, 'limit')} of these numbers" if number else ""
        parts.append(wrapped([f"More{noted}: memsift report --full."], width))
    return "\n\n".join([*parts, step_lines(next_step(report), width)]) + "\n"


def wrapped(lines: Iterable[str], width: int, indent: str = "") -> str:
    """*lines* below each other; what does not fit a line is indented by *indent*."""
    parts = (printable(line).replace(" %", f"{NO_BREAK}%") for line in lines)
    text = "\n".join(fill(part, width, subsequent_indent=indent, break_on_hyphens=False) for part in parts)
    return text.replace(NO_BREAK, " ")


def step_lines(step: Step, width: int) -> str:
    """The next step, with its command on a line of its own where both do not fit one line."""
    line = step.in_shell()
    is_one = cells(line) <= width or not step.command
    return wrapped([line] if is_one else [f"Next: {step.what}:", f"  {step.command}"], width)


def section_text(section: ReportSection, width: int) -> str:
    lines = [printable(section.title)]
    if section.about:
        lines.append(fill(printable(section.about), width, break_on_hyphens=False))
    if section.table:
        head, body = laid_out(section.table, width)
        lines += ["", *head, *body]
        lines += [""] if section.lines else []
    lines += [as_item(line, width) for line in section.lines]
    return "\n".join(lines)


def as_item(line: str, width: int) -> str:
    """*line* as an item of a list, wrapped under its beginning."""
    return fill(printable(line), width, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)


def laid_out(table: ReportTable, width: int) -> tuple[list[str], list[str]]:
    """The lines of the head and of the rows, with numbers aligned to the right.

    Names are cut where the table would be wider than *width*, unless it is whole. If it still does not fit, each row
    becomes a block with a line for each number, and there is no head.
    """
    rows = [[one_line(cell) for cell in row] for row in table.texts]
    head = [column.split("\n") for column in table.head]
    widths = [max(cells(cell) for cell in (*lines, *(row[at] for row in rows))) for at, lines in enumerate(head)]
    fitted = fit(widths, 0 if table.is_whole else table.names, width)
    if not fitted:
        return [], list(blocks(table, rows, width))

    def aligned(row: Sequence[str]) -> str:
        shown = (padded(cut(cell, fitted[at]), fitted[at], right=at >= table.names) for at, cell in enumerate(row))
        return GAP.join(shown).rstrip()

    height = max(map(len, head))
    above = [[""] * (height - len(lines)) + lines for lines in head]
    return [aligned(row) for row in zip(*above, strict=True)], [aligned(row) for row in rows]


def fit(widths: Sequence[int], names: int, width: int) -> list[int] | None:
    """Column widths that fit *width* together, the widest of the first *names* cut first; None if it is impossible."""
    fitted = list(widths)
    while sum(fitted) + len(GAP) * (len(fitted) - 1) > width:
        widest = max(range(names), key=lambda at: fitted[at], default=None)
        if widest is None or fitted[widest] <= MIN_NAME:
            return None
        fitted[widest] -= 1
    return fitted


def blocks(table: ReportTable, rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    heads = [" ".join(column.split("\n")) for column in table.head]
    for row in rows:
        yield cut(GAP.join(name for name in row[: table.names] if name), width)
        for head, cell in zip(heads[table.names :], row[table.names :], strict=True):
            yield f"  {head}: {cell}"


# JSON. The names of the fields are an interface: programs read them.


def report_json(report: Report) -> str:
    """Every number of the report; a ratio is {"value", "part", "whole"}, its value null where it is unknown."""
    texts = {"notes": notes(report), "first_lines": first_lines(report), "next": next_step(report).in_shell()}
    return printed_json({**record(report), **texts}, indent=2, default=record) + "\n"


def record(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, in order, without captions and evidence. Nested dataclasses are not converted."""
    if isinstance(value, Ratio):
        return {"value": value.value, "part": value.part, "whole": value.whole}
    named = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: rows(content) for name, content in named.items() if not isinstance(content, (Captions, Evidence))}


def rows(value: Any) -> Any:
    """Named tuples as objects, also those in a tuple; json would write each of them as a list."""
    if hasattr(value, "_asdict"):
        return value._asdict()
    return [rows(item) for item in value] if isinstance(value, tuple) else value


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
    if table := section.table:
        head, *rows = [f"| {' | '.join(map(escaped, row))} |" for row in (table.head, *table.texts)]
        rule = "|".join([" --- "] * table.names + [" ---: "] * (len(table.head) - table.names))
        yield "\n".join([head, f"|{rule}|", *rows])
    if section.lines:
        yield "\n".join(f"- {escaped(line)}" for line in section.lines)


def escaped(text: str) -> str:
    """*text* on one line as Markdown shows it literally, in a table too."""
    return "".join(f"\\{char}" if char in SPECIAL else char for char in one_line(text))


# HTML: one page that loads nothing: no script, no font, no picture


def report_html(report: Report) -> str:
    """The whole page. Texts from files are escaped, and isolated from the text direction around them."""
    links, parts = [], []
    for at, section in enumerate(sections(report)):
        links.append(element("li", element("a", shown(section.title.split(":")[0]), href=f"#part-{at}")))
        parts.append(section_html(section, map(drawn, charts_of(section.name, report)), at))
    template = Template(text_beside(__file__, "page.html"))
    return template.substitute(
        style=text_beside(__file__, "page.css").strip(),
        first_lines="\n".join(element("li", shown(line)) for line in first_lines(report)),
        next=shown(next_step(report).in_shell()),
        summary=shown(summary(report)),
        contents=element("ul", *links) if links else "",
        sections="\n".join(parts),
    )


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
    body = []
    for name, *numbers in table.texts:
        others = (cell("td", text, at, table) for at, text in enumerate(numbers, start=1))
        body.append(element("tr", cell("th", name, 0, table, scope="row"), *others))
    return element("table", element("thead", element("tr", *head)), element("tbody", *body))


def cell(name: str, text: str, at: int, table: ReportTable, **attributes: str) -> str:
    lines = "\n".join(shown(line) for line in text.split("\n")) if name == "th" and at else shown(text)
    kind = {"class_": "name"} if at < table.names else {}
    return element(name, lines or "&nbsp;", **kind, **attributes)


def shown(text: str) -> str:
    """*text*, escaped; its writing direction does not change that of the page."""
    harmless = escape(one_line(text)).replace(" %", "&nbsp;%")
    return harmless if harmless.isascii() else element("bdi", harmless)
