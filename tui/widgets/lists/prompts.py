"""Prompts: a list of them, the present one in a pane, and one as a whole text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from engine.agents.registry import OF_DEFAULT, agent_in
from engine.prompt import Prompt
from labels.records import CHOSEN
from tui.keys import keyed
from tui.plain import TITLE_EDGES, beginning, cells, joined, plain
from tui.widgets.lists.rows import RowList, marked_cells
from tui.widgets.signs import signs
from tui.workspace.filtering import WordFilter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tui.widgets.lists.rows import Cell


SCRATCH, BY_HAND = "typed ", "by hand "
"""Words before prompts beside the labelled sample, and before prompts that a person added to it."""


class PromptList(RowList[Prompt]):
    """Prompts, a row each, with a sign before those whose id is in `labelled`.

    `differing`: prompt id -> how many memories each system injects, where they differ. The first `scratch` rows are
    scratch. `marker` marks the words of a search.
    """

    NOUN = "prompt"
    labelled: Collection[str] = ()
    differing: Mapping[str, tuple[int, ...]] = {}
    scratch = 0
    marker = WordFilter()
    _title: Sequence[str] = ()

    def entitle(self, parts: Iterable[str]) -> None:
        """Show as many *parts* above the list, without empty ones, as it has room for."""
        self._title = [*filter(None, parts)]
        self.on_resize()

    def on_resize(self) -> None:
        self.border_title = plain(joined(self._title, self.size.width - TITLE_EDGES))

    def mark_labelled(self, labelled: Collection[str]) -> None:
        self.labelled = labelled
        self.refresh()

    @property
    def is_on_scratch(self) -> bool:
        """Whether the cursor is on a scratch prompt."""
        return self.cursor < self.scratch

    def id_of(self, record: Prompt) -> str:
        return record.id

    def row_text(self) -> str:
        """The whole prompt under the cursor, without the signs before it."""
        return self.current.text if self.current else ""

    def row_cells(self, index: int, width: int) -> list[Cell]:
        prompt = self.records[index]
        drawn = signs(self)
        mark = drawn.labelled if prompt.id in self.labelled else drawn.off
        agent = agent_in(prompt.source) if prompt.source.partition(":")[0] not in OF_DEFAULT else ""
        word = SCRATCH if index < self.scratch else BY_HAND if prompt.source == CHOSEN else agent and f"{agent} "
        differs = drawn.change(self.differing.get(prompt.id, ()))
        head = [(f" {mark}", "good"), (differs, "warned"), (f" {word}", "muted")]
        text = cells(prompt.text, width - 1 - sum(len(piece) for piece, _ in head))
        return [*head, *marked_cells(text, self.marker, ""), (" ", "")]


NOT_BLIND = "Prompt · not blind: you have seen its ranks"


class PromptPane(Static):
    """The prompt whose cards are asked about; a long prompt is cut."""

    has_turns = False

    def show(self, prompt: Prompt | None) -> None:
        self.has_turns = bool(prompt and prompt.turns)
        self.name_blindness(is_blind=True)
        self.update(beginning(prompt.text) if prompt else "")

    def name_blindness(self, *, is_blind: bool) -> None:
        """Say quietly that labels of this prompt do not count as blind."""
        turns = " · {prompt.read} shows the turns before it" if self.has_turns else ""
        self.border_title = plain(keyed(self.app, f"Prompt{turns}" if is_blind else NOT_BLIND))


def spoken(speaker: str, text: str) -> Content:
    """A turn or a prompt under the name of its speaker."""
    return plain(f"{speaker}\n").stylize_before("bold $text-primary") + plain(text)


def turns_text(prompt: Prompt) -> Content | None:
    """The turns before the prompt, oldest first, with an empty line behind them; None if there are none."""
    turns = [spoken(turn.role, turn.text) for turn in prompt.turns]
    return Content("\n\n").join([*turns, Content("")]) if turns else None
