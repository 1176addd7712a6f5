"""The prompts in Replay: searched, filtered and sorted, and the keys that type and remove one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.getters import query_one
from textual.widgets import Input

from engine.wording import counted
from tui.keys import keyed
from tui.screens.filtered_list import SHOWS_ALL, RowsPane
from tui.widgets.lists.prompts import PromptList
from tui.workspace.filtering import WordFilter
from tui.workspace.prompts import ALL, NEWEST, NOTHING, RULES, PromptFacts, chosen, read_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from textual.app import ComposeResult
    from textual.widget import Widget

    from engine.prompt import Prompt
    from tui.runner import Runner

SEARCHES, TYPES = "{replay.search} searches", "{replay.type} types a new one"
CHOSEN_NOW = "It is in the sample now, and {go.label} asks about it next. The report leaves it out, as chosen by hand."
SCRATCH_AGAIN = "The prompt is out of the sample again."


class PromptsPane(RowsPane):
    """A list of prompts: the scratch prompts, and then the sample. *below* stands below it.

    *show_none* says why no prompt is listed, if none is.
    """

    app: Runner
    prompt_list = query_one(PromptList)
    search_line = query_one(Input)

    def __init__(self, show_none: Callable[[], None], below: Widget) -> None:
        super().__init__(RULES, ALL, id="left")
        self._show_none, self._below = show_none, below
        self._known: dict[str, PromptFacts] = {}

    def compose(self) -> ComposeResult:
        yield Input(placeholder="Words of the prompt", compact=True)
        yield PromptList(classes="pane")
        yield self._below

    def on_mount(self) -> None:
        self.search_line.display = False

    def show_matching(self) -> None:
        self.show_prompts()
        self._show_none()
        self.screen.refresh_bindings()

    def show_prompts(self) -> None:
        """Fill the list again. The cursor stays on its prompt, or goes to the one that another screen asked for."""
        workspace, shown = self.app.workspace, self.prompt_list
        lists = workspace.lists
        shown.mark_labelled(workspace.labelled_pairs().keys())
        self._mark_differing(self._known)
        scratch, sample = (
            chosen(prompts, self.choice, self._known, workspace.heads) for prompts in (lists.scratch, lists.sample)
        )
        shown.scratch, shown.marker = len(scratch), self.choice.words
        shown.show([*scratch, *sample])
        shown.go_to(workspace.wanted_prompt)
        workspace.wanted_prompt = ""
        count, total, choice = shown.count, len(lists.all), self.choice
        parts = [
            f"{count:,} of {total:,} prompts" if count < total else counted(total, "prompt"),
            f"{len(scratch):,} typed" if scratch else "",
            RULES.kinds[choice.kind].text if choice.kind else "",
            RULES.orders[choice.order].text if choice.order != NEWEST else "",
            *(keyed(self.app, hint) for hint in ((SEARCHES, TYPES) if self.shows_all else (SHOWS_ALL,))),
        ]
        shown.entitle(parts)

    @property
    def prompt(self) -> Prompt | None:
        return self.prompt_list.current

    # What is known about the prompts

    def read_known(self) -> None:
        """Read what is recorded about all prompts, beside the app. The screen shows errors of its workers."""
        self.screen.run_worker(self._read_known, thread=True, exclusive=True, group="known", exit_on_error=False)

    def _read_known(self) -> None:
        workspace = self.app.workspace
        reading = workspace.reading
        digests = {summary.id: summary.digest for summary in workspace.index.summaries()}
        found = read_known(workspace.store.path, workspace.index.root, workspace.annotator, digests)
        self.call_later(self.take_known, found, reading)

    def take_known(self, known: Mapping[str, PromptFacts], reading: int) -> None:
        """Show what is recorded about the prompts, unless the memories were read again since *reading*.

        Results that were kept while it was read count, too.
        """
        if reading == self.app.workspace.reading:
            self._known = dict(known)
            prompts = self.app.workspace.lists.all
            self.learn([prompt.id for prompt in prompts if any(self.app.workspace.answers(prompt.id))])
            self.show_prompts()

    def learn(self, prompt_ids: Iterable[str]) -> None:
        """Take in the kept results and the labels of some prompts. The list stays as it is, but for its marks."""
        workspace = self.app.workspace
        for prompt_id in prompt_ids:
            found = [answer for answer in workspace.answers(prompt_id) if answer]
            self._known[prompt_id] = self._known.get(prompt_id, NOTHING).with_results(found)
        self._mark_differing(prompt_ids)

    def learn_labels(self, prompt_id: str) -> None:
        verdicts = {label.memory_id: label.verdict or "" for label in self.app.workspace.labels(prompt_id).values()}
        self._known[prompt_id] = replace(self._known.get(prompt_id, NOTHING), verdicts=verdicts)

    def _mark_differing(self, prompt_ids: Iterable[str]) -> None:
        """Mark those of *prompt_ids* on which the systems side by side differ."""
        systems, ids = self.app.workspace.heads, set(prompt_ids)
        found = {**self.prompt_list.differing, **{name: self._known[name].change(systems) for name in ids}}
        self.prompt_list.differing = {name: counts for name, counts in found.items() if counts}
        self.prompt_list.refresh()

    # Keys of the list

    def action_search(self) -> None:
        self.search_line.display = True
        self.search_line.focus()

    @on(Input.Changed)
    def search(self) -> None:
        self.choose(words=WordFilter(self.search_line.value))

    @on(Input.Submitted)
    def leave_search(self) -> None:
        self.search_line.display = bool(self.search_line.value)
        self.prompt_list.focus()

    def key_down(self) -> None:
        if self.search_line.has_focus:
            self.leave_search()

    def step_back(self) -> bool:
        if self.shows_all and self.prompt_list.has_focus:
            return False
        self.show_all()
        return True

    def show_all(self) -> None:
        """Show all prompts again, and leave the search."""
        with self.prevent(Input.Changed):
            self.search_line.value = ""
        self.choose(words=WordFilter(), kind=ALL)
        self.leave_search()

    @property
    def shows_all(self) -> bool:
        return not self.choice.words.words and self.choice.kind == ALL

    def action_filter(self) -> None:
        """Ask for a filter; each is listed with the number of its prompts."""
        prompts, heads = self.app.workspace.lists.all, self.app.workspace.heads
        known = [self._known.get(prompt.id, NOTHING) for prompt in prompts]
        counts = {kind: sum(rule.fits(facts, heads) for facts in known) for kind, rule in RULES.kinds.items()}
        self.ask_kind("Show which prompts?", counts)

    def action_replay_all(self) -> None:
        self.app.with_agreement(self.app.replay_all)

    def action_move(self, step: int) -> None:
        self.prompt_list.cursor += step

    # Scratch prompts

    def action_choose(self) -> None:
        """Move the prompt from scratch into the labelled sample, or back."""
        lists, prompt = self.app.workspace.lists, self.prompt
        if prompt is None:
            return
        if not lists.is_scratch(prompt) and prompt not in lists.chosen:
            self.app.tell("This prompt comes from a file, so it stays in the sample.")
            return
        with self.app.telling_errors():
            lists.choose(prompt)
            self.app.tell(keyed(self.app, SCRATCH_AGAIN if lists.is_scratch(prompt) else CHOSEN_NOW))
            self.show_prompts()

    def action_remove(self) -> None:
        if self.prompt:
            with self.app.telling_errors():
                self.app.workspace.lists.remove(self.prompt)
                self.app.tell(keyed(self.app, "Removed. {replay.type} types it again."))
                self.show_matching()
