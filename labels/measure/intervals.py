"""Confidence intervals for a single look. Memories of one prompt are alike, so prompts, not memories, are sampled."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import atan, cos, exp, inf, lgamma, log1p, pi, sin, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    PerPrompt = Sequence[tuple[float, float]]
    """(relevant, judged) of each prompt."""

    Row = tuple[float, ...]
    """The numbers of one prompt: for a precision, (relevant, judged)."""

    Statistic = Callable[[Sequence[float]], float | None]
    """A number that follows from the sums over all prompts; None where it is not defined."""


@dataclass(frozen=True)
class Interval:
    """A closed interval, low <= high; of proportions, 0..1, unless its field says something else."""

    low: float
    high: float


ANY = Interval(-inf, inf)


def wilson(successes: float, n: float, confidence: float = 0.95) -> Interval | None:
    """Wilson's score interval of a proportion; None if *n* is 0. *n* may be an effective size, not a whole number.

    scipy and statsmodels compute the same only for whole numbers. Source: E. B. Wilson, Probable inference, the law of
    succession, and statistical inference, JASA 22 (1927).
    """
    if n <= 0:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p = successes / n
    centre = p + z * z / (2 * n)
    spread = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # rounding errors alone could leave p outside, or leave 0..1, by the last bit
    return Interval(max(0.0, min(p, (centre - spread) / scale)), min(1.0, max(p, (centre + spread) / scale)))


@dataclass(frozen=True)
class Drawn:
    """The prompts that were drawn at random from a stratum: how often each row occurs.

    Thousands of prompts have few distinct rows. Each of them stands for `weight` prompts of the frame.
    """

    rows: Mapping[Row, int]
    weight: float = 1.0

    @cached_property
    def size(self) -> int:
        return sum(self.rows.values())

    @cached_property
    def totals(self) -> Row:
        scaled = ([self.weight * times * number for number in row] for row, times in self.rows.items())
        return tuple(map(sum, zip(*scaled, strict=True)))

    def change_without(self, row: Row) -> Row:
        """The change of the totals if a prompt with *row* had not been drawn: the others stand for more prompts."""
        share = self.size / (self.size - 1)
        return tuple(
            (total - self.weight * number) * share - total for total, number in zip(self.totals, row, strict=True)
        )

    def with_extremes(self) -> Drawn:
        """The sample with two more prompts of average size: one with only relevant memories, and one with none."""
        size = self.totals[1] / (self.weight * self.size)
        rows = Counter(self.rows) + Counter([(size, size), (0.0, size)])
        return Drawn(rows, self.weight * self.size / (self.size + 2))


def sums(rows: Sequence[Row]) -> Row:
    return tuple(map(sum, zip(*rows, strict=True)))


# Precision


def precision_of(strata: Sequence[Drawn]) -> float | None:
    """The combined ratio estimate sum_h N_h/n_h sum x / sum_h N_h/n_h sum m; None if nothing was judged.

    Source: W. G. Cochran, Sampling Techniques (1977), section 6.11.
    """
    relevant, judged = sums([stratum.totals for stratum in strata]) or (0.0, 0.0)
    return relevant / judged if judged else None


def variance(strata: Sequence[Drawn], p: float, frame: float) -> float:
    """The linearised variance of the combined ratio *p*, where the *frame* prompts are themselves a sample.

    With residuals d = x - p m, which add up to 0: sum_h W_h^2 s_h^2 / n_h + sum_h W_h (mean of d in h)^2 / N, divided
    by the squared mean of m; W_h is the stratum's share of the frame. The first part is Cochran's (6.13), without
    finite population correction. The second is from his section 12.2 (double sampling for stratification): the shares
    of the strata are those of a sample. With one stratum it is the variance of a regression on a constant with
    clustered errors.
    """
    within = between = 0.0
    for stratum in strata:
        n, share = stratum.size, stratum.weight * stratum.size / frame
        residuals = [(x - p * m, times) for (x, m), times in stratum.rows.items()]
        mean = sum(residual * times for residual, times in residuals) / n
        squares = sum((residual - mean) ** 2 * times for residual, times in residuals)
        within += share**2 * squares / max(1, n - 1) / n
        between += share * mean**2 / frame
    size = sum(stratum.totals[1] for stratum in strata) / sum(stratum.weight * stratum.size for stratum in strata)
    return (within + between) / size**2


def design_effect(strata: Sequence[Drawn], frame: float | None = None) -> float | None:
    """The variance, divided by the variance of as many independent memories.

    None when fewer than two prompts were judged, or when every memory is relevant, or none. *frame* is the number of
    prompts in the frame, by default in these strata.
    Source: L. Kish, Survey Sampling (1965), section 8.2.
    """
    p = precision_of(strata)
    if not p or p >= 1 or sum(stratum.size for stratum in strata) < 2:
        return None
    frame = frame or sum(stratum.weight * stratum.size for stratum in strata)
    return variance(strata, p, frame) / (p * (1 - p) / memories_in(strata))


def memories_in(strata: Iterable[Drawn]) -> float:
    """The number of judged memories, each counted once."""
    return sum(stratum.totals[1] / stratum.weight for stratum in strata)


def effective_size(strata: Sequence[Drawn], frame: float | None = None) -> float:
    """The number of independent memories that would tell as much: M / max(1, design effect).

    The design effect is computed twice, the second time with two extreme prompts added to each stratum. The larger one
    counts. Few prompts often show too little of how prompts differ, above all near 0 and 1, and the interval would be
    too narrow. The two matter among twenty prompts and not among many.
    It is the idea of the added successes and failures of A. Agresti and B. A. Coull, The American Statistician 52
    (1998), applied to prompts.
    """
    widened = [stratum.with_extremes() for stratum in strata]
    effects = (design_effect(strata, frame) or 1.0, design_effect(widened, frame) or 1.0)
    return memories_in(strata) / max(1.0, *effects)


def one_stratum(per_prompt: PerPrompt) -> list[Drawn]:
    """The prompts with a judged memory, as one random draw; empty without any."""
    rows: Counter[Row] = Counter(counts for counts in per_prompt if counts[1] > 0)
    return [Drawn(rows)] if rows else []


def headline_interval(per_prompt: PerPrompt, confidence: float = 0.95) -> Interval | None:
    """The interval of set precision: Wilson's with the effective size; None when nothing was judged.

    In simulations with design effects of 1.2 to 2.8 and precisions of .6 to .95 it covers 94 to 98 %, from ten prompts
    on. At a design effect of 2 the plain Wilson interval covers 82 to 87 %. See tests/benchmarks/intervals.py.
    """
    strata = one_stratum(per_prompt)
    p = precision_of(strata)
    if p is None:
        return None
    n = effective_size(strata)
    return wilson(p * n, n, confidence)


# Other numbers: an interval by leaving out each prompt in turn


def jackknife_interval(strata: Sequence[Drawn], statistic: Statistic, within: Interval = ANY) -> Interval | None:
    """The 95 % interval of *statistic*, cut to *within*.

    None where a stratum has a single prompt, as its variance is not known, and where the statistic is not defined
    without some prompt. With T_hi for the statistic without prompt i of stratum h, the variance is the sum over strata
    of (n_h - 1) / n_h * sum_i (T_hi - mean of T_h)^2; for a mean it is the usual one. The degrees of freedom of
    Student's t are the prompts, less the strata.
    Source: K. M. Wolter, Introduction to Variance Estimation (2007), section 4.5.
    """
    whole, variance = sums([drawn.totals for drawn in strata]), 0.0
    value = statistic(whole)
    for drawn in strata:
        if value is None or drawn.size < 2:
            return None
        left = [(statistic(sums([whole, drawn.change_without(row)])), times) for row, times in drawn.rows.items()]
        known = [(found, times) for found, times in left if found is not None]
        if len(known) < len(left):
            return None
        mean = sum(found * times for found, times in known) / drawn.size
        squares = sum((found - mean) ** 2 * times for found, times in known)
        variance += (drawn.size - 1) / drawn.size * squares
    if value is None:
        return None
    spread = student_quantile(sum(drawn.size for drawn in strata) - len(strata)) * sqrt(variance)
    return Interval(max(within.low, value - spread), min(within.high, value + spread))


def student_quantile(freedom: int, confidence: float = 0.95) -> float:
    """The bound that Student's t with *freedom* degrees, at least 1, stays within with a probability of *confidence*.

    Newton's method from the normal quantile, which is smaller: the probability is concave, so no step goes too far.
    """
    bound, step = NormalDist().inv_cdf((1 + confidence) / 2), inf
    half = (freedom + 1) / 2
    scale = exp(lgamma(half) - lgamma(freedom / 2)) / sqrt(freedom * pi)
    while step > 1e-13 * bound:
        density = scale * exp(-half * log1p(bound * bound / freedom))
        step = (confidence - student_within(bound, freedom)) / (2 * density)
        bound += step
    return bound


def student_within(bound: float, freedom: int) -> float:
    """The probability that Student's t lies between -*bound* and *bound*.

    Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4.
    """
    angle, odd = atan(bound / sqrt(freedom)), freedom % 2
    term = total = cos(angle) if odd else 1.0
    if freedom == 1:
        total = 0.0
    for number in range(2 + odd, freedom, 2):
        term *= (number - 1) / number * cos(angle) ** 2
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total
