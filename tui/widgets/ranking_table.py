"""One prompt through the systems side by side: each memory on one row, so that a difference is read across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.search.marks import Marker
from tui.plain import cells
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import MemorySummary
    from engine.retrieval import Candidate
    from tui.widgets.row_list import Cell

SIGNS = {"relevant": ("+", "good"), "not": ("−", "bad"), "unsure": ("?", "match"), "unrateable": ("!", "muted")}
SIGN_WIDTH = 3
WIDE = 84
FIRST_WIDTH, FIRST_NARROW = 20, 11
SECOND_WIDTH, SECOND_NARROW = 20, 11


@dataclass(frozen=True)
class Row:
    """A memory in two systems: None where one did not find it. `has_second`: whether the second has answered.

    `verdict` is the person's label. One of the two found it.
    """

    memory: MemorySummary
    first: Candidate | None
    second: Candidate | None
    has_second: bool
    verdict: str = ""

    @property
    def rank(self) -> int:
        """The better known of its ranks, from 1."""
        found = self.first or self.second
        return found.rank if found else 0

    @property
    def is_injected(self) -> bool:
        return any(one.injected for one in (self.first, self.second) if one)


class RankingTable(RowList):
    """Rows in the first system's order. `note` stands in the second's column until there is an answer."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.rows: Sequence[Row] = ()
        self._marker = Marker()
        self._note = ""

    def show(self, rows: Sequence[Row], marker: Marker, note: str) -> None:
        """Show these; the cursor stays on its memory if that is among them."""
        current = self.current
        self.rows, self._marker, self._note = rows, marker, note
        places = {row.memory.id: i for i, row in enumerate(rows)}
        self.set_count(len(rows), places.get(current.memory.id, 0) if current else 0)

    @property
    def current(self) -> Row | None:
        return self.rows[self.cursor] if self.rows else None

    def row_cells(self, index: int, width: int) -> list[Cell]:
        row = self.rows[index]
        first_width, second_width = column_widths(width)
        sign, tone = SIGNS.get(row.verdict, (" ", ""))
        title = cells(row.memory.title, width - SIGN_WIDTH - first_width - second_width - 1)
        second = _cell(row.second, second_width) if row.has_second else (cells(self._note, second_width), "muted")
        return [
            (f" {sign} ", tone),
            *marked_cells(title, self._marker, "" if row.is_injected else "muted"),
            (" ", ""),
            _cell(row.first, first_width),
            second,
        ]


def column_widths(width: int) -> tuple[int, int]:
    """Cells of the first and of the second system's column in a table of *width*."""
    return (FIRST_WIDTH, SECOND_WIDTH) if width >= WIDE else (FIRST_NARROW, SECOND_NARROW)


def head_text(width: int, names: tuple[str, str]) -> str:
    """The heads of the columns: *names* of the systems, the second's without the first's where it goes on from it."""
    first_width, second_width = column_widths(width)
    first, second = names
    second = second if width >= WIDE else second.removeprefix(first)
    title = cells("Memory", width - SIGN_WIDTH - first_width - second_width)
    return title + cells(first, first_width) + cells(second, second_width)


def marked_cells(text: str, marker: Marker, tone: str) -> list[Cell]:
    """*text* as cells, matches as cells of their own."""
    pieces: list[Cell] = []
    position = 0
    for start, end in marker.places(text):
        pieces += [(text[position:start], tone), (text[start:end], "match")]
        position = end
    return [*pieces, (text[position:], tone)]


def _cell(candidate: Candidate | None, width: int) -> Cell:
    """What one system did with a memory: place, score and confidence, or the stage that dropped it."""
    if candidate is None:
        return cells("", width), "muted"
    is_wide = width >= FIRST_WIDTH
    if candidate.verdict:
        return _judged_cell(candidate, width)
    score = f"{-candidate.score:5.2f}"
    if not candidate.injected:
        text = f"· {candidate.dropped_by:<6}  {score}" if is_wide else f"· {candidate.dropped_by}"
        return cells(text, width), "muted"
    text = f"✓ {candidate.rank:<2} {score}  {candidate.confidence}" if is_wide else f"✓{candidate.rank} {score}"
    return cells(text, width), "good"


def _judged_cell(candidate: Candidate, width: int) -> Cell:
    if candidate.injected:
        kept = candidate.verdict is not None and candidate.verdict.decision == "approved"
        return cells("✓ kept" if kept else "✓ fallback", width), "good"
    if candidate.dropped_by == "judge":
        return cells("✗ judge", width), "bad"
    return cells(f"· {candidate.dropped_by}", width), "muted"
