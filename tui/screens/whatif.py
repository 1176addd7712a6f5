"""What-if: move settings, and see at once which memories the labelled prompts would get."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.containers import Container, Vertical
from textual.getters import query_one
from textual.widgets import Static
from textual.worker import Worker, WorkerState, get_current_worker

from labels.store import LabelStore
from tui.keys import bindings, keyed
from tui.plain import plain
from tui.screens.base_screen import ModeScreen
from tui.widgets.bars import KeyFooter, TopBar
from tui.widgets.lists.rows import RowList
from tui.widgets.panes import Fitted
from tui.widgets.signs import signs
from tui.widgets.whatif import (
    COUNTING,
    NO_LABELS,
    ChangeList,
    KnobList,
    KnobRow,
    change_text,
    compared_text,
    numbers_text,
    numbers_title,
    prompts_title,
    settings_title,
    state_text,
)
from tui.workspace.curate.memory_facts import stamps
from tui.workspace.filtering import nothing_to_count
from tui.workspace.whatif.sample import read_sample
from tui.workspace.whatif.trial import JUDGE, THRESHOLD, Trial, value_of, with_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.timer import Timer

    from engine.config import Config
    from engine.prompt import Prompt
    from tui.widgets.whatif import Compared
    from tui.workspace.whatif.sample import Injected, WhatIfEffect, WhatIfSample
    from tui.workspace.whatif.trial import Knob

NO_VERDICTS = "The judge has judged no labelled prompt yet. Replay with a judge first: What-if never asks a judge."
TITLE_MARGIN = 4
REST_SECONDS = 0.25
HIGH = 28
"""Rows from which on all values of a setting are compared below the numbers."""


class ChangePane(Static, Fitted):
    """What changes for a prompt."""


class WhatifScreen(ModeScreen):
    """Settings and numbers on the left, the prompts that change on the right."""

    CSS_PATH = "whatif.tcss"
    AUTO_FOCUS = "KnobList"
    BINDINGS = bindings(
        shown="whatif.less whatif.more whatif.named whatif.save whatif.undo whatif.prompts",
        hidden="whatif.discard prompt.read copy.text replay.type",
    )
    HELP = (
        "Right and left move the setting under the cursor; hold the key. The numbers are those of all labelled "
        "prompts. The best of many settings looks better here than it is: label new prompts after you have saved."
    )

    knobs = query_one(KnobList)
    numbers = query_one("#numbers", Static)
    prompts = query_one(ChangeList)
    detail = query_one("#change", Static)
    compared = query_one("#compared", Static)

    def __init__(self) -> None:
        super().__init__()
        self._trial: Trial | None = None
        self._sample: WhatIfSample | None = None
        self._sets: Sequence[Injected | None] = ()
        self._effect: WhatIfEffect | None = None
        self._values: tuple[Knob, Compared] | None = None
        self._resting: Timer | None = None
        self._is_counting = False
        self._read_at: object = None

    def compose(self) -> ComposeResult:
        yield TopBar("whatif")
        with Container(id="panes"):
            with Vertical(id="left"):
                yield KnobList(classes="pane")
                yield Static(id="about")
                yield Static(id="numbers", classes="pane")
                yield Static(id="compared", classes="pane")
            with Vertical(id="right"):
                yield ChangeList(classes="pane")
                yield ChangePane(id="change", classes="pane")
        yield Static(id="state")
        yield KeyFooter()

    def begin(self) -> None:
        """Take over changed settings, and find the candidates again if settings, memories or labels changed."""
        workspace = self.app.workspace
        if self._trial is None:
            self._trial = Trial.of(workspace)
        else:
            self._trial.read_saved()
        now = (workspace.reading, self._trial.saved, stamps(workspace.index, workspace.store.path, os.environ))
        if now != self._read_at:
            self._read_at = now
            self._sample = self._effect = None
            self.read(self._trial)
        self.show_again()

    def on_resize(self) -> None:
        self.set_class(self.size.height >= HIGH, "-high")

    def show_again(self) -> None:
        if self._trial:
            self._show_settings()
            self._show_effect()

    @property
    def trial(self) -> Trial:
        assert self._trial is not None  # `begin` comes first
        return self._trial

    @property
    def prompt(self) -> Prompt | None:
        return self.prompts.current.prompt if self.prompts.current else None

    # The labelled prompts

    @work(thread=True, exclusive=True, group="sample", exit_on_error=False)
    def read(self, trial: Trial) -> None:
        """Read all labelled prompts, and find the injected sets of the saved settings."""
        worker, workspace, saved = get_current_worker(), self.app.workspace, trial.saved
        with LabelStore.open(workspace.store.path) as store:
            sample = read_sample(store, workspace.index)
        sets = trial.injected(sample, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.call_later(self.take_sample, sample, saved, sets)

    def take_sample(self, sample: WhatIfSample, saved: Config, sets: Sequence[Injected | None]) -> None:
        """Count over *sample*. *sets* are the injected sets of the *saved* settings."""
        if saved == self.trial.saved:
            self._sample, self._sets = sample, sets
            self.count()
        self.show_again()

    # The effect

    def count(self) -> None:
        """Have a worker count, unless one counts already: when it is done, the newest settings come next."""
        if self._sample and self._sample.prompts and not self._is_counting:
            self._is_counting = True
            self._count(self.trial, self._sample, self._sets, self.trial.draft)

    @work(thread=True, group="effect", exit_on_error=False)
    def _count(self, trial: Trial, sample: WhatIfSample, sets: Sequence[Injected | None], draft: Config) -> None:
        self.call_later(self.take_effect, draft, sample, trial.effect(sample, sets, draft))

    def compare(self) -> None:
        """Count the numbers at all values of the setting under the cursor, when the keys rest."""
        if self._resting:
            self._resting.stop()
        row, sample, draft = self.knobs.current, self._sample, self.trial.draft
        if row and sample and sample.prompts and self.compared.display:
            if self._values is None:
                self.compared.update(COUNTING)
            now = partial(self._compare, self.trial, sample, row.knob, draft)
            self._resting = self.set_timer(REST_SECONDS, now)

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def _compare(self, trial: Trial, sample: WhatIfSample, knob: Knob, draft: Config) -> None:
        worker = get_current_worker()
        found = list(trial.compared(sample, knob, draft, lambda: worker.is_cancelled))
        if not worker.is_cancelled:
            self.call_later(self.take_compared, knob, found)

    def take_compared(self, knob: Knob, compared: Compared) -> None:
        self._values = knob, compared
        self._show_compared()

    def take_effect(self, draft: Config, sample: WhatIfSample, effect: WhatIfEffect) -> None:
        """Show the effect of the settings in *draft*, and count again if they or the sample have changed since."""
        self._is_counting = False
        if sample is self._sample:
            self._effect = effect
            self._show_effect()
            self.compare()
        if draft != self.trial.draft or sample is not self._sample:
            self.count()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """After a failure, the next key tries again."""
        if event.state is WorkerState.ERROR and event.worker.group == "effect":
            self._is_counting = False

    # Showing

    def _show_settings(self) -> None:
        trial = self.trial
        rows = [KnobRow(knob, trial.text(knob, trial.draft), trial.text(knob, trial.saved)) for knob in trial.knobs]
        self.knobs.show(rows)
        roots, width = len(self.app.workspace.roots), self.knobs.size.width - TITLE_MARGIN
        self.knobs.border_title = plain(settings_title(trial.root, roots, width))
        self._show_about()
        self.query_one("#state", Static).update(state_text(trial, self.size.width, partial(keyed, self.app)))
        self.refresh_bindings()

    @on(RowList.Highlighted, "KnobList")
    def show_setting(self) -> None:
        self._show_about()
        self.compare()

    def _show_about(self) -> None:
        if row := self.knobs.current:
            ignored = self.trial.ignored
            unused = f" The tuned model is not used: it {ignored}. Save, and run memsift tune again." if ignored else ""
            self.query_one("#about", Static).update(plain(f"{self.trial.about(row.knob)}{unused}"))

    def _show_compared(self) -> None:
        row = self.knobs.current
        knob, compared = self._values or (None, ())
        if row and knob is row.knob:
            self.compared.border_title = plain(f"{row.knob.name}: every value")
            size = self.compared.content_size
            self.compared.update(compared_text(compared, row.value, row.saved, size, signs(self)))

    def _show_effect(self) -> None:
        """Show the numbers and the prompts; or say why there are none."""
        effect = self._effect
        is_empty = self._sample is not None and not self._sample.prompts
        self.set_class(is_empty, "-none")
        if is_empty:
            self.step_back()
        if effect is None:
            workspace = self.app.workspace
            none = nothing_to_count(workspace.index, workspace.lists.drawn) or NO_LABELS
            lack = keyed(self.app, none) if is_empty else COUNTING
            self.numbers.update(plain(lack))
            self.prompts.show(())
            self.refresh_bindings()
            return
        self.numbers.update(numbers_text(effect, self.numbers.content_size.width))
        self.numbers.border_title = plain(numbers_title(effect))
        self.prompts.show(effect.rows)
        self.refresh_bindings()
        if not self.prompts.has_focus:
            self.prompts.cursor = 0
        self.prompts.border_title = plain(prompts_title(effect))
        self._show_compared()

    @on(RowList.Highlighted, "ChangeList")
    def show_change(self) -> None:
        if change := self.prompts.current:
            self.detail.update(change_text(change, self.detail.content_size.width, signs(self)))

    # Keys

    def why_off(self, action: str, parameters: tuple[object, ...]) -> str:
        if not self.is_mounted or self._trial is None:
            return ""
        if action in ("save", "undo", "discard") and not self.trial.changes:
            return keyed(self.app, "No setting is moved yet. {whatif.less} and {whatif.more} move one.")
        if action in ("prompts", "read_prompt") and not self.prompts.count:
            return keyed(self.app, "No prompt has a label yet. {go.label} labels some.")
        return super().why_off(action, parameters)

    def action_move(self, steps: int) -> None:
        row = self.knobs.current
        if row is None:
            return
        if row.knob is JUDGE and not (self._sample and self._sample.has_verdicts):
            self.app.tell(NO_VERDICTS)
            return
        self.trial.move(row.knob, steps)
        self.show_moved()

    def action_named(self) -> None:
        """Take the next threshold that has a name."""
        self.knobs.go_to(THRESHOLD.name)
        self.trial.take_named()
        self.show_moved()

    def show_moved(self) -> None:
        self._show_settings()
        self.count()

    def action_undo(self) -> None:
        if row := self.knobs.current:
            self.trial.draft = with_value(self.trial.draft, row.knob, value_of(self.trial.saved, row.knob))
            self.show_moved()

    def step_back(self) -> bool:
        """Go back from the prompts to the settings."""
        if self.focused is not self.prompts:
            return False
        self.remove_class("-prompts")
        self.set_focus(self.knobs)
        return True

    def action_discard(self) -> None:
        self.trial.draft = self.trial.saved
        self.show_moved()

    @on(RowList.Selected, "KnobList")
    def action_prompts(self) -> None:
        """Go to the prompts, which take the place of the settings in a small terminal."""
        if self.prompts.count:
            self.add_class("-prompts")
            self.set_focus(self.prompts)  # at once: the next key is for the prompts

    @on(RowList.Selected, "ChangeList")
    async def open_prompt(self) -> None:
        if self.prompt:
            await self.go_to_prompt(self.prompt.id)

    def action_save(self) -> None:
        """Write what is moved into the root's file, go on from there, and replay all prompts with it."""
        with self.app.telling_errors():
            warning = self.trial.warning
            saved = f"Saved in {self.trial.save()}. {warning}".rstrip()
            severity = "warning" if warning else "information"
            self.app.tell(saved, title="Settings", severity=severity, seconds=12.0)
            self.app.take_saved_settings()
            self.begin()
            self.app.replay_all()
