"""Labels as text: the tones of verdicts, and the labels of a dispute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from tui.plain import plain
from tui.widgets.signs import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labels.records import Label

TONES = {"relevant": "good", "not": "bad", "unsure": "match", "unrateable": "muted"}
"""By verdict: the tone of its sign in a row."""


def dispute_text(labels: Iterable[Label]) -> Content:
    """A line for each label: verdict, reason and note, sorted by verdict so that the order names no annotator."""
    lines = sorted((label.verdict, ", ".join(filter(None, (label.reason, label.note)))) for label in labels)
    return Content("\n").join(
        plain(VERDICTS[verdict]).stylize_before("bold") + plain(f": {why}" if why else "") for verdict, why in lines
    )
