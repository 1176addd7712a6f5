"""The rows of a diff of two runs: each prompt, narrowed by kind and words, and sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tui.workspace.word_filter import in_order, lowered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from labels.measure.run_diff import PromptDiff
    from labels.report.run_diff import ComparedRuns
    from tui.workspace.word_filter import WordFilter

CHANGED, ALL, GAINED, LOST, BETTER, WORSE, ONLY = "changed", "", "gained", "lost", "better", "worse", "only"
KINDS = {
    CHANGED: "prompts that differ",
    GAINED: "memories gained",
    LOST: "memories lost",
    BETTER: "better by their labels",
    WORSE: "worse by their labels",
    ONLY: "only in one run",
    ALL: "all prompts",
}
FITS: dict[str, Callable[[PromptDiff], bool]] = {
    CHANGED: lambda prompt: prompt.is_changed,
    GAINED: lambda prompt: bool(prompt.gained),
    LOST: lambda prompt: bool(prompt.lost),
    BETTER: lambda prompt: prompt.worth > 0,
    WORSE: lambda prompt: prompt.worth < 0,
    ONLY: lambda prompt: not prompt.is_in_both,
    ALL: lambda _: True,
}
"""Whether a prompt is of a kind."""

IN_RUN, MOST_CHANGES, WORST, BY_TEXT = "run", "changes", "worst", "text"
ORDERS = {
    MOST_CHANGES: "Memories gained and lost, the most first",
    WORST: "Worth by labels, the worst first",
    IN_RUN: "Order of the run",
    BY_TEXT: "Prompt",
}
RISING = (WORST, BY_TEXT)


class DiffRow(NamedTuple):
    """A prompt of a diff: its text, or its id if the text is unknown; and the words by which it is found."""

    diff: PromptDiff
    text: str
    words: str


def diff_rows(compared: ComparedRuns) -> list[DiffRow]:
    rows = []
    for prompt in compared.diff.prompts:
        text = compared.texts.get(prompt.prompt_id) or prompt.prompt_id
        titles = [judged.memory.title for judged in (*(prompt.before or ()), *(prompt.now or ()))]
        rows.append(DiffRow(prompt, text, lowered((text, *titles))))
    return rows


def counts(rows: Sequence[DiffRow]) -> dict[str, int]:
    """The number of rows of each of KINDS."""
    return {kind: sum(FITS[kind](row.diff) for row in rows) for kind in KINDS}


def listed_rows(
    rows: Sequence[DiffRow], words: WordFilter, kind: str, order: str, *, is_turned: bool = False
) -> Sequence[DiffRow]:
    """The rows of a kind that fit the words, in one of ORDERS."""
    found = [row for row in rows if FITS[kind](row.diff) and words.fits(row.words)]
    keys: dict[str, Callable[[DiffRow], Any]] = {
        MOST_CHANGES: lambda row: len(row.diff.gained) + len(row.diff.lost),
        WORST: lambda row: row.diff.worth,
        BY_TEXT: lambda row: row.text.casefold(),
    }
    rows = in_order(found, order, keys, RISING)
    return rows[::-1] if is_turned else rows
