"""The text about a row of the report: the prompts or the memory that it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from engine.wording import counted
from tui.plain import cells, one_line, plain
from tui.widgets.memory_pane import HEADING, MUTED, memory_text
from tui.widgets.signs import DRAWN, Signs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engine.memory import Memory
    from tui.workspace.report.rows import InjectionRow, Told

LINES = 3
"""Lines of a prompt that stands alone."""


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
