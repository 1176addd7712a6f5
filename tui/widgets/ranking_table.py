"""A prompt through several systems side by side: a row for each memory, so that a difference is read across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import Static

from engine.config import is_injected
from engine.search.highlight import Marker
from labels.records import RELEVANT
from tui.keys import keyed
from tui.plain import one_line, plain
from tui.widgets.explain_text import judge_sentence
from tui.widgets.labels import TONES
from tui.widgets.lists.columns import Column, ColumnHeads, ColumnList
from tui.widgets.signs import DRAWN, SPOKEN, VERDICTS, signs, why_dropped
from tui.workspace.systems import DROPPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from textual.app import ComposeResult

    from engine.memory import MemorySummary
    from engine.prompt import Prompt
    from engine.retrieval import Candidate, Retrieval
    from labels.records import Pair
    from tui.widgets.lists.rows import Cell
    from tui.widgets.signs import Signs
    from tui.workspace.workspace import Workspace


SIGN_WIDTH, LABEL_WIDTH = 3, 14
"""Cells of a label and what stands beside it: as a sign, and as a word."""

DRAWN_WIDTHS = 20, 11, 11
"""Cells of a system's column: with score and confidence, or with one number."""

WIDE_TITLE, LEAST_TITLE = 40, 24
"""Cells that the title needs beside the widest columns, and beside the next."""

SPOKEN_WIDTHS = 30, 20, 11
"""The same in words; the narrowest has the outcome alone."""

WAITING, NO_RECORD, NOT_FOUND = "…", "no record", "not found"


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

    @property
    def is_left_out(self) -> bool:
        """Whether the last system, that of the hook, does not inject it."""
        last = self.candidates[-1]
        return not (last and last.injected)

    @property
    def is_missed(self) -> bool:
        """Whether the last system has answered without a memory that the person finds relevant."""
        return self.verdict == RELEVANT and self.is_left_out and not self.notes[-1]


def ranking_rows(names: Sequence[str], answers: Sequence[Retrieval | None], verdicts: Mapping[Pair, str]) -> list[Row]:
    """The candidates of the first answer in its order, then the other candidates of the next, and so on.

    *names* are those of the systems.
    """
    ranked = (answer.candidates if answer else () for answer in answers)
    found = [{candidate.memory.id: candidate for candidate in candidates} for candidates in ranked]
    memories = {key: candidate.memory for candidates in found for key, candidate in candidates.items()}
    absent = (NO_RECORD if is_injected(name) else WAITING for name in names)
    notes = tuple("" if answer else note for answer, note in zip(answers, absent, strict=True))
    return [
        Row(memory, tuple(candidates.get(key) for candidates in found), notes, verdicts.get((key, memory.digest), ""))
        for key, memory in memories.items()
    ]


class RankingTable(ColumnList[Row]):
    """Rows with the label's sign, the title, and the result in each of the systems, which `names` has."""

    NOUN = "memory"
    margin = 1
    names: Sequence[str] = ()

    def id_of(self, record: Row) -> str:
        return record.memory.id

    def columns_at(self, width: int) -> tuple[Column, ...]:
        drawn = signs(self)
        wide, middle, narrow = SPOKEN_WIDTHS if drawn.in_words else DRAWN_WIDTHS
        room, systems = width - (LABEL_WIDTH if drawn.in_words else SIGN_WIDTH), len(self.names)
        fits = (size for size, title in ((wide, WIDE_TITLE), (middle, LEAST_TITLE)) if room - systems * size >= title)
        size = next(fits, narrow)
        heads = enumerate(short_names(self.names, size - 1))
        results = (_result_column(place, head, size, drawn) for place, head in heads)
        return (*(SPOKEN_LABEL if drawn.in_words else DRAWN_LABEL), *results)


def _tone(row: Row) -> str:
    return "" if row.is_injected else "muted"


DRAWN_LABEL = (
    Column(lambda row: DRAWN.verdicts.get(row.verdict, ""), width=2, tone=lambda row: TONES.get(row.verdict, "")),
    Column(lambda row: row.memory.name, "Memory", tone=_tone, has_marks=True, more=lambda row: row.memory.about),
)
SPOKEN_LABEL = (
    Column(lambda row: VERDICTS.get(row.verdict, "").lower(), "Label", width=LABEL_WIDTH),
    Column(lambda row: row.memory.name, "Memory", tone=_tone, has_marks=True),
)


class RankingPane(Vertical):
    """The table under the names of its columns, and a line about the judge."""

    table = query_one(RankingTable)

    def compose(self) -> ComposeResult:
        table = RankingTable(id="table")
        yield ColumnHeads(table, {}, id="head")
        yield table
        yield Static(id="judge")

    def show(self, systems: Sequence[str], rows: Sequence[Row], marker: Marker) -> None:
        """Show the *rows* of *systems*, which are named above their columns."""
        self.table.names, self.table.marker = systems, marker
        self.table.show(rows)
        self.query_one(ColumnHeads).refresh()

    def tell_judge(self, text: str) -> None:
        self.query_one("#judge", Static).update(plain(text))


def short_names(names: Iterable[str], width: int) -> list[str]:
    """*names* in *width* cells each. A name that is too long leaves out its beginning: `+judge`, `:other`."""
    given = list(names)
    heads: list[str] = []
    for name in given:
        shorter = (name, name.removeprefix(given[0]), name[max(0, name.rfind("+")) :], name[max(0, name.find(":")) :])
        fitting = (short for short in shorter if 0 < len(short) <= width and short not in heads)
        heads.append(next(fitting, name))
    return heads


def _result_column(place: int, head: str, size: int, drawn: Signs) -> Column:
    """The results of one system, which stands at a *place* in the rows, in *size* cells."""

    def result(row: Row) -> Cell:
        note, candidate = row.notes[place], row.candidates[place]
        if note:
            return ("not known yet" if drawn.in_words and note == WAITING else note), "muted"
        if drawn.in_words:
            return _in_words(candidate, size), "good" if candidate and candidate.injected else "muted"
        return _drawn(candidate, size) if candidate else ("", "muted")

    return Column(lambda row: result(row)[0], head, width=size, gap=0, tone=lambda row: result(row)[1])


def _drawn(candidate: Candidate, width: int) -> Cell:
    """The result of a memory in one system: rank, score and confidence, or the stage that dropped it.

    P(relevant) stands in the place of the confidence, or of the score where there is no room for both.
    """
    dropped = DROPPED.get(candidate.dropped_by, "")
    if candidate.verdict:
        if candidate.injected:
            return f"{DRAWN.injected} {_kept(candidate)}", "good"
        is_rejected = candidate.dropped_by == "judge"
        return f"{DRAWN.rejected if is_rejected else DRAWN.dropped} {dropped}", "bad" if is_rejected else "muted"
    is_wide = width >= DRAWN_WIDTHS[0]
    if not candidate.score:
        # a record has no scores
        return f"{DRAWN.injected}{' ' if is_wide else ''}{candidate.rank}", "good"
    score = f"{-candidate.score:5.2f}"
    probability = None if candidate.probability is None else f"{100 * candidate.probability:.0f} %"
    if not candidate.injected:
        wide = why_dropped(candidate) if candidate.dropped_by == "cutoff" else f"{dropped:<8} {score}"
        return f"{DRAWN.dropped} {wide if is_wide else dropped}", "muted"
    text = f"{DRAWN.injected}{candidate.rank} {probability or score}"
    if is_wide:
        text = f"{DRAWN.injected} {candidate.rank:<2} {score}  {probability or candidate.confidence}"
    return text, "good"


def _kept(candidate: Candidate) -> str:
    return "kept" if candidate.verdict and candidate.verdict.decision == "approved" else "fallback"


def _in_words(candidate: Candidate | None, width: int) -> str:
    """The same result in words: injected and the rank, or the stage that dropped the memory."""
    wide, _, narrow = SPOKEN_WIDTHS
    if candidate is None:
        return NOT_FOUND
    if not candidate.injected:
        word = why_dropped(candidate) if width == wide else DROPPED.get(candidate.dropped_by, "")
        return word if width == narrow else f"{SPOKEN.dropped}, {word}"
    how = _kept(candidate) if candidate.verdict else f"rank {candidate.rank}"
    if width == narrow:
        return how
    sure = f", {candidate.confidence}" if width == wide and candidate.confidence else ""
    return f"{SPOKEN.injected}, {how}{sure}"


DONE = "Done · {label.reveals} all ranks · "
MISSED = "It is relevant, and was left out: {mark.phrase} adds the prompt as its phrase."


class Reveal(RankingPane):
    """The ranking of a prompt that is done, with the actions that its labels ask for."""

    def compose(self) -> ComposeResult:
        yield Static(id="revealed")
        yield from super().compose()

    def show_prompt(self, workspace: Workspace, prompt: Prompt, action: str) -> None:
        """Show a prompt in its systems, as far as they have answered, and the *action* that a label asks for.

        Memories that are injected or relevant come first: above a card there is room for a few.
        """
        judged = workspace.judged and workspace.retrieval(prompt.id, workspace.judged.name)
        rows = ranking_rows(workspace.heads, workspace.answers(prompt.id), workspace.verdicts(prompt.id))
        rows.sort(key=lambda row: not (row.is_injected or row.verdict == RELEVANT))
        self.border_title = plain(f"{keyed(self.app, DONE)}{one_line(prompt.text)}")
        self.show(workspace.called_heads, rows, Marker.of(prompt))
        self.tell_judge(judge_sentence(judged or None))
        key = keyed(self.app, "{mark.phrase}")
        left_out = (row.memory.name for row in rows if row.is_missed)
        missed = [f"{key} adds the prompt as a phrase of “{name}”: relevant, but left out." for name in left_out]
        said = one_line(" ".join((*filter(None, [action]), *missed[:1])))
        self.query_one("#revealed", Static).update(plain(said))
        self.query_one("#revealed").display = bool(said)
