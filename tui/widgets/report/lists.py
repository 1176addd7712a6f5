"""The lists of Report: the parts of a report, and the rows of a part's table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.report.section import ReportTable
from labels.report.text import laid_out
from tui.plain import aligned, cells, one_line
from tui.widgets.lists.rows import RecordList
from tui.widgets.signs import signs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.widgets.lists.rows import Cell
    from tui.workspace.report.rows import Behind, ReportPart


class PartList(RecordList["ReportPart"]):
    """A row for each part, by the beginning of its title."""

    NOUN = "part"

    def id_of(self, record: ReportPart) -> str:
        return record.section.name

    def row_cells(self, index: int, width: int) -> list[Cell]:
        return [(f" {cells(short_title(self.records[index]), width - 1)}", "")]


def short_title(part: ReportPart) -> str:
    return part.section.title.split(":")[0]


@dataclass(frozen=True)
class TableRow:
    """A row of a table: its line, all its cells with the names of their columns, and what it counts."""

    number: int
    line: str
    whole: str
    behind: Behind | None


class TableRows(RecordList[TableRow]):
    """The rows of a part's table. Rows that can be opened have a sign at the end."""

    def id_of(self, record: TableRow) -> str:
        return str(record.number)

    def row_cells(self, index: int, width: int) -> list[Cell]:
        row = self.records[index]
        opens = signs(self).opens
        can_open = row.behind is not None and bool(row.behind.prompts or row.behind.memory)
        return [(aligned(f" {row.line}", width - len(opens)), ""), (opens if can_open else " " * len(opens), "muted")]


def table_rows(table: ReportTable, behind: Sequence[Behind], width: int) -> tuple[list[str], list[TableRow]]:
    """The lines of the head, and the rows, for lines of *width* cells.

    Columns that have no room are left out, the last ones first. The whole of a row stands in `whole` then.
    """
    head, body, shown = _fitted(table, width)
    rows = []
    for number, (line, row) in enumerate(zip(body, table.rows, strict=True)):
        is_whole = shown == len(table.head) and all(one_line(cell) in line for cell in row[: table.names])
        own = behind[number] if number < len(behind) else None
        rows.append(TableRow(number, line, "" if is_whole else whole_row(table, number), own))
    return head, rows


def _fitted(table: ReportTable, width: int) -> tuple[list[str], list[str], int]:
    """The head and the body of the first columns that fit, and their number."""
    least = min(table.names + 1, len(table.head))
    for count in range(len(table.head), least - 1, -1):
        part = ReportTable(table.head[:count], tuple(row[:count] for row in table.rows), table.names, table.is_whole)
        head, body = laid_out(part, width)
        if head and len(body) == len(table.rows):
            return head, body, count
    names = [" ".join(filter(None, row[: table.names])) for row in table.rows]
    return [], [cells(name, width).rstrip() for name in names], table.names


def whole_row(table: ReportTable, number: int) -> str:
    """Every cell of a row, with the name of its column. A row without a name of its own has that of the row above."""
    cells_of = (_name(table, number), *table.rows[number][1:])
    named = [" ".join((*head.split(), cell)) for head, cell in zip(table.head, cells_of, strict=True) if cell]
    return " · ".join(named)


def _name(table: ReportTable, number: int) -> str:
    return next(filter(None, (table.rows[place][0] for place in range(number, -1, -1))), "")
