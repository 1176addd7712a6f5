"""The signs of lists and texts in one place; in plain mode, words stand in their place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tui.workspace.systems import DROPPED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.dom import DOMNode

    from engine.retrieval import Candidate

PLAIN = "-plain"
"""The class of an app in plain mode, which is for screen readers."""

DRAWN_VERDICTS = {"relevant": "+", "not": "−", "unsure": "?", "unrateable": "!"}
VERDICTS = {"relevant": "Relevant", "not": "Not relevant", "unsure": "Unsure", "unrateable": "Cannot be rated"}


def why_dropped(candidate: Candidate) -> str:
    """The stage that dropped a memory; of the cutoff, both chances: "28 %, needs 33 %"."""
    share, _, needs = candidate.reason.partition(" likely to be relevant; ")
    is_unlikely = candidate.dropped_by == "cutoff" and needs
    return f"{share}, needs {needs.rpartition('needs ')[2]}" if is_unlikely else DROPPED.get(candidate.dropped_by, "")


@dataclass(frozen=True)
class Signs:
    """What stands before or behind a text to say its state. `off` takes the place of a sign that does not hold.

    `verdicts`: by verdict of a label. `in_words`: whether these are words, and nothing is drawn with characters.
    """

    selected: str = "● "
    labelled: str = "✓"
    off: str = " "
    injected: str = "✓"
    dropped: str = "·"
    rejected: str = "✗"
    unlabelled: str = "·"
    is_there: str = "✓ "
    is_missing: str = "✗ "
    opens: str = " ›"
    moved: str = "▸"
    now: str = "▸"
    saved: str = "·"
    back: str = "‹"
    rising: str = "▲"
    falling: str = "▼"
    verdicts: Mapping[str, str] = field(default_factory=lambda: DRAWN_VERDICTS)
    in_words: bool = False

    def change(self, counts: tuple[int, ...]) -> str:
        """The numbers of memories that systems inject, as far as they differ: 3→1, or 2≠2 for as many others."""
        if self.in_words:
            return f" systems differ, {' and '.join(map(str, counts))} memories" if counts else ""
        return ("→" if len(set(counts)) > 1 else "≠").join(map(str, counts)).rjust(CHANGE_WIDTH)


CHANGE_WIDTH = 6
"""Cells of the numbers of three systems, and a space before them."""

DRAWN = Signs()
SPOKEN = Signs(
    selected="selected ",
    labelled="labelled",
    off="",
    injected="injected",
    dropped="left out",
    rejected="left out",
    unlabelled="no label:",
    is_there="",
    is_missing="",
    opens=" opens",
    moved="",
    now="now",
    saved="saved",
    back="goes back to",
    rising="",
    falling="",
    verdicts={name: f"{words.lower()}:" for name, words in VERDICTS.items()},
    in_words=True,
)


def signs(node: DOMNode) -> Signs:
    """The signs of the app of *node*: words in plain mode."""
    app: Any = node.app
    return SPOKEN if app.has_class(PLAIN) else DRAWN
