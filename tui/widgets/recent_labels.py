"""The latest labels, newest first, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui.plain import one_line, plain
from tui.widgets.ranking_table import SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.search.index import Index
    from labels.records import Label

TONES = {"good": "$text-success", "bad": "$text-error", "match": "$text-warning", "muted": "$foreground-muted"}


def recent_text(labels: Iterable[Label], index: Index) -> Content:
    """A line for each: the sign of its verdict, its reason or that it has a note, and the memory's title."""
    lines = [_line(label, index) for label in labels]
    return Content("\n").join(lines) if lines else plain("Nothing yet.").stylize_before("$foreground-muted")


def _line(label: Label, index: Index) -> Content:
    memory = index.memory(label.memory_id)
    sign, tone = SIGNS[label.verdict]
    title = one_line(memory.summary.title) if memory else label.memory_id
    why = label.reason or ("note" if label.note else "")
    return Content.styled(sign, TONES[tone]) + plain(f" {why}:" if why else "") + plain(f" {title}")
