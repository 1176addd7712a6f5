"""The findings of the checks as a list, and one finding with its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui.plain import marked, one_line, plain
from tui.widgets.lists.columns import Column, ColumnList
from tui.widgets.lists.memories import severity_tone, severity_word
from tui.widgets.memory_pane import HEADING, MUTED, memory_text
from tui.workspace.curate.findings import BY_CHECK, BY_TITLE, WORST, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.memory import Memory
    from tui.plain import Marks

COLUMNS = (
    Column(
        lambda task: severity_word(task.finding.severity),
        "Severity",
        WORST,
        width=10,
        tone=lambda task: severity_tone(task.finding.severity),
    ),
    Column(lambda task: task.finding.check, "Check", BY_CHECK, width=11),
    Column(lambda task: task.title, "Memory", BY_TITLE, tone=lambda _: "", has_marks=True),
    Column(lambda task: task.finding.reason, "Why", width=36, from_width=78, has_marks=True),
)


class InboxList(ColumnList[Task]):
    """Findings, a row each."""

    NOUN = "finding"

    columns = COLUMNS

    def id_of(self, record: Task) -> str:
        return record.id


def task_text(task: Task, memories: Sequence[Memory], marker: Marks, say: Callable[[str], str]) -> Content:
    """The reason, the way to settle it, the model's rating, and the memories that it is about.

    *say* puts keys in the place of their ids.
    """
    finding = task.finding
    where = f" · {one_line(finding.where)}" if finding.where else ""
    lines = [
        plain(f"{finding.check} · {severity_word(finding.severity)} severity{where}").stylize_before(MUTED),
        marked(f"{finding.reason[:1].upper()}{finding.reason[1:]}", marker).stylize_before("bold"),
        plain(say(_ways(task)) if task.memory else one_line(finding.action)),
    ]
    if task.rated:
        rating = f"{one_line(task.rated.model)} rates it {task.rated.overall:.1f}: {one_line(task.rated.decision)}"
        lines.append(plain(rating).stylize_before(MUTED))
    for memory in memories:
        lines += [Content(""), plain("─" * 24).stylize_before(HEADING), memory_text(memory)]
    return Content("\n").join(lines)


def _ways(task: Task) -> str:
    """The keys that settle a finding about a memory."""
    if task.others:
        return "{change.merge} merges them · {change.retire} retires this one · {inbox.approve} says that both are fine"
    if task.finding.check == "safety":
        return "{inbox.approve} approves it · {inbox.block} keeps it out · {change.retire} retires it"
    return "{change.edit} edits it · {change.retire} retires it · {inbox.approve} says that it is fine"
