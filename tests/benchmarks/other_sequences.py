"""Oracles for the live interval: the beta-binomial mixture, and the betting test looked at after every prompt."""

from __future__ import annotations

from math import lgamma, log, log1p
from typing import TYPE_CHECKING

from labels.measure.intervals import NOTHING_KNOWN, STAKES, Interval, factors_at, last_true

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.measure.intervals import PerPrompt


def mirrored(per_prompt: PerPrompt) -> PerPrompt:
    """(irrelevant, judged) of each prompt."""
    return [(m - x, m) for x, m in per_prompt]


def rejected_after(per_prompt: PerPrompt, most: float, threshold: float, p: float) -> int | None:
    """The number of prompts after which the betting test rejects all precisions up to *p*; None if it never does."""
    factors, capital = factors_at(set(per_prompt), most, p), [1.0] * len(STAKES)
    for number, counts in enumerate(per_prompt, start=1):
        capital = [own * factor for own, factor in zip(capital, factors[counts], strict=True)]
        if sum(capital) / len(STAKES) >= threshold:
            return number
    return None


def beta_binomial_interval(scores: Sequence[float], confidence: float = 0.95) -> Interval:
    """The confidence sequence of the mean of *scores* (each 0..1, in any order) at this moment; 0..1 without scores.

    It holds all p with p^S (1-p)^(n-S) > alpha * B(1+S, 1+n-S), where S is the sum. The likelihood ratio of a uniform
    mixture against p is a martingale for scores of 0 and 1, and less than that for scores between, where the ratio is
    convex. It is wider than betting where scores spread less than 0 and 1 do. Source: H. Robbins, Annals of
    Mathematical Statistics 41 (1970); S. Howard, A. Ramdas, J. McAuliffe and J. Sekhon, Time-uniform, nonparametric,
    nonasymptotic confidence sequences, Annals of Statistics 49 (2021).
    """
    n, total = len(scores), sum(scores)
    if not n:
        return NOTHING_KNOWN
    least = log(1 - confidence) + lgamma(1 + total) + lgamma(1 + n - total) - lgamma(2 + n)
    return Interval(beta_bound(total, n, least), 1 - beta_bound(n - total, n, least))


def beta_bound(total: float, n: int, least: float) -> float:
    """The largest p below the mean whose log-likelihood, which rises up to the mean, is at most *least*."""
    mean = total / n
    if not total:
        return 0.0
    return last_true(lambda p: p < mean and total * log(p) + (n - total) * log1p(-p) <= least)
