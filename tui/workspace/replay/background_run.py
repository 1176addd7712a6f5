"""Run prompts through systems beside the app: results and their records come in batches, and a cancel keeps them."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING

from engine.config import injected_system
from engine.conversations.injected import names_of
from engine.errors import LabelStoreError, MovedStoreError
from engine.judge.limits import Limits
from tui.workspace.replay.jobs import in_order, is_unanswered, opened_pool
from tui.workspace.replay.replaying import Job, retrievals
from tui.workspace.retrievals import record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from labels.store import LabelStore
    from tui.workspace.workspace import Workspace

    Claim = Callable[[Prompt, str], bool]
    Tell = Callable[["RunProgress", Sequence[Retrieval]], None]
    Late = Callable[[Sequence[Retrieval], int], None]

MOST_IN_BATCH, BATCH_S = 5, 0.25
"""A batch is written when it holds this number of retrievals, or after this time. A key that writes waits for one."""


FREEZE_EVERY = 100
"""After this number of prompts, the garbage collector is told to leave all present objects alone. The results stay
anyway, and to search tens of thousands of them again and again would stop the app for half a second each time."""

MOST_REMEMBERED = 2000
"""Memories whose texts a run keeps, to read the files of common ones only once."""


@dataclass(frozen=True)
class RunProgress:
    """`done` of `jobs` prompts, their cost in US dollars, and the seconds left; None before the first is done.

    `problem`: the first error about one prompt, which did not end the run.
    """

    done: int
    jobs: int
    cost_usd: float = 0.0
    seconds_left: float | None = None
    is_over: bool = False
    problem: str = ""

    @property
    def text(self) -> str:
        """One line for people. It has room in 43 cells, as long as the numbers are not huge."""
        left = "" if self.seconds_left is None else f"{duration(self.seconds_left)} left"
        cost = f"${self.cost_usd:,.2f}" if self.cost_usd >= 0.005 else f"${self.cost_usd:.4f}" if self.cost_usd else ""
        return " · ".join(filter(None, (f"Replayed {self.done:,}/{self.jobs:,}", left, cost)))


def duration(seconds: float) -> str:
    """A time in minutes or seconds, rounded, for people."""
    return f"{seconds / 60:,.0f} min" if seconds >= 100 else f"{seconds:,.0f} s"


class BackgroundRun:
    """One run of *jobs* over the memories of *workspace*. `run` belongs into a thread of its own.

    It goes on when memories change, without the results about the old ones. `reading` is that of the last batch.

    *claim* says whether a prompt and a system are still to run. *tell* gets each batch that is recorded, and the end;
    *late* gets results that come after a cancel and are not recorded, with the reading of their memories. All three are
    called in other threads.
    """

    def __init__(self, workspace: Workspace, jobs: Sequence[Job], claim: Claim, tell: Tell, late: Late) -> None:
        self.jobs = jobs
        self._workspace, self.reading = workspace, workspace.reading
        self._memory = lru_cache(MOST_REMEMBERED)(lambda memory_id: workspace.injections.memory(memory_id))
        self._claim, self._tell, self._late = claim, tell, late
        self._has_judge = any(system.has_judge for job in jobs for system in job.systems)
        self._done, self._cost, self._problem = 0, 0.0, ""
        self._began = workspace.clock()
        self._is_cancelled = self._is_refused = False
        self._frozen = 0

    def cancel(self) -> None:
        """End the run now, with all finished prompts. Answers under way go to *late*. Any thread may call this."""
        self._is_cancelled = True

    def run(self) -> None:
        """Run the prompts. Raises LabelStoreError if nothing can be written, ProviderError if the judge has no key."""
        if self._workspace.judge and self._has_judge:
            self._workspace.judge.prepare()
        self._freeze()
        batch: list[Retrieval] = []
        last, goes_on = monotonic(), lambda: not (self._is_cancelled or self._is_refused)
        limits = (self._workspace.spending or Limits()) if self._has_judge else None
        with opened_pool(limits=limits) as pool, self._workspace.store.another() as store:
            for reading, found in in_order(pool, self._work, self.jobs, goes_on, lambda: self._is_cancelled):
                is_limited = self._workspace.needs_agreement  # the limit of cost is reached: the judge was not asked
                answered = [retrieval for retrieval in found if not (is_limited and is_unanswered(retrieval))]
                batch = self._current(batch) + (answered if reading == self.reading else [])
                if len(answered) < len(found):
                    self._is_refused = True
                else:
                    self._done += 1
                self._cost += sum(retrieval.judgement.cost_usd or 0.0 for retrieval in found if retrieval.judgement)
                if len(batch) >= MOST_IN_BATCH or monotonic() - last >= BATCH_S:
                    self._keep(store, batch)
                    batch, last = [], monotonic()
            self._keep(store, self._current(batch), is_over=True)

    def _current(self, batch: list[Retrieval]) -> list[Retrieval]:
        """*batch*, or nothing if the memories have changed since."""
        if self._workspace.reading == self.reading:
            return batch
        self.reading = self._workspace.reading
        self._memory.cache_clear()
        return []

    def _work(self, job: Job) -> tuple[int, list[Retrieval]]:
        """The reading of the memories, and the results of a job."""
        here, reading = self._workspace, self._workspace.reading
        systems = (*job.systems, *map(injected_system, names_of([job.prompt])))
        left = Job(job.prompt, tuple(system for system in systems if self._claim(job.prompt, system.name)))
        cutoffs = {here.cutoff.kind: here.cutoff} if here.cutoff else {}
        found = retrievals(left, here.index, here.config, here.judge, cutoffs, here.clock, here.injections)
        for retrieval in found:
            for candidate in retrieval.candidates:
                self._memory(candidate.memory.id)  # read now, so that no file is read while the store is locked
        if self._is_cancelled:
            self._late(found, reading)
        return reading, found

    def _keep(self, store: LabelStore, batch: Sequence[Retrieval], *, is_over: bool = False) -> None:
        here = self._workspace
        try:
            with store.together():
                for retrieval in batch:
                    self._record(store, retrieval)
        except LabelStoreError as error:
            if error.__cause__ or isinstance(error, MovedStoreError):
                raise
            # the store refuses a prompt, such as a labelled prompt with another text
            for retrieval in batch:
                try:
                    self._record(store, retrieval)
                except LabelStoreError as refusal:
                    self._problem = self._problem or str(refusal)
        if is_over or self._done - self._frozen >= FREEZE_EVERY:
            self._freeze()
        left = (here.clock() - self._began) / self._done * (len(self.jobs) - self._done) if self._done else None
        self._tell(RunProgress(self._done, len(self.jobs), self._cost, left, is_over, self._problem), batch)

    def _freeze(self) -> None:
        gc.freeze()
        self._frozen = self._done

    def _record(self, store: LabelStore, retrieval: Retrieval) -> None:
        here = self._workspace
        record(retrieval, store, here.index, here.config, here.judge, here.cutoff, self._memory)
