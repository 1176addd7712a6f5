"""The lists of What-if: the settings with their values, and the prompts whose injected memories change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from tui.plain import beginning, cells, one_line, plain
from tui.widgets.lists.rows import RecordList
from tui.widgets.signs import DRAWN, signs

if TYPE_CHECKING:
    from labels.report.run_diff import Judged
    from tui.widgets.lists.rows import Cell
    from tui.widgets.signs import Signs
    from tui.workspace.whatif.effect import ChangedPrompt
    from tui.workspace.whatif.knobs import Knob

NAME_WIDTH, VALUE_WIDTH = 17, 20
WORD_WIDTH, COUNTS_WIDTH = 8, 6
TONES = {"good": "$text-success", "bad": "$text-error", "muted": "$foreground-muted"}
SAID = {
    True: ("relevant", "good", "relevant"),
    False: ("not", "bad", "not relevant"),
    None: ("unsure", "muted", "no label"),
}
"""By label, or none: the verdict whose sign it has, its tone and its words."""


@dataclass(frozen=True)
class KnobRow:
    """A setting: its value now and its saved value, in words."""

    knob: Knob
    value: str
    saved: str


class KnobList(RecordList[KnobRow]):
    """A row for each setting. A moved setting says what it was."""

    NOUN = "setting"

    def id_of(self, record: KnobRow) -> str:
        return record.knob.name

    def row_cells(self, index: int, width: int) -> list[Cell]:
        row = self.records[index]
        is_moved = row.value != row.saved
        room = width - NAME_WIDTH - VALUE_WIDTH - 3
        value = f"{signs(self).moved if is_moved else signs(self).off} {row.value}"
        was = f"was {row.saved.partition(' (')[0]}" if is_moved else ".".join(row.knob.key)
        return [
            (f" {cells(row.knob.name, NAME_WIDTH)} ", ""),
            (value, "match" if is_moved else ""),
            (" " * max(1, VALUE_WIDTH + 1 - len(value)), ""),
            (cells(was, room), "muted"),
        ]


class ChangeList(RecordList["ChangedPrompt"]):
    """A row for each labelled prompt: what changes, better or worse, and its text."""

    NOUN = "prompt"

    def id_of(self, record: ChangedPrompt) -> str:
        return record.prompt.id

    def row_cells(self, index: int, width: int) -> list[Cell]:
        change = self.records[index]
        word, tone = change_word(change)
        text = cells(change.prompt.text, width - WORD_WIDTH - COUNTS_WIDTH - 2)
        return [
            (f" {word:<{WORD_WIDTH - 1}}", tone),
            (cells(counts(change), COUNTS_WIDTH), tone),
            (f"{text}  ", "" if change.diff.is_changed else "muted"),
        ]


def change_word(change: ChangedPrompt) -> Cell:
    """Whether a prompt gets better or worse by the labels, and its tone."""
    if not change.diff.is_changed:
        return "same", "muted"
    worth = change.diff.worth
    return ("better", "good") if worth > 0 else ("worse", "bad") if worth < 0 else ("even", "")


def counts(change: ChangedPrompt) -> str:
    """-2 +1: the numbers of memories that go and that come. A prompt that stays has the number that it gets."""
    if not change.diff.is_changed:
        return f"{len(change.diff.now or ())}"
    gone, new = len(change.diff.lost), len(change.diff.gained)
    return " ".join(filter(None, (f"-{gone}" if gone else "", f"+{new}" if new else "")))


def change_text(change: ChangedPrompt, drawn: Signs = DRAWN) -> Content:
    """The prompt, and each memory that goes, comes or stays, with its label."""
    diff = change.diff
    lines = [beginning(one_line(change.prompt.text)), Content("")]
    for word, moved in (("goes", diff.lost), ("comes", diff.gained), ("stays", diff.same)):
        lines += [_moved_line(word, memory, drawn) for memory in moved]
    if not diff.before and not diff.now:
        lines.append(plain("Nothing is injected, before and now.").stylize_before(TONES["muted"]))
    return Content("\n").join(lines)


def _moved_line(word: str, moved: Judged, drawn: Signs) -> Content:
    verdict, tone, said = SAID[moved.is_relevant]
    sign = "" if drawn.in_words else f"{drawn.verdicts[verdict]} "
    return (
        plain(f"{word:<6}").stylize_before(TONES["muted"])
        + plain(f"{sign}{said:<13}").stylize_before(TONES[tone])
        + plain(one_line(moved.memory.title))
    )
