"""The estimate of precision when some kinds of prompts were labelled more than others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval, extremes, wilson

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    Counts = tuple[float, float]
    """(relevant, judged) of one prompt."""


@dataclass(frozen=True)
class Estimate:
    """Set precision, each stratum weighted by its share of the frame.

    `value` is 0..1; `prompts` were judged; `effective` independent memories would tell as much. `uncovered` is the
    share of the frame's prompts, 0..1, in strata of which none was judged: nothing is known of them.
    """

    value: float
    interval: Interval
    prompts: int
    effective: float
    uncovered: float


@dataclass(frozen=True)
class Stratum:
    """`weight` is its share of the frame's prompts, `drawn` are the judged ones."""

    weight: float
    drawn: tuple[Counts, ...]

    @cached_property
    def mean(self) -> Counts:
        return sum(x for x, _ in self.drawn) / len(self.drawn), sum(m for _, m in self.drawn) / len(self.drawn)


def stratified_estimate(
    judged: Mapping[str, Counts], strata: Mapping[str, Hashable], confidence: float = 0.95
) -> Estimate | None:
    """The combined ratio estimate; None when no prompt was judged or nothing was judged in them.

    *judged* are (relevant, judged) of each judged prompt, *strata* the stratum of every prompt in the frame, judged or
    not. Within a stratum the judged prompts must be a random draw, so that each stands for N_h / n_h of the frame:
    sum_h N_h/n_h sum x / sum_h N_h/n_h sum m. Prompts without a stratum do not count. With one stratum this is
    `headline_interval`. Source: W. G. Cochran, Sampling Techniques (1977), section 6.11.
    """
    groups = grouped(judged, strata)
    value = precision(groups)
    if value is None:
        return None
    effective = effective_size(groups, len(strata))
    interval = wilson(value * effective, effective, confidence)
    assert interval is not None  # as there is a value, something was judged
    prompts = sum(len(group.drawn) for group in groups)
    return Estimate(value, interval, prompts, effective, 1 - sum(group.weight for group in groups))


def grouped(judged: Mapping[str, Counts], strata: Mapping[str, Hashable]) -> list[Stratum]:
    """The strata of which something was judged."""
    sizes = Counter(strata.values())
    drawn: dict[Hashable, list[Counts]] = {}
    for prompt_id, counts in judged.items():
        if prompt_id in strata:
            drawn.setdefault(strata[prompt_id], []).append(counts)
    return [Stratum(sizes[name] / len(strata), tuple(rows)) for name, rows in drawn.items()]


def precision(groups: Sequence[Stratum]) -> float | None:
    return ratio([(group.weight, group.mean) for group in groups])


def ratio(means: Sequence[tuple[float, Counts]]) -> float | None:
    """Of strata with such a share of the frame and such means."""
    relevant = sum(weight * x for weight, (x, _) in means)
    size = sum(weight * m for weight, (_, m) in means)
    return relevant / size if size else None


def effective_size(groups: Sequence[Stratum], frame: int) -> float:
    """As `labels.measure.intervals.effective_size`, with the two prompts in each stratum."""
    memories = sum(m for group in groups for _, m in group.drawn)
    widened = [Stratum(group.weight, (*group.drawn, *extremes(group.mean[1]))) for group in groups]
    return memories / max(1.0, design_effect(groups, frame), design_effect(widened, frame))


def design_effect(groups: Sequence[Stratum], frame: int) -> float:
    """How many times larger the variance is than that of as many independent memories; 1 where there is none."""
    p = precision(groups)
    memories = sum(m for group in groups for _, m in group.drawn)
    return variance(groups, p, frame) / (p * (1 - p) / memories) if p and p < 1 else 1.0


def variance(groups: Sequence[Stratum], p: float, frame: int) -> float:
    """The linearised variance of the combined ratio, for what *frame* prompts are themselves a sample of.

    With residuals d = x - p m, which add up to 0: sum_h W_h^2 s_h^2 / n_h + sum_h W_h (mean of d in h)^2 / N, over the
    squared mean of m. The first part is Cochran's (6.13), without finite population correction; the second, from his
    section 12.2 (double sampling for stratification), is there because the strata's shares are those of a sample.
    """
    size = sum(group.weight * group.mean[1] for group in groups) / sum(group.weight for group in groups)
    within = between = 0.0
    for group in groups:
        n = len(group.drawn)
        residuals = [x - p * m for x, m in group.drawn]
        mean = sum(residuals) / n
        within += group.weight**2 * sum((each - mean) ** 2 for each in residuals) / max(1, n - 1) / n
        between += group.weight * mean**2 / frame
    return (within + between) / size**2
