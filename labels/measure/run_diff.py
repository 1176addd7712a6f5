"""Two runs of the same prompts: which memories the later one gained and lost, prompt by prompt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from labels.measure.metrics import Ratio
from labels.records import NOT_RELEVANT, RELEVANT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from labels.records import Gold, Judgements
    from labels.runs import InjectedMemory

    Sets = Mapping[str, tuple[InjectedMemory, ...]]
    """prompt id -> the injected memories, best first."""

    Judge = Callable[[str, InjectedMemory], bool | None]
    """The judgement on a memory for a prompt id; None without one."""


@dataclass(frozen=True)
class Judged:
    """A memory in a diff. `is_relevant`: the judgement on it, None without one. `is_edited`: its text changed."""

    memory: InjectedMemory
    is_relevant: bool | None = None
    is_edited: bool = False


@dataclass(frozen=True)
class PromptDiff:
    """What two runs inject for a prompt; None for a run that does not have the prompt."""

    prompt_id: str
    before: tuple[Judged, ...] | None
    now: tuple[Judged, ...] | None

    @property
    def is_in_both(self) -> bool:
        return self.before is not None and self.now is not None

    @cached_property
    def gained(self) -> tuple[Judged, ...]:
        """Injected now and not before; empty if one run does not have the prompt, as are `lost` and `same`."""
        return _without(self.now, self.before)

    @cached_property
    def lost(self) -> tuple[Judged, ...]:
        return _without(self.before, self.now)

    @cached_property
    def same(self) -> tuple[Judged, ...]:
        kept = {memory.memory.memory_id for memory in self.before or ()}
        return tuple(memory for memory in self.now or () if memory.memory.memory_id in kept)

    @property
    def is_changed(self) -> bool:
        return bool(self.gained or self.lost)

    @cached_property
    def worth(self) -> int:
        """Relevant memories gained and irrelevant ones lost, minus the reverse. Unlabelled memories do not count."""
        return sum(_value(memory) for memory in self.gained) - sum(_value(memory) for memory in self.lost)


@dataclass(frozen=True)
class RunDiff:
    """All prompts of two runs: first those of the later run in its order, then those that only the earlier one has."""

    prompts: tuple[PromptDiff, ...]

    @cached_property
    def both(self) -> tuple[PromptDiff, ...]:
        return tuple(prompt for prompt in self.prompts if prompt.is_in_both)

    @cached_property
    def changed(self) -> tuple[PromptDiff, ...]:
        return tuple(prompt for prompt in self.prompts if prompt.is_changed)

    @property
    def only_before(self) -> tuple[PromptDiff, ...]:
        return tuple(prompt for prompt in self.prompts if prompt.now is None)

    @property
    def only_now(self) -> tuple[PromptDiff, ...]:
        return tuple(prompt for prompt in self.prompts if prompt.before is None)

    @property
    def is_equal(self) -> bool:
        """Whether both runs have the same prompts and inject the same memories for each."""
        return not any(prompt.is_changed or not prompt.is_in_both for prompt in self.prompts)

    @cached_property
    def precision_before(self) -> Ratio:
        """Of the labelled memories that were injected for the prompts of both runs, the relevant ones."""
        return relevant(memory for prompt in self.both for memory in prompt.before or ())

    @cached_property
    def precision_now(self) -> Ratio:
        return relevant(memory for prompt in self.both for memory in prompt.now or ())


def relevant(memories: Iterable[Judged]) -> Ratio:
    """The relevant memories of those with a judgement."""
    judged = [memory.is_relevant for memory in memories if memory.is_relevant is not None]
    return Ratio(sum(judged), len(judged))


def diff_runs(before: Sets, now: Sets, judge: Judge) -> RunDiff:
    """Compare the injected sets of two runs."""
    ids = dict.fromkeys((*now, *before))
    return RunDiff(
        tuple(_prompt_diff(prompt_id, before.get(prompt_id), now.get(prompt_id), judge) for prompt_id in ids)
    )


def _prompt_diff(
    prompt_id: str, before: tuple[InjectedMemory, ...] | None, now: tuple[InjectedMemory, ...] | None, judge: Judge
) -> PromptDiff:
    digests = {memory.memory_id: memory.digest for memory in before or ()}

    def judged(memories: tuple[InjectedMemory, ...] | None) -> tuple[Judged, ...] | None:
        if memories is None:
            return None
        return tuple(
            Judged(memory, judge(prompt_id, memory), _differ(memory.digest, digests.get(memory.memory_id)))
            for memory in memories
        )

    return PromptDiff(prompt_id, judged(before), judged(now))


def by_labels(labels: Iterable[Gold]) -> Judge:
    """The judgements of people: on the text that a run injected, or, if a file does not tell it, on all its texts."""
    texts: dict[tuple[str, str, str], bool] = {}
    memories: dict[tuple[str, str], set[bool]] = {}
    for label in labels:
        if label.verdict in (RELEVANT, NOT_RELEVANT):
            texts[label.prompt_id, label.memory_id, label.digest] = label.verdict == RELEVANT
            memories.setdefault((label.prompt_id, label.memory_id), set()).add(label.verdict == RELEVANT)

    def judge(prompt_id: str, memory: InjectedMemory) -> bool | None:
        if memory.digest:
            return texts.get((prompt_id, memory.memory_id, memory.digest))
        said = memories.get((prompt_id, memory.memory_id), set())
        return next(iter(said)) if len(said) == 1 else None

    return judge


def by_qrels(judgements: Judgements) -> Judge:
    """The judgements of a file, which names no texts."""
    return lambda prompt_id, memory: judgements.get(prompt_id, {}).get(memory.memory_id)


def _without(memories: tuple[Judged, ...] | None, others: tuple[Judged, ...] | None) -> tuple[Judged, ...]:
    if memories is None or others is None:
        return ()
    known = {other.memory.memory_id for other in others}
    return tuple(memory for memory in memories if memory.memory.memory_id not in known)


def _differ(digest: str, other: str | None) -> bool:
    return bool(digest and other) and digest != other


def _value(memory: Judged) -> int:
    return 0 if memory.is_relevant is None else 1 if memory.is_relevant else -1
