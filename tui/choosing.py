"""The first start: memories were found on this machine, but none in this project; which of them shall be opened?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from tui.bindings import bindings
from tui.dialogs.choices import Options
from tui.plain import plain
from tui.plain_app import PlainApp
from tui.workspace.opening import DEMO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from tui.workspace.opening import FoundRoot

HERE = "This project has no memories yet. Enter opens one of these:"
NOTHING = "There are no memories on this machine yet. Enter opens the example:"


class FirstStartApp(PlainApp[str]):
    """A list of *places* and the demo. It ends with the root that a person opens, with DEMO, or with None."""

    TITLE = "memsift"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { align: center middle; }
    Vertical { width: 96%; max-width: 90; height: auto; max-height: 100%; }
    Options { height: auto; max-height: 70vh; margin-top: 1; border: none; }
    """
    BINDINGS = bindings(shown="app.quit")

    def __init__(self, places: Sequence[FoundRoot], *, is_plain: bool = False) -> None:
        super().__init__(is_plain=is_plain)
        self._places = places

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(plain(HERE if self._places else NOTHING))
            found = [
                Option(plain(f"{place.root}\n  {place.text}\n"), str(number))
                for number, place in enumerate(self._places)
            ]
            yield Options(*found, Option(plain("Example data\n  an invented library system, with a judge\n"), DEMO))
        yield Footer(compact=True, show_command_palette=False)

    @on(OptionList.OptionSelected)
    def open(self, event: OptionList.OptionSelected) -> None:
        chosen = str(event.option.id)
        self.exit(DEMO if chosen == DEMO else self._places[int(chosen)].root)
