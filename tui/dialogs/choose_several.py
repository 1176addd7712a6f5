"""Dialogs that choose several of a few: the systems side by side, and the two runs to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.getters import query_one
from textual.strip import Strip
from textual.widgets import SelectionList, Static
from textual.widgets.selection_list import Selection

from tui.bindings import bindings
from tui.dialogs.choices import OPTION_KEYS
from tui.dialogs.dialog import Dialog
from tui.plain import plain
from tui.workspace.replay.run_diffs import run_line
from tui.workspace.systems import MOST_COLUMNS, described

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from textual.app import ComposeResult

    from engine.config import System
    from labels.runs import SavedRun

HINT = "space selects, {columns.agree} agrees, {pick.leave} leaves"
TOO_MANY = f"At most {MOST_COLUMNS} systems have room. Take one out first."
CROSS = "X"
NONE = "Select at least one system."
NOT_TWO = "Select two runs."
TWO = 2


class Boxes(SelectionList[str]):
    """Options with a box each, gone through with arrows and with the keys of vim."""

    BINDINGS = OPTION_KEYS

    def render_line(self, y: int) -> Strip:
        """Draw no cross in an empty box. Textual draws it always, and tells by colour alone whether it counts."""
        strip = super().render_line(y)
        at = next(
            (segment.style.meta["option"] for segment in strip if segment.style and "option" in segment.style.meta),
            None,
        )
        if at is None or self.get_option_at_index(at).value in self.selected:
            return strip
        return Strip([segment._replace(text=" ") if segment.text == CROSS else segment for segment in strip])


class ChooseSeveral(Dialog[tuple[str, ...] | None]):
    """*options*, value -> text, with a cross in those of *current*. Gives the values with a cross, or None."""

    DEFAULT_CSS = """
    ChooseSeveral {
        Vertical { width: 100%; max-width: 90; height: auto; max-height: 90%; }
        SelectionList, SelectionList:focus { background: $surface; border: none; padding: 0; height: auto; }
        .selection-list--button { color: $surface; background: $surface; }
        .selection-list--button-highlighted { color: $panel; background: $panel; }
        Static { padding: 0 1; color: $foreground-muted; height: auto; }
    }
    """
    BINDINGS = bindings(hidden="pick.leave columns.agree", at_once="columns.agree")
    QUESTION = ""

    boxes: query_one[SelectionList[str]] = query_one(SelectionList)
    note = query_one(Static)

    def __init__(self, options: Mapping[str, str], current: Collection[str]) -> None:
        super().__init__()
        self._options, self._current = options, current

    def refusal(self, chosen: Sequence[str]) -> str:
        """The reason why *chosen* cannot be agreed to; empty if it can."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            yield Boxes(
                *(Selection(plain(text), value, value in self._current) for value, text in self._options.items())
            )
            yield Static()
        self.head(box, self.QUESTION, HINT)

    @on(SelectionList.SelectedChanged)
    def clear_note(self) -> None:
        self.note.update("")

    def action_agree(self) -> None:
        chosen = tuple(self.boxes.selected)
        if refusal := self.refusal(chosen):
            self.note.update(plain(refusal))
        else:
            self.dismiss(chosen)


class ChooseSystems(ChooseSeveral):
    """The systems side by side, by name."""

    QUESTION = "Which systems side by side?"

    def __init__(self, possible: Sequence[System], current: Sequence[str]) -> None:
        width = max(len(system.name) for system in possible)
        super().__init__({system.name: f"{system.name:<{width}}  {described(system)}" for system in possible}, current)

    def refusal(self, chosen: Sequence[str]) -> str:
        if len(chosen) > MOST_COLUMNS:
            return TOO_MANY
        return "" if chosen else NONE


class ChooseRuns(ChooseSeveral):
    """Two saved runs, by id. A third takes the place of the one that was selected first."""

    QUESTION = "Which two runs?"

    def __init__(self, runs: Sequence[SavedRun], current: Collection[str]) -> None:
        width = max((len(run.system) for run in runs), default=0)
        lines = {run.run_id: run_line(number, run, width) for number, run in enumerate(runs, start=1)}
        super().__init__(lines, current)

    @on(SelectionList.SelectedChanged)
    def keep_two(self) -> None:
        if len(self.boxes.selected) > TWO:
            self.boxes.deselect(self.boxes.selected[0])

    def refusal(self, chosen: Sequence[str]) -> str:
        return "" if len(chosen) == TWO else NOT_TWO
