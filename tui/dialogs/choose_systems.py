"""The dialog that chooses the systems side by side, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import SelectionList, Static
from textual.widgets.selection_list import Selection

from tui.bindings import bindings
from tui.dialogs.choices import OPTION_KEYS
from tui.plain import plain
from tui.workspace.replay.columns import MOST_COLUMNS, described

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from engine.systems import System

HINT = "space selects, enter agrees, esc leaves"
TOO_MANY = f"At most {MOST_COLUMNS} systems have room. Take one out first."
NONE = "Select at least one system."


class Systems(SelectionList[str]):
    """Systems with a box each, gone through with arrows and with the keys of vim."""

    BINDINGS = OPTION_KEYS


class ChooseSystems(ModalScreen[tuple[str, ...] | None]):
    """Systems with a box each, and a cross in those of *current*. Gives the names with a cross, or None."""

    DEFAULT_CSS = """
    ChooseSystems {
        align: center middle;
        Vertical {
            width: 90%; max-width: 90; height: auto; max-height: 90%;
            background: $surface; border: round $primary; border-title-color: $text;
        }
        SelectionList, SelectionList:focus { background: $surface; border: none; padding: 0; height: auto; }
        .selection-list--button { color: $surface; background: $surface; }
        .selection-list--button-highlighted { color: $panel; background: $panel; }
        Static { padding: 0 1; color: $foreground-muted; height: auto; }
    }
    """
    BINDINGS = bindings(hidden="pick.leave columns.agree", at_once="columns.agree")

    systems: query_one[SelectionList[str]] = query_one(SelectionList)
    note = query_one(Static)

    def __init__(self, possible: Sequence[System], current: Sequence[str]) -> None:
        super().__init__()
        self._possible, self._current = possible, current

    def compose(self) -> ComposeResult:
        width = max(len(system.name) for system in self._possible)
        with Vertical() as box:
            yield Systems(
                *(
                    Selection(plain(f"{one.name:<{width}}  {described(one)}"), one.name, one.name in self._current)
                    for one in self._possible
                )
            )
            yield Static()
        box.border_title = "Which systems side by side?"
        box.border_subtitle = HINT

    @on(SelectionList.SelectedChanged)
    def clear_note(self) -> None:
        self.note.update("")

    def action_agree(self) -> None:
        chosen = self.systems.selected
        if 0 < len(chosen) <= MOST_COLUMNS:
            self.dismiss(tuple(chosen))
        else:
            self.note.update(plain(TOO_MANY if chosen else NONE))

    def action_leave(self) -> None:
        self.dismiss(None)
