"""Diff: two saved runs, prompt by prompt, and the way from a prompt to Replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.content import Content

from tui.dialogs.choices import ChooseRuns
from tui.keys import bindings, keyed
from tui.plain import plain
from tui.screens.base_screen import ModeScreen
from tui.screens.filtered_list import FilteredList
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

PLACEHOLDER = "Press {list.filter} and type: words of prompts or memories"
READING = "Reading the runs …"
TO_SAVE = (
    "saved for these memories.\n\nIn Replay ({go.replay}), {replay.all} replays all prompts and saves a run. "
    "After a change of settings or memories, {replay.all} saves another one. `memsift replay --save` does the same."
)
TOO_FEW = {count: f"Two runs are needed, and {count} is {TO_SAVE}" for count in ("none", "one")}
NO_CHANGE = "No prompt differs between the two runs. {diff.kind} shows all prompts, {diff.runs} chooses other runs."
NO_MATCH = "No prompt fits. {go.back} shows the prompts that differ, {diff.kind} others."
NO_RUNS = "There are no two runs to choose from."


class DiffScreen(ModeScreen):
    """The difference of two runs. Without a choice, it is the latest run against the one before it."""

    TAB = "replay"
    CSS_PATH = "filtered_list.tcss"
    AUTO_FOCUS = "DiffList"
    ON_ROWS = ("open", "read_prompt")
    CHOOSING = ("kind", "runs")
    BINDINGS = bindings(
        shown="diff.open diff.runs diff.kind list.filter list.order",
        hidden="list.turn copy.text prompt.read",
    )
    HELP = (
        "Two saved runs: for each prompt, the memories that the later run gained and lost. A run is one system with "
        "one configuration over the same memories: a change of settings or memories begins a new one. The column "
        "Labels counts changes for the better, minus changes for the worse, by the labels on the memories."
    )

    def __init__(self) -> None:
        super().__init__()
        self.diffs = DiffList()
        self.listing = FilteredList(self, self.diffs, RULES, PLACEHOLDER, usual=CHANGED)
        self.hold(self.listing)
        self._found: SavedDiff | None = None
        self._rows: list[DiffRow] = []
        self._chosen: tuple[str, ...] = ()

    def begin(self) -> None:
        if self._found is None:
            self.listing.show_progress(READING)
        self.read_runs()

    @work(thread=True, exclusive=True, group="runs", exit_on_error=False)
    def read_runs(self) -> None:
        workspace = self.app.workspace
        self.call_later(self.show_diff, read_diff(workspace.store.path, workspace.index.root, self._chosen))

    def show_diff(self, found: SavedDiff) -> None:
        self._found = found
        self._rows = diff_rows(found.compared) if found.compared else []
        self.listing.progress = ""
        self.listing.show_matching()
        self.refresh_bindings()

    # The list

    def find_rows(self) -> Sequence[DiffRow] | None:
        return self.listing.find(self._rows if self._found else None)

    def nothing(self) -> Content:
        compared = self._found.compared if self._found else None
        if compared is None:
            runs = len(self._found.runs) if self._found else 0
            return plain(keyed(self.app, TOO_FEW["one" if runs else "none"]))
        is_all = self.listing.choice.kind == CHANGED and not self.listing.filter_line.value
        return Content("\n\n").join([plain(keyed(self.app, NO_CHANGE if is_all else NO_MATCH)), runs_text(compared)])

    def title_parts(self) -> Sequence[str]:
        """How many prompts are listed, of which kind, and which runs these are."""
        compared = self._found.compared if self._found else None
        if compared is None:
            return ("Diff",)
        count, kind = f"{self.diffs.count:,} of {len(self._rows):,} prompts", self.listing.choice.kind
        listed = [f"{count} differ"] if kind == CHANGED else [count, RULES.kinds[kind].text]
        return *listed, f"{compared.before.name} → {compared.now.name}"

    def show_current(self, *, from_start: bool = True) -> None:
        row = self.diffs.current
        if row and self._found and self._found.compared:
            detail = self.listing.detail
            texts = [row_text(row, self.diffs.marker, detail.text_width), runs_text(self._found.compared)]
            detail.show(Content("\n\n").join(texts), from_start=from_start)

    # Keys

    def action_kind(self) -> None:
        self.listing.ask_kind("Show which prompts?", RULES.counts(self._rows))

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

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        if action == "runs" and not (self._found and self._found.pair):
            return NO_RUNS
        return self.listing.why_off(action, self.ON_ROWS, self.CHOOSING)
