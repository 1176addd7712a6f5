"""The opened root: one folder of memories with its index, judge, prompts, retrievals and labels."""

from __future__ import annotations

import os
from dataclasses import InitVar, dataclass
from time import perf_counter, time
from typing import TYPE_CHECKING

from engine.config import SYSTEMS, is_injected
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.roots import open_together
from engine.stores.registry import HOLDS_NO_MEMORIES
from engine.stores.roots import roots_in
from labels.measure.report import PLAIN
from labels.pooling import draw, labelling_order, pool
from labels.records import BY_HAND
from labels.runs import empty_prompts
from labels.store import LabelStore
from tui.workspace.prompts import PromptLists
from tui.workspace.retrievals import Injections, record
from tui.workspace.root_labels import RootLabels, let_labels_follow, present_phrases, root_report
from tui.workspace.systems import RootSystems

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set

    from engine.config import Config
    from engine.conversations.prompt_files import PromptReading
    from engine.cutoff import Cutoff
    from engine.judge.judge import Judge
    from engine.judge.limits import Limits
    from engine.memory import Memory, Skipped
    from engine.prompt import Prompt
    from engine.retrieval import Retrieval
    from engine.roots import OpenIndex, OpenRoots
    from labels.measure.report import Report, ReportOptions
    from labels.records import Event, Pool
    from tui.workspace.judging import Offer
    from tui.workspace.sources import Settings, Sources

DEFAULT_SEED = 1


@dataclass(eq=False)
class Workspace(RootSystems, RootLabels):
    """One opened root. Any thread may call `run`; all other calls belong to the thread that made it.

    `judge` is None if no judge is on. `cutoff` is the cutoff that the hook uses, if any. `seed` fixes the order of
    prompts and cards, so that labelling continues at the same place. `draw` is `labels.pooling.draw`: it decides which
    prompts have a list card. `clock` gives seconds, `now` seconds since 1970.
    `unread_prompts`: rows of prompt files that could not be read. `notice`: a sentence about settings that do not
    count. `spending`: the agreement that the judge waits for, if any. `sources`: the files behind it, to read them
    again. `joint`: the settings of several open roots. `lists`: the sample and the scratch prompts. `reading` counts
    how often the memories were read.

    `chosen`: the names of the systems that a person wants to compare. `wanted_prompt` and `wanted_memory`: the ids that
    Replay and Browse show next. `wanted_reason`: the id of a memory; Replay shows why the wanted prompt finds it.
    """

    root: str
    config: Config
    store: LabelStore
    judge: Judge | None = None
    cutoff: Cutoff | None = None
    prompts_of_files: InitVar[tuple[Prompt, ...]] = ()
    takes_replayed: InitVar[bool] = False
    annotator: str = "me"
    seed: int = DEFAULT_SEED
    draw: Callable[[str, int, Mapping[str, float]], float] = draw
    clock: Callable[[], float] = perf_counter
    now: Callable[[], float] = time
    unread_prompts: tuple[Skipped, ...] = ()
    notice: str = ""
    spending: Limits | None = None
    joint: OpenRoots | None = None
    sources: Sources | None = None
    chosen: tuple[str, ...] = ()
    wanted_prompt: str = ""
    wanted_memory: str = ""
    wanted_reason: str = ""
    reading: int = 1

    def __post_init__(self, prompts_of_files: tuple[Prompt, ...], takes_replayed: bool) -> None:
        self._open: list[OpenIndex | Judge | LabelStore] = [self.store, *([self.judge] if self.judge else [])]
        try:
            self.index = self._opened()
            let_labels_follow(self.store, self.index)
            self.lists = PromptLists(self.store, self.index.root, prompts_of_files, takes_replayed=takes_replayed)
            self._seen = set(self.store.seen_prompts(self.annotator))
        except BaseException:
            self.close()
            raise
        self.injections = Injections(self.index)
        self._contents = self.index.contents
        self._retrievals: dict[tuple[str, str], Retrieval] = {}
        self._pools: dict[str, Pool] = {}
        self._unwritten: set[str] = set()

    def close(self) -> None:
        for opened in reversed(self._open):
            opened.close()

    def reload(self) -> None:
        """Read the root again and forget the retrievals. Raises RootError, and then nothing has changed.

        `reading` counts the readings. The old index stays open, because a worker may still use it.
        """
        self.index = self._opened()
        self._forget_retrievals()

    def _opened(self) -> OpenIndex:
        joint = self.joint
        index = open_together(joint.paths if joint else [self.root], os.environ, joint.others if joint else None)
        self._open.append(index)
        return index

    @property
    def roots(self) -> tuple[str, ...]:
        """The open roots, as the indexes name them."""
        return tuple(roots_in(self.index.root))

    def take_changes(self, *, is_reread: bool) -> None:
        """Forget the retrievals of memories that were changed. *is_reread*: the index file holds the changes.

        Raises RootError.
        """
        if is_reread and not self.index.is_in_memory:
            self._forget_retrievals()
        else:
            self.reload()

    @property
    def is_behind(self) -> bool:
        """Whether the index holds other memories than at the last reading."""
        return self._contents != self.index.contents

    def is_other(self, settings: Settings) -> bool:
        """Whether *settings* differ from those that the workspace goes by."""
        new = settings.joint
        one, other = (found and (found.kind, found.model, found.threshold) for found in (self.cutoff, new.cutoff))
        beside = self.joint.others if self.joint else {}
        return (self.config, beside, one) != (new.config, new.others, other)

    def take_settings(self, settings: Settings) -> None:
        """Go on with other settings, and forget the retrievals. The old judge may still be answering.

        A changed judge waits for an agreement again. Raises ConfigError and RootError.
        """
        joint = settings.joint
        if self.sources and self.config.judge != joint.config.judge:
            self.judge = self.sources.judge_of(joint.config)
            self._open += [self.judge] if self.judge else []
        self.joint, self.config, self.cutoff = joint, joint.config, joint.cutoff
        self.notice = settings.notice
        self.reload()

    def take_prompts(self, reading: PromptReading) -> bool:
        """Have the prompts of the files as they are now; False if nothing differs."""
        before = self.lists.all, self.unread_prompts
        self.lists.read(reading.prompts)
        self.unread_prompts = reading.skipped
        return before != (self.lists.all, self.unread_prompts)

    def _forget_retrievals(self) -> None:
        self._contents = self.index.contents
        self.injections = Injections(self.index)
        self.reading += 1
        self._retrievals.clear()
        self._pools.clear()

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Files and rows that could not be read, of memories and of prompts.

        A folder without memories is none of them: every screen says what it holds.
        """
        files = self.index.skipped
        if not len(self.index):
            files = tuple(file for file in files if not file.reason.startswith(HOLDS_NO_MEMORIES))
        return files + self.unread_prompts

    # The judge

    def agree(self, limit_usd: float | None) -> None:
        """Let the judge be asked, up to this cost in US dollars. Pools are made anew, with the judge's system."""
        if self.spending:
            self.spending.agree(limit_usd)
            self._pools.clear()

    def offer(self) -> Offer | None:
        """What a person would agree to for all prompts, typed ones too; None without a judge that waits for it."""
        if self.judge is None or self.spending is None:
            return None
        from tui.workspace.judging import offer

        size = self.config.judge.candidate_pool_size
        return offer(self.judge, self.lists.all, self.index.summaries(), size)

    # Prompts

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """The sample: what is labelled, replayed as a whole, and measured."""
        return self.lists.sample

    def first_prompt(self) -> Prompt:
        """The prompt to begin with: the wanted one, else the first; else an example, a phrase or the newest title."""
        if found := self.lists.find(self.wanted_prompt) or next(iter(self.lists.all), None):
            return found
        active = (memory for memory in self.index.summaries() if memory.status == "active")
        newest = max(active, key=lambda memory: memory.updated_at, default=None)
        phrase = next(iter(present_phrases(self.index)), "")
        return typed_prompt(phrase or (newest.about or newest.name if newest else ""))

    def labelling_order(self) -> tuple[Prompt, ...]:
        """The chosen prompts, and then the others in random order; those whose ranks were on the screen come last."""
        by_id = {prompt.id: prompt for prompt in self.lists.drawn}
        drawn = sorted(labelling_order(by_id, self.seed), key=lambda prompt_id: not self.is_blind(prompt_id))
        return (*self.lists.chosen, *(by_id[prompt_id] for prompt_id in drawn))

    # Retrievals

    def run(self, prompt: Prompt, system: str) -> Retrieval:
        """Run *prompt* through a system. Asks the judge if the system has one, which may take seconds.

        An error of the judge is a status of the retrieval, not an exception. Raises KeyError for an unknown system, and
        for a record of injections that the prompt does not have.
        """
        if is_injected(system):
            found = self.injections.retrieval(prompt, system)
            if found is None:
                raise KeyError(system)
            return found
        return self._run(prompt, system, self.judge)

    def _run(self, prompt: Prompt, system: str, judge: Judge | None) -> Retrieval:
        named = SYSTEMS[system]
        cutoff = self.cutoff if named.has_cutoff else None
        opened = OpenSystem(
            named.of(self.config), cutoff, judge if named.has_judge else None, clock=self.clock, now=self.now
        )
        return retrieve(Query(prompt), self.index, opened)

    def previewed(self, prompt: Prompt, system: str) -> Retrieval | None:
        """The kept answer of a system, or one that is not recorded. A judge answers from its cache, or with None.

        Any thread may call it.
        """
        if kept := self.retrieval(prompt.id, system):
            return kept
        found = self._run(prompt, system, self.judge and self.judge.from_cache())
        return None if found.judgement and not found.judgement.is_answer else found

    def retrieval(self, prompt_id: str, system: str) -> Retrieval | None:
        """The kept retrieval of a prompt and a system, or None."""
        return self._retrievals.get((prompt_id, system))

    def answers(self, prompt_id: str) -> list[Retrieval | None]:
        """The kept retrievals of the columns, None where there is none."""
        return [self.retrieval(prompt_id, name) for name in self.heads]

    def keep(self, retrieval: Retrieval) -> None:
        """Keep a retrieval and record it in the label store. Raises LabelStoreError."""
        self.adopt(retrieval)
        record(retrieval, self.store, self.index, self.config, self.judge, self.cutoff, self.injections.memory)

    def adopt(self, retrieval: Retrieval) -> None:
        """Keep a retrieval that is recorded already."""
        self._retrievals[retrieval.prompt.id, retrieval.system] = retrieval
        self._pools.pop(retrieval.prompt.id, None)

    @property
    def finished(self) -> Set[tuple[str, str]]:
        """(prompt id, system) of each kept retrieval."""
        return self._retrievals.keys()

    def forget(self, prompt_id: str) -> None:
        """Drop the kept retrievals of a prompt, so that it runs again."""
        for system in self.systems:
            self._retrievals.pop((prompt_id, system), None)

    def memory(self, memory_id: str) -> Memory | None:
        """A memory of the root, or an injected text that no root holds."""
        return self.injections.memory(memory_id, self.prompts)

    # Labels

    def pool(self, prompt_id: str) -> Pool | None:
        """The pool of a prompt, or None until every system has run it. It is recorded in the label store."""
        retrievals = [self._retrievals.get((prompt_id, system)) for system in self.systems]
        if not all(retrievals):
            return None
        if prompt_id not in self._pools:
            prompt = self.lists.find(prompt_id)
            injected = self.injections.all_of(prompt) if prompt else []
            drawn = sum(self._drawn([prompt] if prompt else []).values())
            made = pool([*(retrieval for retrieval in retrievals if retrieval), *injected], self.seed, drawn)
            self.store.record_pool(made)
            self._pools[prompt_id] = made
        return self._pools[prompt_id]

    def _drawn(self, prompts: Sequence[Prompt]) -> dict[str, float]:
        """Those of *prompts* that are drawn for a list card, with the probability of that.

        A prompt whose ranks were seen, or that a person chose, is not drawn any more.
        """
        known, own = self.store.drawn(self.seed), {prompt.id for prompt in self.prompts}
        before = {name: share for name, share in known.items() if name in own}
        free = (prompt.id for prompt in prompts if self.is_blind(prompt.id) and prompt.source not in BY_HAND)
        drawn = {name: self.draw(name, self.seed, before) for name in (*free, *before)}
        return {prompt.id: drawn[prompt.id] for prompt in prompts if drawn.get(prompt.id)}

    def empty_prompts(self) -> set[str]:
        """The prompts for which every system ran over the current memories at some time and left nothing to label."""
        found = self.store.empty_replays(self.index.root, self.index.corpus_hash)
        silent, bare = (
            set.intersection(*(empty_prompts(own, name, self.config, self.cutoff) for name in self.systems))
            for own in (found, [replay for replay in found if replay.is_bare])
        )
        return (silent - self._drawn(self.prompts).keys() | bare) - {
            prompt.id
            for prompt in self.prompts
            if any(injection.text or injection.ids for injection in prompt.injections)
        }

    def show(self, prompt_id: str) -> None:
        """Note that ranks and verdicts of a prompt are visible: its labels are not blind from now on.

        Raises LabelStoreError if this cannot be written. It still holds in this process, and the next call tries again.
        """
        if prompt_id not in self._seen:
            self._seen.add(prompt_id)
            self._unwritten.add(prompt_id)
        for unwritten in sorted(self._unwritten):
            self.store.record_seen(self.annotator, unwritten)
            self._unwritten.discard(unwritten)

    def has_news(self) -> bool:
        """Whether another program wrote labels since the last call. Prompts that it revealed are not blind any more."""
        if not self.store.has_news():
            return False
        self._seen |= self.store.seen_prompts(self.annotator)
        return True

    def is_blind(self, prompt_id: str) -> bool:
        return prompt_id not in self._seen

    def undo(self) -> Event | None:
        """Take back the annotator's latest label or skip of these prompts; None if there is none."""
        return self.store.undo(self.annotator, [prompt.id for prompt in self.lists.all])

    def report(self, options: ReportOptions = PLAIN) -> Report:
        """The report on the current label store. Any thread may call it. Raises LabelStoreError."""
        with LabelStore.open(self.store.path) as store:
            return root_report(store, self.index, self.config, self.cutoff, options)
