"""Lists that draw only the rows in view, so that a hundred thousand rows are as quick as twenty."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from tui.plain import Marks

T = TypeVar("T")

BETWEEN_COLUMNS = re.compile(r"\s{2,}")
COPIED = 400
"""Cells of a row that is copied."""

Cell = tuple[str, str]
"""A piece of a row: its text in its final width, and its tone: "muted", "match", "warned", "good", "bad", or ""."""


class RowList(ScrollView, Generic[T], can_focus=True, inherit_bindings=False):
    """Rows that are records, with a cursor. A subclass gives the id of a record and the cells of its row."""

    COMPONENT_CLASSES = {f"row-list--{name}" for name in ("cursor", "muted", "match", "warned", "good", "bad")}
    BINDINGS = [
        Binding("down,j", "cursor(1)", "Down", show=False),
        Binding("up,k", "cursor(-1)", "Up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
        Binding("home,g", "first", "First", show=False),
        Binding("end,G", "last", "Last", show=False),
        Binding("enter", "select", "Open", show=False),
    ]
    NOUN = "row"
    """The name of a row for a screen reader."""

    records: Sequence[T] = ()
    cursor: reactive[int] = reactive(0, repaint=False)

    @dataclass
    class Highlighted(Message):
        """The cursor went to another row, or the list was filled again."""

        row_list: RowList[Any]
        index: int

        @property
        def control(self) -> RowList[Any]:
            return self.row_list

    class Selected(Highlighted):
        """Enter was pressed on a row, or the row was clicked twice."""

    # For subclasses

    def id_of(self, record: T) -> str:
        raise NotImplementedError

    def row_cells(self, index: int, width: int) -> list[Cell]:
        """The pieces of a row from left to right, together *width* cells wide."""
        raise NotImplementedError

    # The records

    def show(self, records: Sequence[T], *, is_near: bool = False) -> None:
        """Fill the list. The cursor stays on its record; if that is not there any more, it goes to the first one.

        *is_near*: it goes to the next record that is still there, or else to the one before.
        """
        places = {self.id_of(record): i for i, record in enumerate(records)} if self.current else {}
        before, cursor = self.records, self.cursor
        around = [*before[cursor:], *reversed(before[:cursor])] if is_near else before[cursor : cursor + 1]
        ids = (self.id_of(record) for record in around)
        self.records = records
        self.virtual_size = Size(self.row_width, self.count)
        self.set_reactive(RowList.cursor, next((places[record_id] for record_id in ids if record_id in places), 0))
        self.refresh()
        self._show_cursor()
        if records:
            self._tell_highlighted()

    @property
    def count(self) -> int:
        return len(self.records)

    @property
    def current(self) -> T | None:
        """The record under the cursor; None in an empty list."""
        return self.records[self.cursor] if self.records else None

    def go_to(self, record_id: str) -> None:
        """Move the cursor to a record, if the list has it."""
        self.cursor = next((i for i, record in enumerate(self.records) if self.id_of(record) == record_id), self.cursor)

    # Drawing

    @property
    def row_width(self) -> int:
        """Cells of a row: the widget without its scrollbar."""
        return self.scrollable_content_region.width

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        width = self.row_width
        if index >= self.count:
            return Strip.blank(width, Style(bgcolor=self.rich_style.bgcolor))  # as the gap beside it: one rectangle
        on_cursor = index == self.cursor
        base = self.get_component_rich_style("row-list--cursor") if on_cursor else self.rich_style
        cells = self.row_cells(index, width)
        cells = [part for cell in cells for part in _without_gap(cell)] if on_cursor else cells
        styles = [(text, self._style(name, base, on_cursor)) for text, name in cells]
        strip = Strip([Segment(text, style) for text, style in styles])
        return strip.adjust_cell_length(width, base).apply_style(Style(meta={"row": index}))

    def _style(self, name: str, base: Style, on_cursor: bool) -> Style:
        if not name:
            return base
        if on_cursor and self.has_focus:
            return base + Style(underline=True) if name == "match" else base  # the marks stay on the cursor's colours
        if on_cursor and name == "muted":
            return base  # too pale on the cursor's ground
        part = self.get_component_rich_style(f"row-list--{name}")
        return base + Style(color=part.color, bold=part.bold, underline=part.underline)

    def on_resize(self) -> None:
        self.virtual_size = Size(self.row_width, self.count)
        self._show_cursor()

    def row_text(self) -> str:
        """The row under the cursor, to be copied."""
        pieces = self.row_cells(self.cursor, COPIED) if self.count else ()
        return " ".join("".join(text for text, _ in pieces).split())

    def said(self) -> str:
        """The row under the cursor for a screen reader: its pieces, with commas between columns."""
        pieces = self.row_cells(self.cursor, COPIED) if self.count else ()
        return BETWEEN_COLUMNS.sub(", ", "".join(text for text, _ in pieces).strip())

    # The cursor

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, self.count - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        for row in (old, new):
            self.refresh(Region(0, row - self.scroll_offset.y, self.size.width, 1))
        self._show_cursor()
        if old != new:
            self._tell_highlighted()

    def _tell_highlighted(self) -> None:
        """Tell every widget around, also if one of them moves the cursor: Textual tells none around the sender."""
        self.post_message(self.Highlighted(self, self.cursor).set_sender(self))

    def _show_cursor(self) -> None:
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, x_axis=False, force=True)

    def action_cursor(self, step: int) -> None:
        self.cursor += step

    def action_page(self, pages: float) -> None:
        self.cursor += round(pages * max(2, self.scrollable_content_region.height))

    def action_first(self) -> None:
        self.cursor = 0

    def action_last(self) -> None:
        self.cursor = self.count - 1

    def action_select(self) -> None:
        if self.count:
            self.post_message(self.Selected(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        row = event.style.meta.get("row")
        if row is None:
            return
        self.cursor = row
        if event.chain == 2:
            self.post_message(self.Selected(self, row))


def _without_gap(cell: Cell) -> list[Cell]:
    """A piece of a row; of a marked one, the spaces behind it apart, so that no line stands under them."""
    text, name = cell
    end = len(text.rstrip(" ")) if name == "match" else len(text)
    return [(text[:end], name), *([(text[end:], "")] if end < len(text) else [])]


def marked_cells(text: str, marker: Marks, tone: str) -> list[Cell]:
    """*text* in pieces; each match is a piece of its own."""
    row: list[Cell] = []
    position = 0
    for start, end in marker.places(text):
        row += [(text[position:start], tone), (text[start:end], "match")]
        position = end
    return [*row, (text[position:], tone)]
