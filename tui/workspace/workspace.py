"""What the app works on: one root with its index, judge, prompts and labels. No widget, no drawing."""

from __future__ import annotations

import os
from time import perf_counter
from typing import TYPE_CHECKING

from engine.config import MEMSIFT
from engine.pipeline import retrieve
from engine.search.marks import Marker
from engine.search.opening import open_index
from engine.systems import SYSTEMS, system_of
from labels.measure.extras import NONE, Extras
from labels.measure.names import Names
from labels.measure.report import report_from_store
from labels.orders import ALL, RANDOM, Plan, offered
from labels.pooling import pool
from labels.silence import silent_prompts
from labels.store import LabelStore
from tui.workspace.recording import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.config import Config
    from engine.cutoff import Cutoff
    from engine.judge.judge import Judge
    from engine.memory import Memory, Skipped
    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from engine.search.explain import Explanation
    from engine.search.index import Index
    from engine.systems import System
    from labels.measure.report import Report
    from labels.records import Dispute, Event, Label, Pair, Pool

DEFAULT_SEED = 1


class Workspace:
    """One root, opened. Workers may call `run` and `report`; all else belongs to the thread that made it.

    *judge* is None where none is switched on, *cutoff* where none was tuned. *seed* decides the order of prompts and of
    the cards of a prompt, so that labelling goes on where it stopped. *order* is one of ORDERS, or None for that of
    last time. *clock* is in seconds. *skipped* are the rows that no prompt could be read from. `comparing`: a second
    first stage runs beside the configured one.
    """

    def __init__(
        self,
        root: str,
        config: Config,
        store: LabelStore,
        *,
        judge: Judge | None = None,
        cutoff: Cutoff | None = None,
        prompts: tuple[Prompt, ...] = (),
        annotator: str = "me",
        seed: int = DEFAULT_SEED,
        order: str | None = None,
        clock: Callable[[], float] = perf_counter,
        skipped: tuple[Skipped, ...] = (),
    ) -> None:
        self.root = root
        self.config = config
        self.store = store
        self.judge = judge
        self.cutoff = cutoff
        self.prompts = prompts
        self.annotator = annotator
        self.seed = seed
        self.clock = clock
        self.comparing = False
        self.index = open_index(root, os.environ)
        self.reading = 1
        plan = store.plan(self.index.root, annotator)
        self.order = order or (plan.order if plan else RANDOM)
        self._unread_prompts = skipped
        self._old: list[Index] = []
        self._retrievals: dict[tuple[str, str], Retrieval] = {}
        self._pools: dict[str, Pool] = {}
        self._seen = set(store.seen_prompts(annotator))
        self._unwritten: set[str] = set()

    def close(self) -> None:
        for index in (*self._old, self.index):
            index.close()
        if self.judge:
            self.judge.close()
        self.store.close()

    def reload(self) -> None:
        """Read the root anew. Retrievals of the old memories are forgotten. Raises RootError; nothing changes then.

        `reading` counts the readings. The old index stays open: a worker may be in the middle of it.
        """
        fresh = open_index(self.root, os.environ)
        self._old.append(self.index)
        self.index = fresh
        self.reading += 1
        self._retrievals.clear()
        self._pools.clear()

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What could be read neither as a memory nor as a prompt."""
        return self.index.skipped + self._unread_prompts

    # Systems

    @property
    def first(self) -> System:
        """What the configuration says, without a judge."""
        return system_of(self.config, has_judge=False)

    @property
    def judged(self) -> System | None:
        system = system_of(self.config, has_judge=self.judge is not None, has_cutoff=self.cutoff is not None)
        return system if system.has_judge else None

    @property
    def tuned(self) -> System | None:
        """With the tuned cutoff, without a judge."""
        return system_of(self.config, has_judge=False, has_cutoff=True) if self.cutoff else None

    @property
    def rival(self) -> System:
        """The first stage to compare with: the original rules, or memsift's own beside these."""
        return SYSTEMS["memsift" if self.first.name == "bm25" else "bm25"]

    @property
    def other(self) -> System | None:
        """The rival, while comparing."""
        return self.rival if self.comparing else None

    @property
    def threshold(self) -> float | None:
        """The P(relevant) below which the cutoff drops a memory; None where none was tuned."""
        return self.cutoff.least(has_judge=False) if self.cutoff else None

    @property
    def second(self) -> System | None:
        """What stands beside `first`: what it is compared with, or else the judge's system, or the tuned one."""
        return self.other or self.judged or self.tuned

    @property
    def heads(self) -> tuple[str, str]:
        """The names over the columns of `first` and `second`; without a second, what the judge's would be."""
        return self.first.name, self.second.name if self.second else f"{self.first.name}+judge"

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of all that run."""
        return tuple(system.name for system in (self.first, self.other, self.tuned, self.judged) if system)

    # Prompts

    def add_prompt(self, prompt: Prompt) -> None:
        """A prompt that was typed now stands first."""
        self.prompts = (prompt, *(other for other in self.prompts if other.id != prompt.id))

    def prompt(self, prompt_id: str) -> Prompt | None:
        return next((prompt for prompt in self.prompts if prompt.id == prompt_id), None)

    def labelling_order(self) -> tuple[Prompt, ...]:
        """The prompts in the order in which they are labelled. One without a place in it yet counts as random."""
        by_id = {prompt.id: prompt for prompt in self.prompts}
        plan = self.store.plan(self.index.root, self.annotator)
        known = plan.strata if plan else {}
        strata = {prompt_id: known.get(prompt_id, ALL) for prompt_id in by_id}
        return tuple(by_id[prompt_id] for prompt_id in offered(Plan(self.order, self.seed, strata)))

    def marker(self, prompt: Prompt) -> Marker:
        """Marks in a memory what the systems without a judge match of a prompt."""
        by_stem = MEMSIFT in [system.strategy for system in (self.first, self.other) if system]
        return Marker.of(prompt.text, by_stem=by_stem)

    # Retrievals

    def run(self, prompt: Prompt, system: str) -> Retrieval:
        """What the system of a name does with a prompt, now. Asks the judge where the system has one; may be slow,
        never raises for what the judge does."""
        named = SYSTEMS[system]
        judge = self.judge if named.has_judge else None
        cutoff = self.cutoff if named.has_cutoff else None
        return retrieve(prompt, self.index, named.of(self.config), judge=judge, cutoff=cutoff, clock=self.clock)

    def explanations(self, prompt_id: str, memory_id: str) -> list[Explanation]:
        """Why a memory is where it is for a prompt, in `first` and `second` as far as these were kept."""
        from engine.search.explain import Explainer

        kept = [one for one in self.side_by_side(prompt_id) if one]
        explainers = [Explainer(one, self.index, SYSTEMS[one.system].of(self.config)) for one in kept]
        return [found for explainer in explainers if (found := explainer.of(memory_id))]

    def retrieval(self, prompt_id: str, system: str) -> Retrieval | None:
        """What was kept by `keep`, if anything."""
        return self._retrievals.get((prompt_id, system))

    def side_by_side(self, prompt_id: str) -> tuple[Retrieval | None, Retrieval | None]:
        """What `first` and `second` did with a prompt, as far as it was kept."""
        second = self.second
        return self.retrieval(prompt_id, self.first.name), self.retrieval(prompt_id, second.name) if second else None

    def keep(self, retrieval: Retrieval) -> None:
        """Remember a retrieval and record it in the label store. Raises LabelStoreError."""
        self._retrievals[retrieval.prompt.id, retrieval.system] = retrieval
        self._pools.pop(retrieval.prompt.id, None)
        record(retrieval, self.store, self.index, self.config, self.judge, self.cutoff)

    @property
    def replayed(self) -> int:
        """How many retrievals are kept: one for each prompt and system that was run."""
        return len(self._retrievals)

    def forget(self, prompt_id: str) -> None:
        """Let the prompt be run again."""
        for system in self.systems:
            self._retrievals.pop((prompt_id, system), None)

    def memory(self, memory_id: str) -> Memory | None:
        return self.index.memory(memory_id)

    # Labels

    def pool(self, prompt_id: str) -> Pool | None:
        """The pool of a prompt, once every system has run it; it is recorded in the sampling frame."""
        retrievals = [self._retrievals.get((prompt_id, system)) for system in self.systems]
        if not all(retrievals):
            return None
        if prompt_id not in self._pools:
            made = pool([one for one in retrievals if one], self.seed)
            self.store.record_frame(made)
            self._pools[prompt_id] = made
        return self._pools[prompt_id]

    def silent_prompts(self) -> set[str]:
        """The prompts for which all systems ran over the memories as they are now, whenever, and bring nothing up."""
        found = self.store.silences(self.index.root, self.index.corpus_hash)
        return set.intersection(*(silent_prompts(found, name, self.config, self.cutoff) for name in self.systems))

    def earlier_pools(self) -> dict[str, frozenset[Pair]]:
        """What the newest recorded pool of each prompt holds, each memory as it reads now; without those that are gone.

        A pool that was recorded when the memories read otherwise is about what they say now, too: they are asked anew.
        """
        digests = self.digests()
        return {
            prompt_id: frozenset([(each, digests[each]) for each in memory_ids if each in digests])
            for prompt_id, memory_ids in self.store.pooled(self.seed).items()
        }

    def digests(self) -> dict[str, str]:
        """How each memory reads now: memory id -> digest."""
        return {summary.id: summary.digest for summary in self.index.summaries()}

    def skips(self, prompt_id: str) -> Mapping[Pair, int]:
        """How often this annotator skipped each card of a prompt."""
        return self.store.skips(self.annotator, prompt_id)

    def labels(self, prompt_id: str) -> dict[Pair, Label]:
        """This annotator's current labels of a prompt over this root by (memory id, digest)."""
        return {label.pair: label for label in self.store.labels(self.annotator, prompt_id, self.index.root)}

    def labelled_pairs(self) -> dict[str, set[Pair]]:
        """What this annotator's current labels over this root are about: prompt id -> (memory id, digest)."""
        return self.store.labelled_pairs(self.annotator, self.index.root)

    def show(self, prompt_id: str) -> None:
        """Ranks and verdicts of a prompt are on the screen: what is said of it from now on is not blind.

        Raises LabelStoreError where that cannot be written; it holds until the app is left then, and is tried again.
        """
        if prompt_id not in self._seen:
            self._seen.add(prompt_id)
            self._unwritten.add(prompt_id)
        for each in sorted(self._unwritten):
            self.store.record_sighting(self.annotator, each)
            self._unwritten.discard(each)

    def is_blind(self, prompt_id: str) -> bool:
        return prompt_id not in self._seen

    def undo(self) -> Event | None:
        """Take the annotator's latest label or skip among these prompts back."""
        return self.store.undo(self.annotator, [prompt.id for prompt in self.prompts])

    def disputes(self, prompt_id: str | None = None) -> tuple[Dispute, ...]:
        """The pairs on which people differ, where the memory still reads as it did, of one prompt or of all."""
        digests = self.digests()
        disputes = self.store.disputes(self.index.root, prompt_id)
        return tuple(one for one in disputes if digests.get(one.memory_id) == one.digest)

    def report(self, extras: Extras = NONE) -> Report:
        """The report of what the label store holds now. May be called from any thread; raises LabelStoreError."""
        index = self.index
        summaries = index.summaries()
        digests = {summary.id: summary.digest for summary in summaries}
        names = Names(memories={summary.id: summary.title for summary in summaries})
        with LabelStore.open(self.store.path) as store:
            return report_from_store(
                store, index.root, digests, names=names, extras=extras, config=self.config, cutoff=self.cutoff
            )
