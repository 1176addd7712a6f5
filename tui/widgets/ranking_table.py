"""One prompt through the systems side by side: each memory on one row, so that a difference is read across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.search.marks import marks
from tui.plain import cells
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import MemorySummary
    from engine.retrieval import Candidate
    from engine.search.query import Term
    from tui.widgets.row_list import Cell

SIGNS = {"relevant": ("+", "good"), "not": ("−", "bad"), "unsure": ("?", "match"), "unrateable": ("!", "muted")}
SIGN_WIDTH = 3
WIDE = 84
BM25_WIDTH, BM25_NARROW = 20, 11
JUDGE_WIDTH, JUDGE_NARROW = 16, 9


@dataclass(frozen=True)
class Row:
    """A memory in the systems that brought it up. `judged` is None where the judge's system has no answer yet."""

    memory: MemorySummary
    bm25: Candidate
    judged: Candidate | None
    verdict: str = ""


class RankingTable(RowList):
    """Rows in BM25 order. `judge_note` stands in the judge's column until there is an answer."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.rows: Sequence[Row] = ()
        self._terms: tuple[Term, ...] = ()
        self._judge_note = ""

    def show(self, rows: Sequence[Row], terms: tuple[Term, ...], judge_note: str) -> None:
        """Show these; the cursor stays on its memory if that is among them."""
        current = self.current
        self.rows, self._terms, self._judge_note = rows, terms, judge_note
        places = {row.memory.id: i for i, row in enumerate(rows)}
        self.set_count(len(rows), places.get(current.memory.id, 0) if current else 0)

    @property
    def current(self) -> Row | None:
        return self.rows[self.cursor] if self.rows else None

    def row_cells(self, index: int, width: int) -> list[Cell]:
        row = self.rows[index]
        bm25_width, judge_width = column_widths(width)
        sign, tone = SIGNS.get(row.verdict, (" ", ""))
        title = cells(row.memory.title, width - SIGN_WIDTH - bm25_width - judge_width - 1)
        plain_tone = "" if row.bm25.injected or (row.judged and row.judged.injected) else "muted"
        return [
            (f" {sign} ", tone),
            *marked_cells(title, self._terms, plain_tone),
            (" ", ""),
            _bm25_cell(row.bm25, bm25_width),
            _judge_cell(row.judged, self._judge_note, judge_width),
        ]


def column_widths(width: int) -> tuple[int, int]:
    """Cells of the BM25 and of the judge's column in a table of *width*."""
    return (BM25_WIDTH, JUDGE_WIDTH) if width >= WIDE else (BM25_NARROW, JUDGE_NARROW)


def head_text(width: int) -> str:
    """The heads of the columns."""
    bm25_width, judge_width = column_widths(width)
    names = ("BM25", "BM25 + judge") if width >= WIDE else ("BM25", "+judge")
    title = cells("Memory", width - SIGN_WIDTH - bm25_width - judge_width)
    return title + cells(names[0], bm25_width) + cells(names[1], judge_width)


def marked_cells(text: str, terms: tuple[Term, ...], tone: str) -> list[Cell]:
    """*text* as cells, matches of *terms* as cells of their own."""
    pieces: list[Cell] = []
    position = 0
    for start, end in marks(text, terms):
        pieces += [(text[position:start], tone), (text[start:end], "match")]
        position = end
    return [*pieces, (text[position:], tone)]


def _bm25_cell(candidate: Candidate, width: int) -> Cell:
    score = f"{-candidate.score:5.2f}"
    if not candidate.injected:
        text = f"· {candidate.dropped_by:<6}  {score}" if width >= BM25_WIDTH else f"· {candidate.dropped_by}"
        return cells(text, width), "muted"
    place = f"✓ {candidate.rank:<2} {score}"
    return cells(
        f"{place}  {candidate.confidence}" if width >= BM25_WIDTH else f"✓{candidate.rank} {score}", width
    ), "good"


def _judge_cell(candidate: Candidate | None, note: str, width: int) -> Cell:
    if candidate is None:
        return cells(note, width), "muted"
    if candidate.injected:
        kept = candidate.verdict is not None and candidate.verdict.decision == "approved"
        instead = "✓ fallback" if width >= JUDGE_WIDTH else "✓ BM25"
        return cells("✓ kept" if kept else instead, width), "good"
    if candidate.dropped_by == "judge":
        return cells("✗ judge", width), "bad"
    return cells(f"· {candidate.dropped_by}", width), "muted"
