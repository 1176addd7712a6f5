"""The lists and texts of What-if: settings with their values, the numbers with saved and tried settings, prompts."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from engine.wording import counted
from labels.report.section import UNKNOWN, decimal, share, span
from tui.plain import ELLIPSIS, beginning, cells, hanging, one_line, plain, shown_path
from tui.widgets.lists.rows import RowList
from tui.widgets.report import MUTED, interval_bar
from tui.widgets.signs import DRAWN, signs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from labels.measure.metrics import Headline
    from tui.widgets.lists.rows import Cell
    from tui.widgets.signs import Signs
    from tui.workspace.whatif.sample import ChangedPrompt, SettingsNumbers, WhatIfEffect
    from tui.workspace.whatif.trial import Knob, Trial

    Compared = Sequence[tuple[str, SettingsNumbers | None]]

KNOB_WIDTH, SETTING_WIDTH = 17, 20
WORD_WIDTH, COUNTS_WIDTH = 8, 6
TONES = {"good": "$text-success", "bad": "$text-error", "muted": MUTED}
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


class KnobList(RowList[KnobRow]):
    """A row for each setting. A moved setting says what it was."""

    NOUN = "setting"

    def id_of(self, record: KnobRow) -> str:
        return record.knob.name

    def row_cells(self, index: int, width: int) -> list[Cell]:
        row = self.records[index]
        is_moved = row.value != row.saved
        room = width - KNOB_WIDTH - SETTING_WIDTH - 3
        value = f"{signs(self).moved if is_moved else signs(self).off} {row.value}"
        was = f"was {row.saved.partition(' (')[0]}" if is_moved else ".".join(row.knob.key)
        return [
            (f" {cells(row.knob.name, KNOB_WIDTH)} ", ""),
            (value, "match" if is_moved else ""),
            (" " * max(1, SETTING_WIDTH + 1 - len(value)), ""),
            (cells(was, room), "muted"),
        ]


class ChangeList(RowList["ChangedPrompt"]):
    """A row for each labelled prompt: what changes, better or worse, and its text."""

    NOUN = "prompt"

    def id_of(self, record: ChangedPrompt) -> str:
        return record.prompt.id

    def row_cells(self, index: int, width: int) -> list[Cell]:
        change = self.records[index]
        word, tone = "same", "muted"
        if change.diff.is_changed:
            worth = change.diff.worth
            word, tone = ("better", "good") if worth > 0 else ("worse", "bad") if worth < 0 else ("even", "")
        text = cells(change.prompt.text, width - WORD_WIDTH - COUNTS_WIDTH - 2)
        return [
            (f" {word:<{WORD_WIDTH - 1}}", tone),
            (cells(counts(change), COUNTS_WIDTH), tone),
            (f"{text}  ", "" if change.diff.is_changed else "muted"),
        ]


def counts(change: ChangedPrompt) -> str:
    """-2 +1: the numbers of memories that go and that come. A prompt that stays has the number that it gets."""
    if not change.diff.is_changed:
        return f"{len(change.diff.now or ())}"
    gone, new = len(change.diff.lost), len(change.diff.gained)
    return " ".join(filter(None, (f"-{gone}" if gone else "", f"+{new}" if new else "")))


def change_text(change: ChangedPrompt, width: int, drawn: Signs = DRAWN) -> Content:
    """The prompt, and each memory that goes, comes or stays, with its label, in lines of *width* cells."""
    diff = change.diff
    lines = [beginning(one_line(change.prompt.text)), Content("")]
    for word, moved in (("goes", diff.lost), ("comes", diff.gained), ("stays", diff.same)):
        for judged in moved:
            verdict, tone, said = SAID[judged.is_relevant]
            sign = "" if drawn.in_words else f"{drawn.verdicts[verdict]} "
            start = plain(f"{word:<6}").stylize_before(MUTED) + plain(f"{sign}{said:<13}").stylize_before(TONES[tone])
            lines.append(hanging(start + plain(one_line(judged.memory.title)), start.cell_length, width))
    if not diff.before and not diff.now:
        lines.append(plain("Nothing is injected, before and now.").stylize_before(MUTED))
    return Content("\n").join(lines)


# Texts


NAME_WIDTH = 23
LEAST_COLUMN, MOST_COLUMN = 15, 26
WHOLE_FROM = 20
"""Cells of a column from which on precision has its counts beside the interval."""

MIN_PATH = 12
KEYS_FROM = 80
"""Cells of a terminal from which on the keys that save stand before a warning. The footer has them, too."""

BAR_WIDTH, LEAST_BAR, VALUE_WIDTH = 20, 10, 18
COLUMNS = {"relevant": 9, "served": 8, "irrelevant": 11, "tokens": 7}
"""The numbers with their widths, where all values of a setting are compared. The first has a bar behind it."""

NO_LABELS = (
    "No prompt has a label yet, so there is nothing to try settings on.\n\n"
    "Press {go.report} and {report.replay} to replay the prompts, then {go.label} to label some."
)
COUNTING = "Counting …"


def settings_title(root: str, roots: int, width: int) -> str:
    """The root whose settings are tried and saved, for all *roots*. A long path loses its beginning."""
    start = f"Settings for all {roots:,} roots, from " if roots > 1 else "Settings of "
    room = max(MIN_PATH, width - len(start))
    path = shown_path(one_line(root))
    while cell_len(path) > room:
        path = ELLIPSIS + path[2:]
    return f"{start}{path}"


def state_text(trial: Trial, width: int, say: Callable[[str], str]) -> Content:
    """The number of moved settings, the keys that save them, and which of them will not count.

    *width* in cells; *say* puts keys in the place of their ids.
    """
    number, warning = len(trial.changes), trial.warning
    if not number:
        return plain(say("Nothing is moved. Hold {whatif.more} or {whatif.less} to move a setting."))
    said = f"{counted(number, 'setting')} moved · {say('{whatif.save} saves, {whatif.discard} discards')}"
    if not warning:
        return plain(said)
    if width < KEYS_FROM:
        said = f"{number} moved"
    return plain(f"{said} · ") + plain(warning).stylize_before("$text-warning")


def numbers_title(effect: WhatIfEffect) -> str:
    """The number of prompts behind the numbers, and of those that change."""
    left = f" · {effect.left_out:,} without a verdict left out" if effect.left_out else ""
    return f"Over {counted(len(effect.rows), 'labelled prompt')} · {effect.changed:,} change{left}"


def prompts_title(effect: WhatIfEffect) -> str:
    verb = "changes" if effect.changed == 1 else "change"
    return f"{effect.changed:,} of {counted(len(effect.rows), 'prompt')} {verb} · enter opens one"


# The numbers


def numbers_text(effect: WhatIfEffect, width: int) -> Content:
    """A line for each number, with the saved and with the tried settings; then prompts left out. *width* in cells."""
    column = max(LEAST_COLUMN, min(MOST_COLUMN, (width - NAME_WIDTH) // 2))
    lines = [_line("", "saved", "tried", column).stylize_before(MUTED)]
    for name, write in _rows(is_wide=column >= WHOLE_FROM):
        before, after = write(effect.saved), write(effect.draft)
        line = _line(name, before, after, column)
        lines.append(line.stylize("bold", NAME_WIDTH + column) if before != after else line)
    return Content("\n").join([*lines, *(plain(said).stylize_before(MUTED) for said in effect.phrased)])


def _rows(*, is_wide: bool) -> tuple[tuple[str, Callable[[SettingsNumbers], str]], ...]:
    return (
        ("Relevant (precision)", lambda numbers: _precision(numbers.precision, is_wide=is_wide)),
        ("Prompts in need served", lambda numbers: _precision(numbers.served, is_wide=is_wide)),
        ("Prompts with memories", lambda numbers: share(numbers.fires)),
        ("False fires", lambda numbers: share(numbers.false_fires)),
        ("Irrelevant a prompt", lambda numbers: decimal(numbers.irrelevant.value)),
        ("Missed a prompt", lambda numbers: decimal(numbers.lost.value)),
        ("Tokens a prompt, about", lambda numbers: f"{numbers.tokens:,.0f}"),
        ("Without a label", lambda numbers: f"{numbers.unlabelled.part:,} of {numbers.unlabelled.whole:,}"),
    )


def _line(name: str, before: str, after: str, column: int) -> Content:
    return plain(f"{cells(name, NAME_WIDTH)}{cells(before, column)}{cells(after, column)}".rstrip())


def _precision(headline: Headline, *, is_wide: bool) -> str:
    found = headline.relevant
    counts = f" ({found.part:,}/{found.whole:,})" if is_wide else ""
    return UNKNOWN if found.value is None else f"{decimal(found.value)} {span(headline.live)}{counts}"


# Every value of a setting


def compared_text(compared: Compared, current: str, saved: str, size: tuple[int, int], drawn: Signs = DRAWN) -> Content:
    """A line for each value: its precision drawn to scale, served prompts, irrelevant memories, tokens.

    *size* in cells and lines. Where not all values have room, those near the *current* one are shown.
    """
    width, height = size
    room = width - VALUE_WIDTH - sum(COLUMNS.values()) - 4
    bar = 0 if drawn.in_words or room < LEAST_BAR else min(2 * BAR_WIDTH, room)
    no_bar = Content(" " * bar)
    lines = [(plain(" " * VALUE_WIDTH) + _in_columns([*COLUMNS], no_bar)).stylize_before(MUTED)]
    for text, found in compared[window(compared, current, height - 1)]:
        sign = drawn.now if text == current else drawn.saved if text == saved else drawn.off
        if found is None:
            values = plain("the judge was never asked about some memories").stylize_before(MUTED)
        else:
            value, interval = found.precision.relevant.value, found.precision.live
            drawn_bar = interval_bar(value, interval, interval, bar) if bar and value is not None else no_bar
            shares = map(decimal, (value, found.served.relevant.value, found.irrelevant.value))
            values = _in_columns((*shares, f"{found.tokens:,.0f}"), drawn_bar)
        line = plain(cells(f"{sign} {text}", VALUE_WIDTH)) + values
        lines.append(line.stylize("bold") if text == current else line)
    return Content("\n").join(lines)


def window(compared: Compared, current: str, room: int) -> slice:
    """The places of at most *room* values, with the nearest to *current* in their middle."""
    texts = [text for text, _ in compared]
    near = texts.index(current) if current in texts else bisect(texts, current)
    first = max(0, min(near - room // 2, len(texts) - room))
    return slice(first, first + max(1, room))


def _in_columns(texts: Sequence[str], bar: Content) -> Content:
    first, *rest = (f"{text:>{width}}" for text, width in zip(texts, COLUMNS.values(), strict=True))
    return plain(f"{first}  " if bar else first) + bar + plain("".join(rest))
