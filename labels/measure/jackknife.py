"""Intervals of numbers that are no share of memories: leaving each prompt out in turn tells how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import atan, cos, exp, inf, lgamma, log1p, pi, sin, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = tuple[float, ...]
    """The numbers of one prompt."""

    Statistic = Callable[[Sequence[float]], float | None]
    """A number that follows from the sums over all prompts; None where it is not defined."""

ANY = Interval(-inf, inf)


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


def sums(rows: Sequence[Row]) -> Row:
    return tuple(map(sum, zip(*rows, strict=True)))


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
