"""The dialog in which a person types or pastes a prompt, with its ranking below, which follows the typing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Vertical
from textual.getters import query_one
from textual.widgets import TextArea

from engine.config import SYSTEMS
from engine.prompt import typed_prompt
from tui.dialogs.dialog import Dialog
from tui.keys import bindings
from tui.widgets.ranking_table import RankingPane, ranking_rows

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.timer import Timer

    from engine.retrieval import Retrieval
    from tui.workspace.workspace import Workspace

REST_SECONDS = 0.15
"""The ranking is made when nothing was typed for this time."""

NOT_ASKED = "So far, without the judge. Nothing is recorded."
NOTHING_FITS = "No memory fits the text so far."


class TypePrompt(Dialog[str | None]):
    """An editor of many lines. Gives its text without spaces and empty lines around it, or None if there is none."""

    AUTO_FOCUS = "TextArea"
    BINDINGS = bindings(shown="type.send")

    editor = query_one(TextArea)
    ranking = query_one(RankingPane)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        quick = [name for name in workspace.heads if name in SYSTEMS and name not in workspace.with_judge]
        self._systems = quick or [workspace.first.name]
        self._resting: Timer | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            yield TextArea(placeholder="Type or paste a prompt. Enter begins a new line.")
            yield RankingPane()
        box.border_title = "A prompt to replay"

    def on_mount(self) -> None:
        self.ranking.name_systems(tuple(self._systems))
        self.ranking.tell_judge(NOT_ASKED)

    @property
    def text(self) -> str:
        return self.editor.text.strip()

    @on(TextArea.Changed)
    def rank_soon(self) -> None:
        if self._resting:
            self._resting.stop()
        self._resting = self.set_timer(REST_SECONDS, lambda: self.rank(self.text))

    @work(thread=True, exclusive=True, group="ranking", exit_on_error=False)
    def rank(self, text: str) -> None:
        prompt = typed_prompt(text)
        self.call_later(self.show_ranking, text, [self._workspace.run(prompt, name) for name in self._systems])

    def show_ranking(self, text: str, answers: list[Retrieval]) -> None:
        """Show the answers to *text*, unless it has changed since."""
        if text == self.text:
            rows = ranking_rows(self._systems, answers, {})
            self.ranking.show(rows, self._workspace.marker(typed_prompt(text)))
            self.ranking.tell_judge(NOT_ASKED if rows or not text else NOTHING_FITS)

    def action_send(self) -> None:
        self.dismiss(self.text or None)
