"""One prompt through two systems side by side: a row for each memory, so that a difference is read across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Static

from engine.search.highlight import Marker
from tui.plain import cells, plain
from tui.widgets.label_text import SIGNS
from tui.widgets.row_list import RecordList, marked_cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.app import ComposeResult

    from engine.memory import MemorySummary
    from engine.retrieval import Candidate, Retrieval
    from labels.records import Label, Pair
    from tui.widgets.row_list import Cell

SIGN_WIDTH = 3
WIDE = 84
"""Cells of a table from which on a system's column has SYSTEM_WIDE cells, not SYSTEM_NARROW."""

SYSTEM_WIDE, SYSTEM_NARROW = 20, 11


@dataclass(frozen=True)
class Row:
    """A memory in two systems; a candidate is None where its system did not find the memory, but one of them is there.

    `has_second`: whether the second system has answered. `verdict`: the person's label, or "".
    """

    memory: MemorySummary
    first: Candidate | None
    second: Candidate | None
    has_second: bool
    verdict: str = ""

    @property
    def rank(self) -> int:
        """From 1: the first system's rank, or else the second's."""
        found = self.first or self.second
        return found.rank if found else 0

    @property
    def is_injected(self) -> bool:
        return any(one.injected for one in (self.first, self.second) if one)


def ranking_rows(first: Retrieval, second: Retrieval | None, labels: Mapping[Pair, Label]) -> list[Row]:
    """The candidates of *first* in its order, then the other candidates of *second*, with this person's labels."""
    of_first = {one.memory.id: one for one in first.candidates}
    of_second = {one.memory.id: one for one in second.candidates} if second else {}
    memories = {one.memory.id: one.memory for one in (*of_first.values(), *of_second.values())}
    verdicts = {pair: label.verdict for pair, label in labels.items()}
    return [
        Row(memory, of_first.get(key), of_second.get(key), second is not None, verdicts.get((key, memory.digest), ""))
        for key, memory in memories.items()
    ]


class RankingTable(RecordList[Row]):
    """Rows with the matches of `marker` marked. `note` fills the second column until the second system answers."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.marker = Marker()
        self.note = ""

    def id_of(self, record: Row) -> str:
        return record.memory.id

    def row_cells(self, index: int, width: int) -> list[Cell]:
        row = self.records[index]
        size = system_width(width)
        sign, tone = SIGNS.get(row.verdict, (" ", ""))
        title = cells(row.memory.title, width - SIGN_WIDTH - 2 * size - 1)
        second = _system_cell(row.second, size) if row.has_second else (cells(self.note, size), "muted")
        return [
            (f" {sign} ", tone),
            *marked_cells(title, self.marker, "" if row.is_injected else "muted"),
            (" ", ""),
            _system_cell(row.first, size),
            second,
        ]


class RankingPane(Vertical):
    """The table under the names of its columns, and a line about the judge."""

    table = query_one(RankingTable)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._names = ("", "")

    def compose(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield RankingTable(id="table")
        yield Static(id="judge", classes="ruled")

    def show(self, rows: Sequence[Row], marker: Marker, note: str) -> None:
        self.table.marker, self.table.note = marker, note
        self.table.show(rows)

    def name_systems(self, names: tuple[str, str]) -> None:
        self._names = names
        self.call_after_refresh(self._show_head)

    def tell_judge(self, text: str) -> None:
        self.query_one("#judge", Static).update(plain(text))

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_head)

    def _show_head(self) -> None:
        self.query_one("#head", Static).update(head_text(self.table.row_width, self._names))


def system_width(width: int) -> int:
    """Cells of a system's column in a table of *width* cells."""
    return SYSTEM_WIDE if width >= WIDE else SYSTEM_NARROW


def head_text(width: int, names: tuple[str, str]) -> str:
    """The heads of the columns. Where the second name has no room, it leaves out the first, then more: `+judge`."""
    size = system_width(width)
    first, second = names
    for shorter in (second, second.removeprefix(first), second[second.rfind("+") :]):
        second = shorter
        if len(second) < size:
            break
    return cells("Memory", width - SIGN_WIDTH - 2 * size) + cells(first, size) + cells(second, size)


def _system_cell(candidate: Candidate | None, width: int) -> Cell:
    """The result of a memory in one system: rank, score and confidence, or the stage that dropped it.

    P(relevant) stands in the place of the confidence, or of the score where there is no room for both.
    """
    if candidate is None:
        return cells("", width), "muted"
    if candidate.verdict:
        return _judged_cell(candidate, width)
    is_wide = width >= SYSTEM_WIDE
    score = f"{-candidate.score:5.2f}"
    probability = None if candidate.probability is None else f"P {candidate.probability:.2f}"
    if not candidate.injected:
        value = probability if candidate.dropped_by == "cutoff" else score
        text = f"· {candidate.dropped_by:<6}  {value}" if is_wide else f"· {candidate.dropped_by}"
        return cells(text, width), "muted"
    if is_wide:
        text = f"✓ {candidate.rank:<2} {score}  {probability or candidate.confidence}"
    else:
        text = f"✓{candidate.rank} {probability or score}"
    return cells(text, width), "good"


def _judged_cell(candidate: Candidate, width: int) -> Cell:
    if candidate.injected:
        kept = candidate.verdict is not None and candidate.verdict.decision == "approved"
        return cells("✓ kept" if kept else "✓ fallback", width), "good"
    if candidate.dropped_by == "judge":
        return cells("✗ judge", width), "bad"
    return cells(f"· {candidate.dropped_by}", width), "muted"
