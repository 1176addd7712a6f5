"""Diff: two saved runs, prompt by prompt, and the way from a prompt to Replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.content import Content

from labels.report.run_diff import head_lines
from tui.dialogs.choices import ChooseRuns
from tui.keys import bindings, keyed
from tui.plain import hanging, marked, one_line, plain
from tui.screens.base_screen import ModeScreen
from tui.screens.filtered_list import FilteredList
from tui.widgets.lists.columns import Column, ColumnList
from tui.widgets.lists.rows import RowList
from tui.widgets.memory_pane import HEADING, MUTED
from tui.workspace.replay.run_diffs import (
    BY_TEXT,
    CHANGED,
    MOST_CHANGES,
    RULES,
    WORST,
    DiffRow,
    diff_rows,
    read_diff,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.prompt import Prompt
    from labels.report.run_diff import ComparedRuns, Judged
    from labels.runs import InjectedMemory
    from tui.plain import Marks
    from tui.workspace.replay.run_diffs import SavedDiff


PLACEHOLDER = "Press {list.filter} and type: words of prompts or memories"
TO_SAVE = (
    "saved for these memories.\n\nIn Replay ({go.replay}), {replay.all} replays all prompts and saves a run. "
    "After a change of settings or memories, {replay.all} saves another one. `memsift replay --save` does the same."
)
TOO_FEW = {count: f"Two runs are needed, and {count} is {TO_SAVE}" for count in ("none", "one")}
NO_CHANGE = "No prompt differs between the two runs. {diff.kind} shows all prompts, {diff.runs} chooses other runs."
NO_MATCH = "No prompt fits. {go.back} shows the prompts that differ, {diff.kind} others."


WORDS = {True: ("relevant", "$text-success"), False: ("not relevant", "$text-error")}
"""The judgement on a memory -> its word and the colour of the word. A sign would look like gained or lost."""

NOTHING, INDENT = "Nothing", 2


def _text(row: DiffRow) -> str:
    if row.diff.is_in_both:
        return row.text
    return f"only {'before' if row.diff.now is None else 'now'} · {row.text}"


def _count(sign: str, memories: tuple[Judged, ...]) -> str:
    return f"{sign}{len(memories)}" if memories else "·"


def _changed_tone(row: DiffRow) -> str:
    return "" if row.diff.is_changed else "muted"


COLUMNS = (
    Column(_text, "Prompt", BY_TEXT, tone=_changed_tone, has_marks=True),
    Column(
        lambda row: _count("+", row.diff.gained), "Gained", MOST_CHANGES, width=8, tone=_changed_tone, is_number=True
    ),
    Column(lambda row: _count("−", row.diff.lost), "Lost", width=6, tone=_changed_tone, is_number=True),
    Column(lambda row: _count("", row.diff.same), "Same", width=6, from_width=56, is_number=True),
    Column(
        lambda row: f"{row.diff.worth:+d}".replace("-", "−") if row.diff.worth else "",
        *("Labels", WORST, 9, 2),
        tone=lambda row: "good" if row.diff.worth > 0 else "bad",
        is_number=True,
    ),
)


class DiffList(ColumnList[DiffRow]):
    """Prompts of two runs, a row each. `Labels` is the worth of the change by the labels on its memories."""

    columns = COLUMNS

    def id_of(self, record: DiffRow) -> str:
        return record.diff.prompt_id


def row_text(row: DiffRow, marker: Marks, called: Callable[[InjectedMemory], str], width: int) -> Content:
    """The prompt, and the memories that it gained, lost and kept, each with the verdict of its label.

    *called* gives the name of a memory. *width* in cells.
    """
    diff = row.diff
    groups = {"Gained": diff.gained, "Lost": diff.lost, "The same": diff.same}
    if not diff.is_in_both:
        memories = diff.before if diff.now is None else diff.now
        groups = {f"Injected, only in the run {'before' if diff.now is None else 'now'}": memories or ()}
    lines = [marked(row.text, marker)]
    for head, memories in groups.items():
        if memories:
            lines += [Content(""), plain(head).stylize_before(HEADING)]
            lines += [hanging(_memory(judged, called(judged.memory)), INDENT, width) for judged in memories]
    return Content("\n").join(lines if len(lines) > 1 else [*lines, Content(""), plain(NOTHING)])


def _memory(judged: Judged, called: str) -> Content:
    title = plain(one_line(called))
    edited = plain(" · edited in between").stylize_before(MUTED) if judged.is_edited else Content("")
    if judged.is_relevant is None:
        return title + edited
    word, style = WORDS[judged.is_relevant]
    return plain(f"{word} · ").stylize_before(style) + title + edited


def runs_text(compared: ComparedRuns) -> Content:
    """Both runs, the answer, and what changed in the settings."""
    sides = (("Before", compared.before), ("Now", compared.now))
    lines = [plain(f"{name}: {one_line(side.line)}").stylize_before(MUTED) for name, side in sides]
    said = [plain(one_line(line)) for line in head_lines(compared)]
    return Content("\n").join([plain("The two runs").stylize_before(HEADING), *lines, *said])


class DiffScreen(ModeScreen):
    """The difference of two runs. Without a choice, these are the latest two that differ."""

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
        self._names: dict[str, str] = {}

    def begin(self) -> None:
        if self._found is None:
            self.listing.show_progress("Reading the runs …")
        self.read_runs()

    @work(thread=True, exclusive=True, group="runs", exit_on_error=False)
    def read_runs(self) -> None:
        workspace = self.app.workspace
        self.call_later(self.show_diff, read_diff(workspace.store.path, workspace.index.root, self._chosen))

    def show_diff(self, found: SavedDiff) -> None:
        self._found = found
        self._names = {summary.id: summary.name for summary in self.app.workspace.index.summaries()}
        self._rows = diff_rows(found.compared, self.called) if found.compared else []
        self.listing.progress = ""
        self.listing.show_matching()
        self.refresh_bindings()

    def called(self, memory: InjectedMemory) -> str:
        """The name of a memory; of one that is not there any more, its title when it was injected."""
        return self._names.get(memory.memory_id) or memory.title or memory.memory_id

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
            texts = [row_text(row, self.diffs.marker, self.called, detail.text_width), runs_text(self._found.compared)]
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
        return self.app.workspace.lists.known(row.diff.prompt_id) if row else None

    @on(RowList.Selected)
    async def action_open(self) -> None:
        """Show the prompt in Replay."""
        with self.app.telling_errors():
            if row := self.diffs.current:
                await self.go_to_prompt(row.diff.prompt_id)

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:  # noqa: ARG002
        if action == "runs" and not (self._found and self._found.pair):
            return "There are no two runs to choose from."
        return self.listing.why_off(action, self.ON_ROWS, self.CHOOSING)
