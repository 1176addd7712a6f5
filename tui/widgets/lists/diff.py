"""The prompts of two runs as a list, and one of them with the memories that it gained and lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from labels.report.run_diff import head_lines
from tui.plain import hanging, marked, one_line, plain
from tui.widgets.lists.columns import Column, ColumnList
from tui.widgets.memory_pane import HEADING, MUTED
from tui.workspace.replay.run_diffs import BY_TEXT, MOST_CHANGES, WORST, DiffRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labels.report.run_diff import ComparedRuns, Judged
    from tui.plain import Marks

WORDS = {True: ("relevant", "$text-success"), False: ("not relevant", "$text-error")}
"""The judgement on a memory -> its word and the colour of the word. A sign would look like gained or lost."""

NOTHING, INDENT = "Nothing", 2


def _text(row: DiffRow) -> str:
    if row.diff.is_in_both:
        return row.text
    return f"only {'before' if row.diff.now is None else 'now'} · {row.text}"


def _count(sign: str, memories: tuple[Judged, ...]) -> str:
    return f"{sign}{len(memories)}" if memories else "·"


def _changed_tone(row: DiffRow) -> str:
    return "" if row.diff.is_changed else "muted"


def _worth(row: DiffRow) -> str:
    return f"{row.diff.worth:+d}".replace("-", "−") if row.diff.worth else ""


def _worth_tone(row: DiffRow) -> str:
    return "good" if row.diff.worth > 0 else "bad"


COLUMNS = (
    Column(_text, "Prompt", BY_TEXT, tone=_changed_tone, has_marks=True),
    Column(
        lambda row: _count("+", row.diff.gained), "Gained", MOST_CHANGES, width=8, tone=_changed_tone, is_number=True
    ),
    Column(lambda row: _count("−", row.diff.lost), "Lost", width=6, tone=_changed_tone, is_number=True),
    Column(lambda row: _count("", row.diff.same), "Same", width=6, from_width=56, is_number=True),
    Column(_worth, "Labels", WORST, width=9, gap=2, tone=_worth_tone, is_number=True),
)


class DiffList(ColumnList[DiffRow]):
    """Prompts of two runs, a row each. `Labels` is the worth of the change by the labels on its memories."""

    columns = COLUMNS

    def id_of(self, record: DiffRow) -> str:
        return record.diff.prompt_id


def row_text(row: DiffRow, marker: Marks, width: int) -> Content:
    """The prompt, and the memories that it gained, lost and kept, each with the verdict of its label.

    *width* in cells.
    """
    diff = row.diff
    groups = {"Gained": diff.gained, "Lost": diff.lost, "The same": diff.same}
    if not diff.is_in_both:
        memories = diff.before if diff.now is None else diff.now
        groups = {f"Injected, only in the run {'before' if diff.now is None else 'now'}": memories or ()}
    parts = [line for head, found in groups.items() for line in _group(head, found, width)]
    return Content("\n").join([marked(row.text, marker), *(parts or [Content(""), plain(NOTHING)])])


def _group(head: str, memories: Iterable[Judged], width: int) -> list[Content]:
    lines = [hanging(_memory(memory), INDENT, width) for memory in memories]
    return [Content(""), plain(head).stylize_before(HEADING), *lines] if lines else []


def _memory(judged: Judged) -> Content:
    title = plain(one_line(judged.memory.title or judged.memory.memory_id))
    edited = plain(" · edited in between").stylize_before(MUTED) if judged.is_edited else Content("")
    if judged.is_relevant is None:
        return title + edited
    word, style = WORDS[judged.is_relevant]
    return plain(f"{word} · ").stylize_before(style) + title + edited


def runs_text(compared: ComparedRuns) -> Content:
    """Both runs, the answer, and what changed in the settings."""
    sides = (("Before", compared.before), ("Now", compared.now))
    lines = [plain(f"{name}: {one_line(side.line)}").stylize_before(MUTED) for name, side in sides]
    said = [plain(one_line(line)) for line in head_lines(compared)]
    return Content("\n").join([plain("The two runs").stylize_before(HEADING), *lines, *said])
