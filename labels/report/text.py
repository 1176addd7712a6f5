"""A report as text for a terminal. Names come from files, so control characters are removed from them."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from engine.wording import GAP, cells, counted, cut, padded
from labels.report.first_lines import first_lines, next_step
from labels.report.sections import limits, sections, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from labels.measure.report import Report
    from labels.report.first_lines import Step
    from labels.report.section import ReportSection, ReportTable

WIDTH = 80
MIN_NAME = 8
NO_BREAK = "\N{NO-BREAK SPACE}"


def report_text(report: Report, width: int = WIDTH, *, is_full: bool = False) -> str:
    """The first lines and the next step, in lines of at most *width* cells; with *is_full* every section between them.

    A line is longer only if a number needs more.
    """
    parts = [first_part(first_lines(report), width)]
    if is_full:
        parts += [wrapped([summary(report)], width), *(section_text(section, width) for section in sections(report))]
    elif report.systems:
        parts.append(wrapped([more_line(report)], width))
    return "\n\n".join([*parts, step_lines(next_step(report), width)]) + "\n"


def more_line(report: Report) -> str:
    number = sum(len(limit.lines) for limit in limits(report))
    noted = f", and {counted(number, 'limit')} of these numbers" if number else ""
    return f"More{noted}: memsift report --full."


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


def first_part(lines: Iterable[str], width: int) -> str:
    return wrapped(lines, width, "  ")


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


def one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """*text* without control characters, which could command a terminal."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "�" for char in text)
