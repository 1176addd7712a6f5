"""The lists of Report: the parts of a report, and the rows of a part's table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from labels.report.section import ReportRow, ReportTable
from labels.report.sections import group_of
from labels.report.text import laid_out
from tui.plain import aligned, cells, one_line
from tui.widgets.lists.rows import RecordList
from tui.widgets.report.text import MIN_SCALE, bar_cells
from tui.widgets.signs import signs

if TYPE_CHECKING:
    from labels.report.section import CountedPrompts, ReportSection
    from tui.widgets.lists.rows import Cell


GROUP_WIDTH, BAR_GAP, MAX_SCALE = 8, 3, 60
"""Cells of the name of a group, of the space around a bar, and of a bar at most."""


class PartList(RecordList["ReportSection"]):
    """A row for each part, by the beginning of its title. The first of a group is behind the name of the group."""

    NOUN = "part"

    def id_of(self, record: ReportSection) -> str:
        return record.name

    def row_cells(self, index: int, width: int) -> list[Cell]:
        groups = [group_of(part) for part in self.records[max(0, index - 1) : index + 1]]
        group = "" if index and groups[0] == groups[1] else groups[-1]
        title = self.records[index].title.split(":")[0]
        return [(f" {cells(group, GROUP_WIDTH)}", "muted"), (cells(title, width - 1 - GROUP_WIDTH), "")]


@dataclass(frozen=True)
class TableRow:
    """A row of a table on the screen: its line, and if that is cut all its cells with the names of their columns."""

    number: int
    line: str
    whole: str
    row: ReportRow

    @property
    def counted(self) -> CountedPrompts | None:
        """What the row counts; None for nothing that can be opened."""
        own = self.row.counted
        return own if own and (own.memory or own.prompts) else None


class TableRows(RecordList[TableRow]):
    """The rows of a part's table, with bars where there is room. Rows that can be opened have a sign at the end."""

    def id_of(self, record: TableRow) -> str:
        return str(record.number)

    def row_cells(self, index: int, width: int) -> list[Cell]:
        row = self.records[index]
        opens = signs(self).opens
        end = (opens if row.counted else " " * len(opens), "muted")
        room = width - len(opens)
        used = 1 + max(cell_len(other.line) for other in self.records) + BAR_GAP
        scale = min(MAX_SCALE, room - used - BAR_GAP)
        if signs(self).in_words or row.row.range is None or scale < MIN_SCALE:
            return [(aligned(f" {row.line}", room), ""), end]
        bar = [(aligned(f" {row.line}", used), ""), *bar_cells(row.row.range, scale)]
        return [*bar, (" " * (room - used - scale), ""), end]


def table_rows(table: ReportTable, width: int, *, has_bars: bool = True) -> tuple[list[str], list[TableRow]]:
    """The lines of the head, and the rows, for lines of *width* cells, with bars for ranges if it *has_bars*.

    Columns that have no room beside a short bar are left out, the last ones first. The whole of a row stands in `whole`
    then.
    """
    bar = BAR_GAP + MIN_SCALE + BAR_GAP if has_bars and any(row.range for row in table.rows) else 0
    least = min(table.names + 1, len(table.head))
    head, body, shown = _fit(table, width - bar, least, least if bar else least + 2)
    rows, name = [], ""
    for number, (line, row) in enumerate(zip(body, table.rows, strict=True)):
        first, *others = row.cells
        name = first or name  # a row without a name of its own has that of the row above
        is_whole = shown == len(table.head) and all(one_line(cell) in line for cell in row.cells[: table.names])
        named = zip(table.head, (name, *others), strict=True)
        whole = " · ".join(" ".join((*column.split(), cell)) for column, cell in named if cell)
        rows.append(TableRow(number, line, "" if is_whole else whole, row))
    return head, rows


def _fit(table: ReportTable, width: int, least: int, uncut: int) -> tuple[list[str], list[str], int]:
    """The head and body of the first columns that fit, at *least* so many, and their number.

    Columns are left out before a name is cut, down to *uncut* ones.
    """
    for is_whole, fewest in ((True, uncut), (table.is_whole, least)):
        for count in range(len(table.head), fewest - 1, -1):
            rows = tuple(ReportRow(row.cells[:count]) for row in table.rows)
            head, body = laid_out(ReportTable(table.head[:count], rows, table.names, is_whole), width)
            if head and len(body) == len(table.rows):
                return head, body, count
    names = [" ".join(filter(None, row[: table.names])) for row in table.texts]
    return [], [cells(name, width).rstrip() for name in names], table.names
