"""A column of the live prompt: what one system injects, and what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.binding import Binding
from textual.content import Content
from textual.widgets.option_list import Option

from engine.judge.verdict import APPROVED
from engine.search.highlight import Marker
from labels.records import NOT_RELEVANT, RELEVANT
from tui.dialogs.choices import Options
from tui.plain import cells, hanging, marked, plain
from tui.widgets.signs import signs, why_dropped

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.retrieval import Candidate, Retrieval
    from labels.records import Pair
    from tui.runner import Runner

MOST_LINES, NEAREST = 4, 3
"""Lines of the name of an injected memory at most, and memories that are shown because they nearly passed."""

EDGES = 8
"""Cells of a column beside its text: frame, padding and scrollbar."""

USEFUL = {RELEVANT: ("useful", "$text-success"), NOT_RELEVANT: ("not useful", "$text-error")}
"""Verdict of a label -> the word for it, and its colour."""


class SystemColumn(Options):
    """What one system injects, and what it leaves out of the memories that others inject."""

    app: Runner
    BINDINGS = [Binding("enter", "select", show=False)]

    def __init__(self, number: int) -> None:
        super().__init__(id=f"column{number}", classes="pane")
        self.found: dict[str, Candidate] = {}

    def on_resize(self) -> None:
        screen: Any = self.screen
        self.call_later(screen.show_columns)

    @property
    def chosen(self) -> str:
        """The id of the memory under the cursor, or ""."""
        option = self.highlighted_option
        return (option.id or "") if option else ""

    def say(self, name: str, text: str) -> None:
        """Show a *text* in place of memories."""
        self.found = {}
        self.clear_options()
        self.add_option(Option(plain(text), disabled=True))
        self.border_title, self.border_subtitle = plain(name), ""

    def show(self, name: str, answer: Retrieval, beside: Collection[str], given: Mapping[Pair, str]) -> None:
        """Show the *answer* of the system called *name*: what it injects, and below that what nearly passed.

        *beside*: the ids that any system injects, which all columns show. *given*: the verdicts of labels.
        """
        at, marker = self.chosen, Marker.of(answer.prompt)
        dropped, number = [row for row in answer.candidates if not row.injected], len(answer.injected)
        has_facts = any(row.verdict or row.probability is not None for row in answer.injected)
        room = self.size.height - (number if has_facts else 0)
        nearest = max(1, min(NEAREST, room // 2 - number))  # so that each name can have two lines
        near = [row for place, row in enumerate(dropped) if place < nearest or row.memory.id in beside]
        rows = [*answer.injected, *near]
        labels = [given.get((row.memory.id, row.memory.digest), "") for row in rows]
        lines = max(1, min(MOST_LINES, (room - 2 * len(near)) // max(1, number)))
        self.found = {row.memory.id: row for row in rows}
        self.clear_options()
        if not number:
            self.add_option(Option(plain("Nothing is injected."), disabled=True))
        for row, verdict in zip(rows, labels, strict=True):
            self.add_option(Option(self._row(row, lines if row.injected else 1, marker, verdict), row.memory.id))
        if rows:
            self.highlighted = self.get_option_index(at if at in self.found else rows[0].memory.id)
        counts = (
            f"{labels[:number].count(RELEVANT)} of {number} useful" if any(labels[:number]) else f"{number} injected"
        )
        self.border_title = plain(f"{name} · {counts}")
        self.border_subtitle = plain(answer.system if answer.system != name else "")

    def _row(self, candidate: Candidate, lines: int, marker: Marker, verdict: str) -> Content:
        """Sign and name, and below them the label, and how likely it is or why it is left out."""
        drawn, width = signs(self), max(10, self.outer_size.width - EDGES)
        memory, is_in = candidate.memory, candidate.injected
        sign, tone = (drawn.injected, "$text-success") if is_in else (drawn.dropped, "$foreground-muted")
        called = f"{memory.name}: {memory.about}" if is_in and memory.about else memory.name
        title = marked(cells(called, lines * (width - 4)).rstrip(), marker)
        word, colour = USEFUL.get(verdict, ("", ""))
        if not is_in:
            why = why_dropped(candidate)
        elif candidate.verdict:
            why = "kept by the judge" if candidate.verdict.decision == APPROVED else "the judge gave no answer"
        else:
            why = "" if candidate.probability is None else f"{100 * candidate.probability:.0f} % likely"
        facts = [plain(word).stylize_before(colour)] if word else []
        facts += [plain(why).stylize_before("$foreground-muted")] if why else []
        indent = len(sign) + 1
        head = hanging(plain(f"{sign} ").stylize_before(tone) + title.stylize_before(tone), indent, width)
        below = hanging(plain(" " * indent) + Content(" · ").join(facts), indent, width)
        return Content("\n").join([head, below]) if facts else head
