"""Diff: two saved runs, prompt by prompt, and the way from a prompt to Replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.content import Content
from textual.getters import query_one

from tui.dialogs.choices import ChooseRuns
from tui.keys import bindings, keyed
from tui.plain import plain
from tui.screens.list_screen import CHOOSING, ListScreen
from tui.widgets.lists.diff import DiffList, row_text, runs_text
from tui.widgets.lists.rows import RowList
from tui.workspace.replay.run_diffs import (
    CHANGED,
    RULES,
    diff_rows,
    read_diff,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.prompt import Prompt
    from tui.workspace.replay.run_diffs import DiffRow, SavedDiff

READING = "Reading the runs …"
TO_SAVE = (
    "saved for these memories.\n\nIn Replay ({go.replay}), {replay.all} replays all prompts and saves a run. "
    "After a change of settings or memories, {replay.all} saves another one. `memsift replay --save` does the same."
)
TOO_FEW = {count: f"Two runs are needed, and {count} is {TO_SAVE}" for count in ("none", "one")}
NO_CHANGE = "No prompt differs between the two runs. {diff.kind} shows all prompts, {diff.runs} chooses other runs."
NO_MATCH = "No prompt fits. {go.back} shows the prompts that differ, {diff.kind} others."
NO_RUNS = "There are no two runs to choose from."


class DiffScreen(ListScreen):
    """The difference of two runs. Without a choice, it is the latest run against the one before it."""

    MODE = "replay"
    PLACEHOLDER = "Press {list.filter} and type: words of prompts or memories"
    RULES, LIST, USUAL = RULES, DiffList, CHANGED
    ON_ROWS = ("open", "read_prompt")
    CHOOSING = (*CHOOSING, "kind", "runs")
    BINDINGS = bindings(
        shown="diff.open diff.runs diff.kind list.filter list.order",
        hidden="list.turn copy.text prompt.read",
    )
    HELP = (
        "Two saved runs: for each prompt, the memories that the later run gained and lost. A run is one system with "
        "one configuration over the same memories: a change of settings or memories begins a new one. The column "
        "Labels counts changes for the better, minus changes for the worse, by the labels on the memories."
    )

    diffs = query_one(DiffList)

    def __init__(self) -> None:
        super().__init__()
        self._found: SavedDiff | None = None
        self._rows: list[DiffRow] = []
        self._chosen: tuple[str, ...] = ()

    def begin(self) -> None:
        if self._found is None:
            self.list_pane.border_title = READING
        self.read_runs()

    @work(thread=True, exclusive=True, group="runs", exit_on_error=False)
    def read_runs(self) -> None:
        workspace = self.app.workspace
        self.call_later(self.show_diff, read_diff(workspace.store.path, workspace.index.root, self._chosen))

    def show_diff(self, found: SavedDiff) -> None:
        self._found = found
        self._rows = diff_rows(found.compared) if found.compared else []
        self.show_matching()
        self.refresh_bindings()

    # The list

    @property
    def all_rows(self) -> Sequence[DiffRow] | None:
        return self._rows if self._found else None

    def nothing(self) -> Content:
        compared = self._found.compared if self._found else None
        if compared is None:
            runs = len(self._found.runs) if self._found else 0
            return plain(keyed(self.app, TOO_FEW["one" if runs else "none"]))
        is_all = self.choice.kind == CHANGED and not self.filter_line.value
        return Content("\n\n").join([plain(keyed(self.app, NO_CHANGE if is_all else NO_MATCH)), runs_text(compared)])

    def show_title(self) -> None:
        """Say how many prompts are listed, of which kind, and which runs these are, as far as there is room."""
        compared = self._found.compared if self._found else None
        if compared is None:
            self.list_pane.border_title = "Diff"
            return
        count, kind = f"{self.diffs.count:,} of {len(self._rows):,} prompts", self.choice.kind
        listed = [f"{count} differ"] if kind == CHANGED else [count, RULES.kinds[kind].text]
        self.entitle(*listed, f"{compared.before.name} → {compared.now.name}")

    def show_current(self, *, from_start: bool = True) -> None:
        row = self.diffs.current
        if row and self._found and self._found.compared:
            texts = [row_text(row, self.diffs.marker, self.detail.text_width), runs_text(self._found.compared)]
            self.detail.show(Content("\n\n").join(texts), from_start=from_start)

    # Keys

    def action_kind(self) -> None:
        self.ask_kind("Show which prompts?", RULES.counts(self._rows))

    def action_runs(self) -> None:
        def compare(chosen: tuple[str, ...]) -> None:
            self._chosen = chosen
            self.read_runs()

        if self._found and self._found.pair:
            self.ask(ChooseRuns(self._found.runs, [run.run_id for run in self._found.pair]), compare)

    @property
    def prompt(self) -> Prompt | None:
        row = self.diffs.current
        if row is None:
            return None
        workspace = self.app.workspace
        return workspace.lists.known(row.diff.prompt_id)

    @on(RowList.Selected)
    async def action_open(self) -> None:
        """Show the prompt in Replay."""
        with self.app.telling_errors():
            if row := self.diffs.current:
                await self.go_to_prompt(row.diff.prompt_id)

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:
        if action == "runs" and not (self._found and self._found.pair):
            return NO_RUNS
        return super().why_off(action, parameters)
