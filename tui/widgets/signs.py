"""The signs of lists and texts in one place; in plain mode, words stand in their place. signs.toml has all of them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.cutoff import percents
from engine.lean.sections import text_beside
from tui.workspace.systems import DROPPED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.dom import DOMNode

    from engine.retrieval import Candidate

PLAIN = "-plain"
"""The class of an app in plain mode, which is for screen readers."""

CHANGE_WIDTH = 6
"""Cells of the numbers of three systems, and a space before them."""


@dataclass(frozen=True)
class Signs:
    """What stands before or behind a text to say its state. `off` takes the place of a sign that does not hold.

    `verdicts`: by verdict of a label. `in_words`: whether these are words, and nothing is drawn with characters.
    """

    selected: str
    labelled: str
    off: str
    injected: str
    dropped: str
    rejected: str
    unlabelled: str
    is_there: str
    is_missing: str
    opens: str
    moved: str
    now: str
    saved: str
    back: str
    rising: str
    falling: str
    verdicts: Mapping[str, str]
    in_words: bool

    def change(self, counts: tuple[int, ...]) -> str:
        """The numbers of memories that systems inject, as far as they differ: 3→1, or 2≠2 for as many others."""
        if self.in_words:
            return f" systems differ, {' and '.join(map(str, counts))} memories" if counts else ""
        return ("→" if len(set(counts)) > 1 else "≠").join(map(str, counts)).rjust(CHANGE_WIDTH)


_TABLES = tomllib.loads(text_beside(__file__, "signs.toml"))
DRAWN, SPOKEN = (Signs(**_TABLES[name], in_words=name == "spoken") for name in ("drawn", "spoken"))
VERDICTS: dict[str, str] = _TABLES["verdicts"]


def why_dropped(candidate: Candidate) -> str:
    """The stage that dropped a memory; of the cutoff, both chances: "28 %, needs 33 %"."""
    if candidate.dropped_by != "cutoff" or candidate.needs is None:
        return DROPPED.get(candidate.dropped_by, "")
    share, needed = percents(candidate.probability or 0.0, candidate.needs)
    return f"{share}, needs {needed}"


def signs(node: DOMNode) -> Signs:
    """The signs of the app of *node*: words in plain mode."""
    app: Any = node.app
    return SPOKEN if app.has_class(PLAIN) else DRAWN
