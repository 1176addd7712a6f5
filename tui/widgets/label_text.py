"""Labels as text: the signs and words of verdicts, the latest labels, and the labels of a dispute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui.plain import one_line, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engine.memory import Memory
    from labels.records import Label

SIGNS = {"relevant": ("+", "good"), "not": ("−", "bad"), "unsure": ("?", "match"), "unrateable": ("!", "muted")}
"""By verdict: its sign in a row, and the tone of the sign."""

TONES = {"good": "$text-success", "bad": "$text-error", "match": "$text-warning", "muted": "$foreground-muted"}
VERDICTS = {"relevant": "Relevant", "not": "Not relevant", "unsure": "Unsure", "unrateable": "Cannot be rated"}


def recent_text(labels: Iterable[Label], memory_of: Callable[[str], Memory | None]) -> Content:
    """A line for each label: the sign of its verdict, its reason or "note", and the title of the memory."""
    lines = [_recent_line(label, memory_of) for label in labels]
    return Content("\n").join(lines) if lines else plain("Nothing yet.").stylize_before("$foreground-muted")


def _recent_line(label: Label, memory_of: Callable[[str], Memory | None]) -> Content:
    memory = memory_of(label.memory_id)
    sign, tone = SIGNS[label.verdict]
    title = one_line(memory.summary.title) if memory else label.memory_id
    why = label.reason or ("note" if label.note else "")
    return Content.styled(sign, TONES[tone]) + plain(f" {why}:" if why else "") + plain(f" {title}")


def dispute_text(labels: Iterable[Label]) -> Content:
    """A line for each label: verdict, reason and note, sorted by verdict so that the order names no annotator."""
    lines = sorted((label.verdict, ", ".join(filter(None, (label.reason, label.note)))) for label in labels)
    return Content("\n").join(
        plain(VERDICTS[verdict]).stylize_before("bold") + plain(f": {why}" if why else "") for verdict, why in lines
    )
