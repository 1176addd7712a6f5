"""Estimates from prompts that were not all equally likely to be labelled: weights, samples by stratum, precision."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from labels.measure.intervals import Drawn, Interval, effective_size, precision_of, wilson
from labels.records import nested

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Set

    from labels.measure.intervals import Row

    Counts = tuple[float, float]
    """(relevant, judged) of one prompt."""


@dataclass(frozen=True)
class PairWeights:
    """Horvitz-Thompson weights: 1 / the probability of being judged, at least 1. A missing weight is 1.

    `strata` is the stratum of every prompt in the frame at the time when the order of labelling was made. It is empty
    where the prompts are one random draw. `prompts` are the weights N_h / n_h that follow from it. `pairs` (prompt id
    -> memory id -> weight) are memories of which only a random sample was shown to people.
    """

    strata: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, float] = field(default_factory=dict)
    pairs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def of_prompt(self, prompt_id: str) -> float:
        return self.prompts.get(prompt_id, 1.0)


EQUAL = PairWeights()
"""Every judged prompt and memory was equally likely to be judged."""


def prompt_weights(strata: Mapping[str, str], judged: Set[str]) -> dict[str, float]:
    """N_h / n_h of every *judged* prompt in *strata*: the prompts of its stratum for each judged one."""
    frame = Counter(strata.values())
    drawn = Counter(stratum for prompt_id, stratum in strata.items() if prompt_id in judged)
    # in the order of *strata*: the order of a set would change the last bit of a sum between processes
    return {name: frame[stratum] / drawn[stratum] for name, stratum in strata.items() if name in judged}


def pair_weights(
    inclusion: Mapping[str, Mapping[str, float]], certain: Mapping[str, Set[str]]
) -> dict[str, dict[str, float]]:
    """1 / probability of coming into the pool, where that is under 1; only for prompts in *certain*.

    *inclusion* are the probabilities (prompt id -> memory id). Memories in *certain* are in the pool with probability
    1, whatever an older pool says.
    """
    return nested(
        (prompt_id, memory_id, 1 / probability)
        for prompt_id, sure in certain.items()
        for memory_id, probability in inclusion.get(prompt_id, {}).items()
        if probability < 1 and memory_id not in sure
    )


@dataclass(frozen=True)
class LabelledSample:
    """The labelled prompts of one system, in order, and the frame that they were drawn from.

    `judged` are the (relevant, judged) counts of each completely judged prompt, in the order of judging. `injected` is
    the number of injected memories, at least 1, for every prompt of the frame for which the system injects any, judged
    or not. `strata` is the stratum of each of these prompts; empty means that the order of labelling was random.
    """

    judged: Mapping[str, Counts]
    injected: Mapping[str, int]
    strata: Mapping[str, Hashable] = field(default_factory=dict)

    @cached_property
    def frame(self) -> dict[str, Hashable]:
        """The stratum of each prompt in the frame."""
        return {prompt_id: self.strata.get(prompt_id, "") for prompt_id in self.injected}

    @cached_property
    def sequence(self) -> list[tuple[Hashable, Counts]]:
        """The stratum and the counts of each judged prompt, in order."""
        return [(self.frame[prompt_id], counts) for prompt_id, counts in self.judged.items()]

    @cached_property
    def shares(self) -> dict[Hashable, float]:
        """The part of all injected memories that belongs to each stratum, 0..1."""
        sizes: Counter[Hashable] = Counter()
        for prompt_id, stratum in self.frame.items():
            sizes[stratum] += self.injected[prompt_id]
        return {stratum: size / sizes.total() for stratum, size in sizes.items()}

    @cached_property
    def most(self) -> int:
        """The largest number of memories that is injected for a prompt."""
        return max(self.injected.values(), default=1)


@dataclass(frozen=True)
class StratifiedEstimate:
    """Set precision, each stratum weighted by its share of the frame.

    `value` is 0..1, `prompts` the number of judged prompts, `effective` the number of independent memories that would
    give an interval of the same width. `uncovered` is the share of the frame, 0..1, in strata without a judged prompt.
    """

    value: float
    interval: Interval
    prompts: int
    effective: float
    uncovered: float


def stratified_estimate(
    judged: Mapping[str, Counts], strata: Mapping[str, Hashable], confidence: float = 0.95
) -> StratifiedEstimate | None:
    """The precision of the frame; None when no prompt was judged, or no memory in them.

    *judged* are the counts of each judged prompt, *strata* the stratum of every prompt in the frame, judged or not.
    Within a stratum the judged prompts must be a random draw; each of them stands for N_h / n_h prompts. Prompts
    without a stratum do not count. With one stratum this is `headline_interval`.
    """
    sizes = Counter(strata.values())
    rows: dict[Hashable, Counter[Row]] = {}
    for prompt_id, counts in judged.items():
        if prompt_id in strata:
            rows.setdefault(strata[prompt_id], Counter())[counts] += 1
    drawn = [Drawn(own, sizes[stratum] / own.total()) for stratum, own in rows.items()]
    value = precision_of(drawn)
    if value is None:
        return None
    effective = effective_size(drawn, len(strata))
    interval = wilson(value * effective, effective, confidence)
    assert interval is not None  # as there is a value, something was judged
    unseen = sum(size for stratum, size in sizes.items() if stratum not in rows)
    return StratifiedEstimate(value, interval, sum(own.size for own in drawn), effective, unseen / len(strata))
