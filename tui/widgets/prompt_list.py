"""Prompts, a line each, with how far each is labelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tui.plain import cells
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.prompt import Prompt
    from tui.widgets.row_list import Cell


class PromptList(RowList):
    """A prompt with at least one label has a tick."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.prompts: Sequence[Prompt] = ()
        self.labelled: Collection[str] = ()

    def show(self, prompts: Sequence[Prompt], labelled: Collection[str]) -> None:
        """Show these; the cursor stays on its prompt if that is among them."""
        current = self.current
        self.prompts, self.labelled = prompts, labelled
        places = {prompt.id: i for i, prompt in enumerate(prompts)}
        self.set_count(len(prompts), places.get(current.id, 0) if current else 0)

    def mark_labelled(self, labelled: Collection[str]) -> None:
        self.labelled = labelled
        self.refresh()

    @property
    def current(self) -> Prompt | None:
        return self.prompts[self.cursor] if self.prompts else None

    def row_cells(self, index: int, width: int) -> list[Cell]:
        prompt = self.prompts[index]
        mark = "✓" if prompt.id in self.labelled else " "
        return [(f" {mark} ", "good"), (cells(prompt.text, width - 4) + " ", "")]
