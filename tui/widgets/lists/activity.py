"""The hook's log as a list, and one entry of it in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from engine.agents.registry import title_of
from engine.conversations.activity_log import SLOW_MS
from tui.plain import cells, hanging, marked, one_line, plain
from tui.widgets.lists.columns import Column, ColumnList
from tui.widgets.memory_pane import HEADING, MUTED
from tui.widgets.signs import DRAWN, DROPPED
from tui.workspace.activity_rows import BY_PROMPT, MOST, NEWEST, SLOWEST, ActivityEntry

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.memory import Memory
    from tui.plain import Marks
    from tui.widgets.signs import Signs

MOST_DROPPED, WORD_WIDTH = 20, 10
NO_TEXT = (
    "The text of this prompt is unknown: the log holds only its SHA-256, and no open file has the prompt. So it "
    "cannot be replayed or labelled. `memsift config set logging.prompts true` keeps the texts from now on."
)


def _time(entry: ActivityEntry) -> str:
    return entry.decision.time[5:16].replace("T", " ")


def _duration(entry: ActivityEntry) -> str:
    return f"{entry.decision.ms:,.0f} ms"


def _duration_tone(entry: ActivityEntry) -> str:
    return "bad" if entry.decision.ms >= SLOW_MS else "muted"


def _number(entry: ActivityEntry) -> str:
    return str(len(entry.decision.injected) or "–")


def _outcome_tone(entry: ActivityEntry) -> str:
    if entry.decision.fallback:
        return "match"
    return "good" if entry.decision.injected else "muted"


COLUMNS = (
    Column(_time, "When (UTC)", NEWEST, width=12),
    Column(
        lambda entry: entry.name,
        "Prompt",
        BY_PROMPT,
        tone=lambda entry: "" if entry.prompt else "muted",
        has_marks=True,
    ),
    Column(_number, "Inj.", MOST, width=6, gap=2, tone=_outcome_tone, is_number=True),
    Column(lambda entry: entry.outcome, "Memories, or why none", width=30, from_width=74, tone=_outcome_tone),
    Column(_duration, "Took", SLOWEST, width=9, tone=_duration_tone, is_number=True),
)


class ActivityList(ColumnList[ActivityEntry]):
    """The decisions of the hook, a row each."""

    NOUN = "answer of the hook"

    columns = COLUMNS

    def id_of(self, record: ActivityEntry) -> str:
        return str(record.number)


def entry_text(
    entry: ActivityEntry,
    memory_of: Callable[[str], Memory | None],
    marker: Marks,
    note: str,
    width: int,
    drawn: Signs = DRAWN,
) -> Content:
    """When, the prompt, the injected memories, and why each of the others was dropped, on a line of *width* cells.

    *note* ends the head.
    """
    decision = entry.decision
    facts = (
        f"{decision.time[:19].replace('T', ' ')} UTC",
        _duration(entry),
        title_of(decision.agent),
        decision.system,
        f"session {decision.session_id[:8]}",
    )
    head = " · ".join((*filter(None, facts), *filter(None, (note,))))
    return Content("\n").join(
        [
            plain(head).stylize_before(MUTED),
            Content(""),
            marked(entry.prompt, marker) if entry.prompt else plain(NO_TEXT),
            *_outcome(entry, memory_of, width, drawn),
            *_dropped(entry, memory_of, width),
        ]
    )


def _outcome(
    entry: ActivityEntry, memory_of: Callable[[str], Memory | None], width: int, drawn: Signs
) -> list[Content]:
    decision, sign = entry.decision, Content.styled(f"{drawn.injected} ", "$text-success")
    titles = (plain(_title(memory_id, memory_of)) for memory_id in decision.injected)
    lines = [hanging(sign + title, sign.cell_length, width) for title in titles]
    lines += [plain(f"Nothing: {one_line(decision.reason) or 'no memory'}.")] if not decision.injected else []
    lines += [plain(f"The judge fell back: {one_line(decision.fallback)}.")] if decision.fallback else []
    heading = f"Injected · {decision.characters:,} characters" if decision.injected else "Injected"
    return [Content(""), plain(heading).stylize_before(HEADING), *lines]


def _dropped(entry: ActivityEntry, memory_of: Callable[[str], Memory | None], width: int) -> list[Content]:
    found = entry.decision.dropped
    if not found:
        return []
    room = width - WORD_WIDTH
    rows = [(DROPPED.get(stage, stage), _title(name, memory_of)) for name, stage in found[:MOST_DROPPED]]
    lines = [plain(f"{cells(word, WORD_WIDTH - 2)}  {cells(title, room).rstrip()}") for word, title in rows]
    rest = len(found) - MOST_DROPPED
    lines += [plain(f"and {rest:,} more").stylize_before(MUTED)] if rest > 0 else []
    return [Content(""), plain("Dropped, and why").stylize_before(HEADING), *lines]


def _title(memory_id: str, memory_of: Callable[[str], Memory | None]) -> str:
    memory = memory_of(memory_id)
    return one_line(f"{memory.summary.title} ({memory_id})" if memory else f"{memory_id} (not here any more)")
