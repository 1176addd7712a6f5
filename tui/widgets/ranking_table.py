"""A prompt through several systems side by side: a row for each memory, so that a difference is read across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Static

from engine.config import is_injected
from engine.search.highlight import Marker
from tui.keys import keyed
from tui.plain import cells, plain
from tui.widgets.explain_text import judge_sentence
from tui.widgets.labels import TONES
from tui.widgets.lists.rows import RecordList, marked_cells
from tui.widgets.signs import DRAWN, DROPPED, SPOKEN, signs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from textual.app import ComposeResult

    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.retrieval import Candidate, Retrieval
    from labels.records import Label, Pair
    from tui.widgets.lists.rows import Cell
    from tui.widgets.signs import Signs
    from tui.workspace.workspace import Workspace


SIGN_WIDTH = 3
DRAWN_WIDTHS = 20, 11, 11
"""Cells of a system's column: with score and confidence, or with one number."""

WIDE_TITLE, LEAST_TITLE = 40, 24
"""Cells that the title needs beside the widest columns, and beside the next."""

SPOKEN_WIDTHS = 30, 20, 11
"""The same in words; the narrowest has the outcome alone."""

WAITING, NO_RECORD, NOT_FOUND = "…", "no record", "not found"
NOTES = {WAITING: "not known yet"}
"""Notes in words."""


@dataclass(frozen=True)
class Row:
    """A memory in each system; None where a system did not find it.

    `notes`: a text for each system that has no answer, else "". `verdict`: the person's label, or "".
    """

    memory: MemorySummary
    candidates: tuple[Candidate | None, ...]
    notes: tuple[str, ...]
    verdict: str = ""

    @property
    def rank(self) -> int:
        """From 1: the rank in the first system that found the memory."""
        return next((candidate.rank for candidate in self.candidates if candidate), 0)

    @property
    def is_injected(self) -> bool:
        return any(candidate.injected for candidate in self.candidates if candidate)


def ranking_rows(names: Sequence[str], answers: Sequence[Retrieval | None], labels: Mapping[Pair, Label]) -> list[Row]:
    """The candidates of the first answer in its order, then the other candidates of the next, and so on.

    *names* are those of the systems.
    """
    found = [
        {candidate.memory.id: candidate for candidate in answer.candidates} if answer else {} for answer in answers
    ]
    memories = {key: candidate.memory for candidates in found for key, candidate in candidates.items()}
    verdicts = {pair: label.verdict for pair, label in labels.items()}
    absent = (NO_RECORD if is_injected(name) else WAITING for name in names)
    notes = tuple("" if answer else note for answer, note in zip(answers, absent, strict=True))
    return [
        Row(
            memory,
            tuple(candidates.get(key) for candidates in found),
            notes,
            verdicts.get((key, memory.digest), ""),
        )
        for key, memory in memories.items()
    ]


class RankingTable(RecordList[Row]):
    """Rows with the matches of `marker` marked."""

    NOUN = "memory"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.marker = Marker()
        self.names: Sequence[str] = ()

    def id_of(self, record: Row) -> str:
        return record.memory.id

    def said(self) -> str:
        """The memory, its label, and the result of each system by its name."""
        if not (row := self.current):
            return ""
        width = SPOKEN_WIDTHS[0]
        results = [
            f"{name}: {NOTES.get(note, note) or (_in_words(candidate, width) if candidate else NOT_FOUND)}"
            for name, candidate, note in zip(self.names, row.candidates, row.notes, strict=False)
        ]
        label = [SPOKEN.verdicts[row.verdict].rstrip(":")] if row.verdict else []
        return "; ".join([row.memory.title, *label, *results])

    def row_cells(self, index: int, width: int) -> list[Cell]:
        row = self.records[index]
        drawn = signs(self)
        size = system_width(width, len(row.candidates), drawn)
        sign = f" {drawn.verdicts.get(row.verdict, drawn.off)} "
        title = cells(row.memory.title, width - len(sign) - len(row.candidates) * size - 1)
        return [
            (sign, TONES.get(row.verdict, "")),
            *marked_cells(title, self.marker, "" if row.is_injected else "muted"),
            (" ", ""),
            *(
                (cells(note, size), "muted") if note else _system_cell(candidate, size, drawn)
                for candidate, note in zip(row.candidates, row.notes, strict=True)
            ),
        ]


class RankingPane(Vertical):
    """The table under the names of its columns, and a line about the judge."""

    table = query_one(RankingTable)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._names: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield RankingTable(id="table")
        yield Static(id="judge")

    def show(self, rows: Sequence[Row], marker: Marker) -> None:
        self.table.marker = marker
        self.table.show(rows)

    def name_systems(self, names: tuple[str, ...]) -> None:
        self._names = self.table.names = names
        self.call_after_refresh(self._show_head)

    def tell_judge(self, text: str) -> None:
        self.query_one("#judge", Static).update(plain(text))

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_head)

    def _show_head(self) -> None:
        self.query_one("#head", Static).update(head_text(self.table.row_width, self._names, signs(self)))


def system_width(width: int, systems: int, drawn: Signs = DRAWN) -> int:
    """Cells of a system's column in a table of *width* cells."""
    wide, middle, narrow = SPOKEN_WIDTHS if drawn.in_words else DRAWN_WIDTHS
    if width - SIGN_WIDTH - systems * wide >= WIDE_TITLE:
        return wide
    return middle if width - SIGN_WIDTH - systems * middle >= LEAST_TITLE else narrow


def head_text(width: int, names: Sequence[str], drawn: Signs = DRAWN) -> str:
    """The heads of the columns."""
    size = system_width(width, len(names), drawn)
    heads = short_names(names, size - 1)
    return cells("Memory", width - SIGN_WIDTH - len(names) * size) + "".join(cells(head, size) for head in heads)


def short_names(names: Iterable[str], width: int) -> list[str]:
    """*names* in *width* cells each. A name that is too long leaves out its beginning: `+judge`, `:other`."""
    given = list(names)
    heads: list[str] = []
    for name in given:
        shorter = (name, name.removeprefix(given[0]), name[max(0, name.rfind("+")) :], name[max(0, name.find(":")) :])
        fitting = (short for short in shorter if 0 < len(short) <= width and short not in heads)
        heads.append(next(fitting, name))
    return heads


def _system_cell(candidate: Candidate | None, width: int, drawn: Signs) -> Cell:
    """The result of a memory in one system: rank, score and confidence, or the stage that dropped it.

    P(relevant) stands in the place of the confidence, or of the score where there is no room for both.
    """
    if candidate is None:
        return cells(NOT_FOUND if drawn.in_words else "", width), "muted"
    if drawn.in_words:
        return cells(_in_words(candidate, width), width), "good" if candidate.injected else "muted"
    if candidate.verdict:
        return _judged_cell(candidate, width)
    is_wide = width >= DRAWN_WIDTHS[0]
    gap = " " if is_wide else ""
    if not candidate.score:
        # a record has no scores
        return cells(f"{DRAWN.injected}{gap}{candidate.rank}", width), "good"
    score = f"{-candidate.score:5.2f}"
    probability = None if candidate.probability is None else f"{100 * candidate.probability:.0f} %"
    if not candidate.injected:
        value = probability if candidate.dropped_by == "cutoff" else score
        text = f"{DROPPED[candidate.dropped_by]:<8} {value}" if is_wide else DROPPED[candidate.dropped_by]
        return cells(f"{DRAWN.dropped} {text}", width), "muted"
    text = f"{DRAWN.injected}{candidate.rank} {probability or score}"
    if is_wide:
        text = f"{DRAWN.injected} {candidate.rank:<2} {score}  {probability or candidate.confidence}"
    return cells(text, width), "good"


def _judged_cell(candidate: Candidate, width: int) -> Cell:
    if candidate.injected:
        return cells(f"{DRAWN.injected} {_kept(candidate)}", width), "good"
    if candidate.dropped_by == "judge":
        return cells(f"{DRAWN.rejected} {DROPPED[candidate.dropped_by]}", width), "bad"
    return cells(f"{DRAWN.dropped} {DROPPED[candidate.dropped_by]}", width), "muted"


def _kept(candidate: Candidate) -> str:
    return "kept" if candidate.verdict and candidate.verdict.decision == "approved" else "fallback"


def _in_words(candidate: Candidate, width: int) -> str:
    """The same result in words: injected and the rank, or the stage that dropped the memory."""
    wide, _, narrow = SPOKEN_WIDTHS
    if not candidate.injected:
        return f"{'no:' if width == narrow else SPOKEN.dropped} {candidate.dropped_by}"
    how = _kept(candidate) if candidate.verdict else f"rank {candidate.rank}"
    if width == narrow:
        return how
    sure = f", {candidate.confidence}" if width == wide and candidate.confidence else ""
    return f"{SPOKEN.injected}, {how}{sure}"


DONE = (
    "Done: what you said, and what each system does. {label.next} goes on, {label.reveals} leaves this out from now on."
)


class Reveal(RankingPane):
    """The ranking, under a sentence that tells how to go on."""

    def compose(self) -> ComposeResult:
        yield Static(plain(keyed(self.app, DONE)), id="revealed")
        yield from super().compose()

    def show_prompt(self, workspace: Workspace, prompt: Prompt) -> None:
        """Show a prompt in its systems, as far as they have answered."""
        judged = workspace.judged and workspace.retrieval(prompt.id, workspace.judged.name)
        rows = ranking_rows(workspace.heads, workspace.answers(prompt.id), workspace.labels(prompt.id))
        self.show(rows, workspace.marker(prompt))
        self.tell_judge(judge_sentence(judged or None))
        self.name_systems(workspace.heads)

    def tell_action(self, words: str) -> None:
        """Say which action the reason of a label asks for, and its key."""
        self.query_one("#revealed", Static).update(plain(f"{keyed(self.app, DONE)} {words}".strip()))
