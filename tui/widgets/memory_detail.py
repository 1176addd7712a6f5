"""All that Browse shows of a memory: its fields, related files, prompts and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui.plain import marked, one_line, plain
from tui.widgets.label_text import SIGNS
from tui.widgets.memory_pane import HEADING, MUTED, NO_MARKS, head_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.memory import Memory, Section
    from engine.search.highlight import Marker
    from tui.workspace.curate.memory_facts import Facts

SHORT_LINE = 60
"""Characters of a field of a single line that stands behind its heading, in place of below it."""

MOST_PROMPTS, MOST_DEEDS, MOST_PROMPT = 8, 8, 200


def detail_text(
    memory: Memory, facts: Facts, related: Sequence[tuple[str, bool]], marker: Marker = NO_MARKS
) -> Content:
    """The memory, its related files with a sign for those that are there, its prompts and its changes."""
    return Content("\n").join(
        [
            *head_lines(memory.summary, marker),
            *_fields(memory.sections, marker),
            *_related(related),
            *_prompts(memory, facts),
            *_deeds(memory, facts),
        ]
    )


def prompt_line(prompt_id: str, verdict: str, facts: Facts) -> str:
    """A prompt on one line, behind the sign of its label."""
    return f"{SIGNS.get(verdict, ('·', ''))[0]} {one_line(facts.texts.get(prompt_id, prompt_id)[:MOST_PROMPT])}"


def _fields(sections: Iterable[Section], marker: Marker) -> list[Content]:
    """Short fields on one line each; others below their heading, after an empty line."""
    lines: list[Content] = []
    was_short = False
    for section in sections:
        is_short = bool(section.heading) and len(section.lines) == 1 and len(section.lines[0]) <= SHORT_LINE
        if not (is_short and was_short):
            lines.append(Content(""))
        was_short = is_short
        heading = plain(section.heading).stylize_before(HEADING)
        if is_short:
            lines.append(heading + "  " + marked(section.lines[0], marker))
        else:
            lines += [*([heading] if section.heading else []), *(marked(line, marker) for line in section.lines)]
    return lines


def _related(related: Sequence[tuple[str, bool]]) -> list[Content]:
    signs = {True: ("✓ ", ""), False: ("✗ ", " (not there)")}
    lines = [plain(f"{signs[is_there][0]}{one_line(name)}{signs[is_there][1]}") for name, is_there in related]
    return _part("Related files", lines)


def _prompts(memory: Memory, facts: Facts) -> list[Content]:
    summary = memory.summary
    found = facts.prompts.get(summary.id, ())
    lines = [plain(prompt_line(prompt_id, verdict, facts)) for prompt_id, verdict in found[:MOST_PROMPTS]]
    if len(found) > MOST_PROMPTS:
        lines.append(plain(f"and {len(found) - MOST_PROMPTS:,} more").stylize_before(MUTED))
    if hidden := facts.hidden.get(summary.id, 0):
        lines.append(plain(f"{hidden:,} more are hidden until you label them.").stylize_before(MUTED))
    if injected := facts.injected(summary.id):
        lines.append(plain(f"The hook injected it {injected:,} times.").stylize_before(MUTED))
    return _part(f"Prompts that pulled it in{' · p goes there' if found else ''}", lines)


def _deeds(memory: Memory, facts: Facts) -> list[Content]:
    deeds = facts.deeds.get(memory.summary.id, ())
    rows = [(one.at[:10], one.summary, " (taken back)" if one.undone_by else "") for one in reversed(deeds)]
    lines = [plain(f"{at}  {one_line(summary)}{mark}") for at, summary, mark in rows[:MOST_DEEDS]]
    return _part("Changes", lines)


def _part(heading: str, lines: list[Content]) -> list[Content]:
    return [Content(""), plain(heading).stylize_before(HEADING), *lines] if lines else []
