"""A whole memory as text: title, what is known of it, and its body, with matches marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from engine.search.marks import Marker
from tui.plain import marked, plain
from tui.widgets.memory_list import category_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.memory import Memory, MemorySummary, Section

MUTED = "$foreground-muted"
NOTHING = Marker()


def memory_text(memory: Memory, marker: Marker = NOTHING) -> Content:
    """The memory as a person reads it."""
    return Content("\n").join([*head_lines(memory.summary, marker), *_body_lines(memory.sections, marker)])


def head_lines(summary: MemorySummary, marker: Marker = NOTHING) -> list[Content]:
    """Title, category and dates, tags, path."""
    dates = [f"updated {summary.updated_at[:10]}"] if summary.updated_at else []
    status = [] if summary.status == "active" else [summary.status]
    facts = " · ".join([category_name(summary.category), *status, *dates])
    tags = marked("#" + " #".join(summary.tags), marker) if summary.tags else Content("")
    return [
        marked(summary.title, marker).stylize_before("bold"),
        plain(facts).stylize_before(MUTED),
        *([tags.stylize_before(MUTED)] if summary.tags else []),
        plain(summary.path).stylize_before(MUTED),
    ]


def _body_lines(sections: Iterable[Section], marker: Marker) -> list[Content]:
    lines: list[Content] = []
    for section in sections:
        lines.append(Content(""))
        if section.heading:
            lines.append(plain(section.heading).stylize_before("bold $text-primary"))
        lines += [marked(line, marker) for line in section.lines]
    return lines
