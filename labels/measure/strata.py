"""Estimates from prompts that were not all equally likely to be labelled: weights, samples by stratum, precision."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval, extremes, wilson

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence, Set

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
    weights: dict[str, dict[str, float]] = {}
    for prompt_id, sure in certain.items():
        for memory_id, probability in inclusion.get(prompt_id, {}).items():
            if probability < 1 and memory_id not in sure:
                weights.setdefault(prompt_id, {})[memory_id] = 1 / probability
    return weights


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


@dataclass(frozen=True)
class Stratum:
    """`weight` is the stratum's share of the frame's prompts, `drawn` the counts of its judged prompts."""

    weight: float
    drawn: tuple[Counts, ...]

    @cached_property
    def mean(self) -> Counts:
        return sum(x for x, _ in self.drawn) / len(self.drawn), sum(m for _, m in self.drawn) / len(self.drawn)


def stratified_estimate(
    judged: Mapping[str, Counts], strata: Mapping[str, Hashable], confidence: float = 0.95
) -> StratifiedEstimate | None:
    """The combined ratio estimate; None when no prompt was judged, or no memory in them.

    *judged* are the counts of each judged prompt, *strata* the stratum of every prompt in the frame, judged or not.
    Within a stratum the judged prompts must be a random draw. Each of them then stands for N_h / n_h prompts:
    sum_h N_h/n_h sum x / sum_h N_h/n_h sum m. Prompts without a stratum do not count. With one stratum this is
    `headline_interval`. Source: W. G. Cochran, Sampling Techniques (1977), section 6.11.
    """
    groups = grouped(judged, strata)
    value = combined_ratio([(group.weight, group.mean) for group in groups])
    if value is None:
        return None
    effective = effective_size(groups, len(strata))
    interval = wilson(value * effective, effective, confidence)
    assert interval is not None  # as there is a value, something was judged
    prompts = sum(len(group.drawn) for group in groups)
    return StratifiedEstimate(value, interval, prompts, effective, 1 - sum(group.weight for group in groups))


def grouped(judged: Mapping[str, Counts], strata: Mapping[str, Hashable]) -> list[Stratum]:
    """The strata that have a judged prompt."""
    sizes = Counter(strata.values())
    drawn: dict[Hashable, list[Counts]] = {}
    for prompt_id, counts in judged.items():
        if prompt_id in strata:
            drawn.setdefault(strata[prompt_id], []).append(counts)
    return [Stratum(sizes[name] / len(strata), tuple(rows)) for name, rows in drawn.items()]


def combined_ratio(means: Sequence[tuple[float, Counts]]) -> float | None:
    """Precision from each stratum's share of the frame and its mean counts; None if nothing was judged."""
    relevant = sum(weight * x for weight, (x, _) in means)
    size = sum(weight * m for weight, (_, m) in means)
    return relevant / size if size else None


def effective_size(groups: Sequence[Stratum], frame: int) -> float:
    """As `labels.measure.intervals.effective_size`, with the two extreme prompts in each stratum."""
    memories = sum(m for group in groups for _, m in group.drawn)
    widened = [Stratum(group.weight, (*group.drawn, *extremes(group.mean[1]))) for group in groups]
    return memories / max(1.0, design_effect(groups, frame), design_effect(widened, frame))


def design_effect(groups: Sequence[Stratum], frame: int) -> float:
    """The variance, divided by that of as many independent memories; 1 where every memory is relevant, or none."""
    p = combined_ratio([(group.weight, group.mean) for group in groups])
    memories = sum(m for group in groups for _, m in group.drawn)
    return variance(groups, p, frame) / (p * (1 - p) / memories) if p and p < 1 else 1.0


def variance(groups: Sequence[Stratum], p: float, frame: int) -> float:
    """The linearised variance of the combined ratio *p*, where the *frame* prompts are themselves a sample.

    With residuals d = x - p m, which add up to 0: sum_h W_h^2 s_h^2 / n_h + sum_h W_h (mean of d in h)^2 / N, divided
    by the squared mean of m. The first part is Cochran's (6.13), without finite population correction. The second is
    from his section 12.2 (double sampling for stratification): the shares of the strata are those of a sample.
    """
    size = sum(group.weight * group.mean[1] for group in groups) / sum(group.weight for group in groups)
    within = between = 0.0
    for group in groups:
        n = len(group.drawn)
        residuals = [x - p * m for x, m in group.drawn]
        mean = sum(residuals) / n
        within += group.weight**2 * sum((residual - mean) ** 2 for residual in residuals) / max(1, n - 1) / n
        between += group.weight * mean**2 / frame
    return (within + between) / size**2
