"""Texts of Report: the answer of the gate, intervals drawn to scale, and the prompts that a row counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from engine.wording import counted
from labels.report.first_lines import first_lines, next_step
from labels.report.gate_text import answer, gate_lines, gate_step
from labels.report.sections import summary
from labels.report.text import as_item, first_part
from tui.plain import cells, one_line, plain
from tui.widgets.memory_pane import HEADING, memory_text
from tui.widgets.signs import DRAWN, Signs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engine.memory import Memory
    from labels.measure.intervals import Interval
    from labels.report.section import ReportSection
    from tui.workspace.report.reading import ReportReading
    from tui.workspace.report.rows import InjectionRow, Told

    Say = Callable[[str], str]

MUTED = "$foreground-muted"
LINES = 3
"""Lines of a prompt that stands alone."""

NOTHING_REPLAYED = (
    "No prompt was replayed yet.\n\n"
    "Press {report.replay} to run every prompt through every system, then {go.label} to label what they return."
)


def answer_text(reading: ReportReading, width: int, say: Say, *, is_short: bool) -> Content:
    """The gate's answer and the next step; unless *is_short*, also the numbers behind it.

    *width* in cells; *say* puts keys in the place of their ids.
    """
    report, gate = reading.report, reading.gate
    if not report.systems:
        return plain(say(NOTHING_REPLAYED))
    said = answer(gate) if gate else first_lines(report)[0]
    step = say((gate_step(gate) if gate else next_step(report)).in_app())
    lines = [_wrapped([said], width).stylize_before("bold"), _wrapped([step], width).stylize_before("$text-accent")]
    if not is_short:
        more = gate_lines(gate)[1:] if gate else first_lines(report)[1:]
        lines += [_wrapped(more, width), _wrapped([summary(report)], width).stylize_before(MUTED)]
    return Content("\n").join(lines)


def _wrapped(lines: Sequence[str], width: int) -> Content:
    return plain(first_part(lines, width))


def part_text(section: ReportSection, whole: str, width: int, behind: Content | None = None) -> Content:
    """The row under the cursor in full, sentences about the numbers, how to read them, and the prompts *behind* it."""
    lines = [plain(first_part([whole], width))] if whole else []
    lines += [plain(as_item(line, width)) for line in section.lines]
    if section.about:
        lines.append(plain(first_part([section.about], width)).stylize_before(MUTED))
    lines += [Content(""), behind] if behind else []
    return Content("\n").join(lines)


def interval_bar(point: float, one: Interval, live: Interval, width: int) -> Content:
    """A *point* on a scale from 0 to 1 of *width* cells, its interval for *one* look (thick) and for any (thin)."""
    dot, *ends = (round(share * (width - 1)) for share in (point, one.low, one.high, live.low, live.high))
    thick, thin = ends[:2], ends[2:]
    first, last = min(thin[0], thick[0]), max(thin[1], thick[1])
    drawn = "".join("●" if i == dot else _sign(i, thick, thin) for i in range(width))
    return Content(drawn).stylize(MUTED).stylize("$text-success", first, last + 1).stylize("bold", dot, dot + 1)


def _sign(i: int, thick: Sequence[int], thin: Sequence[int]) -> str:
    if thick[0] <= i <= thick[1]:
        return "━"
    return "─" if thin[0] <= i <= thin[1] else "·"


# What a row counts: prompts, or a memory


def prompts_text(
    told: Sequence[Told], whole: int, read: Callable[[str], Memory | None], width: int, drawn: Signs = DRAWN
) -> Content:
    """Each prompt with the memories that were injected for it. A prompt that stands alone has their texts, too.

    *whole* counts all prompts of the row. *read* gives the memory with an id. *drawn* are the signs of labels.
    """
    is_alone = len(told) == 1
    lines = [_muted(_counted(len(told), whole)), *([] if drawn.in_words else [_muted(_key(drawn))])]
    for prompt in told:
        room = width * (LINES if is_alone else 1)
        lines += [Content(""), plain(cells(prompt.text, room).rstrip()).stylize_before("bold")]
        lines += [_memory(row, width, drawn) for row in _labelled(prompt)]
        lines += [_muted(rest)] if (rest := _rest(prompt)) else []
    for row in _labelled(told[0]) if is_alone else ():
        memory = read(row.memory_id)
        lines += [Content(""), memory_text(memory)] if memory else []
    return Content("\n").join(lines)


def memory_row_text(
    told: Sequence[Told], memory_id: str, memory: Memory | None, width: int, drawn: Signs = DRAWN
) -> Content:
    """The prompts for which a memory was injected, and the memory; None if it is gone."""
    lines = [plain("Injected for").stylize_before(HEADING)]
    lines += [_signed(prompt.text, row.is_relevant, width, drawn) for prompt, row in _of(told, memory_id)]
    return Content("\n").join([*lines, Content(""), memory_text(memory) if memory else _muted("The memory is gone.")])


def _of(told: Sequence[Told], memory_id: str) -> Iterator[tuple[Told, InjectionRow]]:
    return ((prompt, row) for prompt in told for row in _labelled(prompt) if row.memory_id == memory_id)


def _labelled(prompt: Told) -> list[InjectionRow]:
    """The memories with a label. A person who has seen what was injected could not label the others blind."""
    return [row for row in prompt.injected if row.is_relevant is not None]


def _rest(prompt: Told) -> str:
    hidden = len(prompt.injected) - len(_labelled(prompt))
    if hidden:
        return f"  {counted(hidden, 'memory')} without a label, hidden so that your label stays blind."
    return "" if prompt.injected else "  Nothing is injected."


def _counted(shown: int, whole: int) -> str:
    if shown < whole:
        return f"The first {shown} of {whole:,} prompts, the worst first"
    return "The prompt and what was injected for it" if whole == 1 else "The prompts, the worst first"


def _key(drawn: Signs) -> str:
    """The meaning of the signs."""
    return f"{drawn.verdicts['relevant']} relevant   {drawn.verdicts['not']} not relevant"


def _memory(row: InjectionRow, width: int, drawn: Signs) -> Content:
    by = f"  ({', '.join(row.systems)})" if len(row.systems) > 1 else ""
    return _signed(row.title, row.is_relevant, width - len(by), drawn) + _muted(by)


def _signed(text: str, is_relevant: bool | None, width: int, drawn: Signs) -> Content:
    verdict, tone = ("relevant", "$text-success") if is_relevant else ("not", "$text-error")
    sign = f"  {drawn.verdicts[verdict]} "
    shown = plain(cells(one_line(text), max(1, width - len(sign))).rstrip())
    return plain(sign).stylize_before(tone) + shown


def _muted(text: str) -> Content:
    return plain(text).stylize_before(MUTED)
