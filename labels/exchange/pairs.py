"""A dataset by pairs, for formats that have a row for each prompt and memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from engine.prompt import Prompt
from labels.exchange import standing
from labels.exchange.records import MemoryText
from labels.records import NOT_RELEVANT, RELEVANT, SKIP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labels.exchange.records import Dataset, JudgeCall, JudgeVerdict, LabelEvent, PairKey, Result, Retrieved
    from labels.exchange.standing import Gold


@dataclass(frozen=True)
class Opinion:
    """What the judge of a system said of a pair."""

    system: str
    call: JudgeCall
    verdict: JudgeVerdict


@dataclass(frozen=True)
class JudgedPair:
    """A prompt and a memory text, and what people, judges and systems make of them.

    `labels` are one for each annotator, in the order of their names; `skips` are by annotators who gave none. `systems`
    maps those that looked at the memory to what came of it. `is_pooled`: it was, or would be, put before a person.
    """

    prompt: Prompt
    memory: MemoryText
    labels: tuple[LabelEvent, ...] = ()
    settled: LabelEvent | None = None
    skips: tuple[LabelEvent, ...] = ()
    gold: Gold | None = None
    opinions: tuple[Opinion, ...] = ()
    systems: tuple[tuple[str, Result], ...] = ()
    is_pooled: bool = False


def judged_pairs(dataset: Dataset) -> tuple[JudgedPair, ...]:
    """The pairs that have a label, were pooled or are injected by some system; prompts in the dataset's order."""
    return PairView(dataset).pairs


@dataclass(frozen=True)
class PairView:
    """What is needed to say everything of a pair, each looked up once."""

    dataset: Dataset

    @property
    def pairs(self) -> tuple[JudgedPair, ...]:
        place = {prompt.id: number for number, prompt in enumerate(self.dataset.prompts)}
        keys = dict.fromkeys((*self.gold, *self.labels, *self.skips, *self.settled, *self.pooled))
        ordered = sorted(keys, key=lambda key: (place.get(key[0], len(place)), key))
        return tuple(self.pair(key) for key in ordered)

    def pair(self, key: PairKey) -> JudgedPair:
        prompt_id, memory_id, digest = key
        labelled = {label.annotator for label in self.labels.get(key, [])}
        return JudgedPair(
            prompt=self.prompts.get(prompt_id) or Prompt(id=prompt_id, text=""),
            memory=self.memories.get((memory_id, digest)) or MemoryText(memory_id, digest),
            labels=tuple(sorted(self.labels.get(key, []), key=lambda label: label.annotator)),
            settled=self.settled.get(key),
            skips=tuple(skip for skip in self.skips.get(key, []) if skip.annotator not in labelled),
            gold=self.gold.get(key),
            opinions=self.opinions.get(key, ()),
            systems=self.systems.get(key, ()),
            is_pooled=key in self.pooled,
        )

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        return {prompt.id: prompt for prompt in self.dataset.prompts}

    @cached_property
    def memories(self) -> dict[tuple[str, str], MemoryText]:
        return {(memory.id, memory.digest): memory for memory in self.dataset.memories}

    @cached_property
    def labels(self) -> dict[PairKey, list[LabelEvent]]:
        return grouped(standing.current(self.dataset.events).values())

    @cached_property
    def skips(self) -> dict[PairKey, list[LabelEvent]]:
        """The latest skip of each annotator and pair."""
        skips = [event for event in standing.standing(self.dataset.events) if event.action == SKIP and not event.repeat]
        return grouped(standing.latest(skips, lambda event: (event.annotator, event.pair)).values())

    @cached_property
    def settled(self) -> dict[PairKey, LabelEvent]:
        return standing.adjudications(self.dataset.events)

    @cached_property
    def gold(self) -> dict[PairKey, Gold]:
        return standing.gold(self.dataset.events)

    @cached_property
    def newest(self) -> list[tuple[str, Retrieved]]:
        return newest_retrievals(self.dataset)

    @cached_property
    def systems(self) -> dict[PairKey, tuple[tuple[str, Result], ...]]:
        found: dict[PairKey, tuple[tuple[str, Result], ...]] = {}
        for system, retrieved in self.newest:
            for result in retrieved.results:
                key = retrieved.prompt_id, result.memory_id, result.digest
                found[key] = (*found.get(key, ()), (system, result))
        return found

    @cached_property
    def opinions(self) -> dict[PairKey, tuple[Opinion, ...]]:
        found: dict[PairKey, tuple[Opinion, ...]] = {}
        for system, retrieved in self.newest:
            for result in retrieved.results:
                if retrieved.call and result.verdict:
                    key = retrieved.prompt_id, result.memory_id, result.digest
                    found[key] = (*found.get(key, ()), Opinion(system, retrieved.call, result.verdict))
        return found

    @cached_property
    def pooled(self) -> dict[PairKey, None]:
        """What was pooled, and what the systems inject now."""
        framed = dict.fromkeys(framed.pair for framed in self.dataset.frame)
        injected = (key for key, seen in self.systems.items() if any(result.injected for _, result in seen))
        return framed | dict.fromkeys(injected)


def newest_retrievals(dataset: Dataset) -> list[tuple[str, Retrieved]]:
    """The newest retrieval of each prompt and system, with the system's name; systems in the order of their names."""
    names = {run.run_id: run.system for run in dataset.runs}
    newest: dict[tuple[str, str], Retrieved] = {}
    for retrieved in sorted(dataset.retrievals, key=lambda retrieved: retrieved.ts):
        newest[names[retrieved.run_id], retrieved.prompt_id] = retrieved
    return [(system, retrieved) for (system, _), retrieved in sorted(newest.items(), key=lambda item: item[0])]


def grouped(events: Iterable[LabelEvent]) -> dict[PairKey, list[LabelEvent]]:
    by_pair: dict[PairKey, list[LabelEvent]] = {}
    for event in events:
        by_pair.setdefault(event.pair, []).append(event)
    return by_pair


def one_text_each(pairs: Iterable[JudgedPair]) -> list[JudgedPair]:
    """*pairs*, for formats that know no versions: of several texts of a memory, the one that was labelled last."""
    newest: dict[tuple[str, str], JudgedPair] = {}
    for pair in sorted(pairs, key=last_said):
        newest[pair.prompt.id, pair.memory.id] = pair
    kept = {id(pair) for pair in newest.values()}
    return [pair for pair in pairs if id(pair) in kept]


def last_said(pair: JudgedPair) -> tuple[bool, str]:
    return pair.gold is not None, pair.gold.ts if pair.gold else ""


@dataclass(frozen=True)
class JudgedPrompt:
    """A prompt with the memories that are relevant to it, and those that are not, as gold says."""

    prompt: Prompt
    relevant: tuple[MemoryText, ...]
    irrelevant: tuple[MemoryText, ...]


def judged_prompts(dataset: Dataset) -> tuple[JudgedPrompt, ...]:
    """The prompts of which at least one memory is judged, with one text of each memory."""
    verdicts: dict[str, dict[str, list[MemoryText]]] = {}
    prompts: dict[str, Prompt] = {}
    for pair in one_text_each([pair for pair in judged_pairs(dataset) if pair.gold]):
        if pair.gold and pair.gold.verdict in (RELEVANT, NOT_RELEVANT):
            prompts[pair.prompt.id] = pair.prompt
            verdicts.setdefault(pair.prompt.id, {}).setdefault(pair.gold.verdict, []).append(pair.memory)
    return tuple(
        JudgedPrompt(prompts[prompt_id], tuple(said.get(RELEVANT, ())), tuple(said.get(NOT_RELEVANT, ())))
        for prompt_id, said in verdicts.items()
    )
