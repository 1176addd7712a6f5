"""How many memories each category, status and finding has, side by side, with the keys that narrow the list to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from tui.key_names import keyed
from tui.plain import cells, plain
from tui.widgets.memory_pane import HEADING, MUTED, category_name
from tui.workspace.curate.memory_facts import ANY, EVERYTHING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping

    from tui.workspace.curate.memory_facts import Narrowing

HEADS = {
    "category": "Category · {browse.category}",
    "status": "Status · {browse.status}",
    "check": "Finding · {browse.finding}",
}
GAP = 3
"""Cells between two columns."""


class MemoryOverview(Widget):
    """A column for each part of a narrowing. The value that holds has a sign."""

    DEFAULT_CSS = "MemoryOverview { padding: 0 1; }"

    def __init__(self) -> None:
        super().__init__(id="overview", classes="pane")
        self._counts: Mapping[str, Counter[str]] = {}
        self._narrowing = EVERYTHING

    def show(self, counts: Mapping[str, Counter[str]], narrowing: Narrowing) -> None:
        """Show the *counts* of the values of each part."""
        self._counts, self._narrowing = counts, narrowing
        self.refresh()

    def render(self) -> Content:
        if not self._counts:
            return Content("")
        size = self.size.width // len(HEADS)
        columns = [self._column(part, size) for part in HEADS]
        rows = range(max(map(len, columns)))
        blank = Content(" " * size)
        lines = [[column[row] if row < len(column) else blank for column in columns] for row in rows]
        return Content("\n").join(Content("").join(line) for line in lines)

    def _column(self, part: str, size: int) -> list[Content]:
        """The name of a part, its most frequent values, and in the last line the number of the others."""
        counts, chosen, rows = self._counts[part], getattr(self._narrowing, part), self.size.height - 1
        values = sorted(counts, key=lambda value: (value != ANY, -counts[value], value))
        shown = values if len(values) <= rows else values[: rows - 1]
        lines = [_line(_name(value), f"{counts[value]:,}", size, is_chosen=value == chosen) for value in shown]
        if others := values[len(shown) :]:
            lines.append(_line(f"{len(others):,} others", "", size, is_chosen=False))
        head = plain(cells(keyed(self.app, HEADS[part]), size)).stylize_before(HEADING)
        return [head, *(lines or [plain(cells("none", size)).stylize_before(MUTED)])]


def _name(value: str) -> str:
    return "any" if value == ANY else category_name(value)


def _line(name: str, count: str, size: int, *, is_chosen: bool) -> Content:
    width = max(0, size - GAP - len(count) - 2)
    line = plain(f"{'▸' if is_chosen else ' '} {cells(name, width)}{count}{' ' * GAP}")
    return line.stylize_before("bold $text-warning" if is_chosen else MUTED)
