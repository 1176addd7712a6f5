"""The reveal: the ranking of a prompt whose cards are all labelled, with ranks, scores and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from tui.key_names import keyed
from tui.plain import plain
from tui.widgets.explain_text import judge_sentence
from tui.widgets.ranking_table import RankingPane, ranking_rows

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.prompt import Prompt
    from tui.workspace.workspace import Workspace

DONE = "Done: what you said, and what each system does. Press {label.next} to go on; {mark.undo} takes your label back."


class Reveal(RankingPane):
    """The ranking, under a sentence that tells how to go on."""

    def compose(self) -> ComposeResult:
        yield Static(plain(keyed(self.app, DONE)), id="revealed", classes="pane")
        yield from super().compose()

    def show_prompt(self, workspace: Workspace, prompt: Prompt) -> None:
        """Show a prompt in its systems, as far as they have answered."""
        judged = workspace.judged and workspace.retrieval(prompt.id, workspace.judged.name)
        rows = ranking_rows(workspace.heads, workspace.answers(prompt.id), workspace.labels(prompt.id))
        self.show(rows, workspace.marker(prompt))
        self.tell_judge(judge_sentence(judged or None))
        self.name_systems(workspace.heads)

    def tell_action(self, words: str) -> None:
        """Say which action the reason of a label asks for, and its key."""
        self.query_one("#revealed", Static).update(plain(f"{keyed(self.app, DONE)} {words}".strip()))
