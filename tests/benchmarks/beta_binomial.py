"""Another live interval, to compare ours with: the mixture that needs no bets."""

from __future__ import annotations

from math import lgamma, log, log1p
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval
from labels.measure.sequences import NOTHING_KNOWN, last_true

if TYPE_CHECKING:
    from collections.abc import Sequence


def beta_binomial_interval(scores: Sequence[float], confidence: float = 0.95) -> Interval:
    """The interval of the mean of *scores*, each in 0..1, whatever their order; 0..1 without any.

    All p for which p^S (1-p)^(n-S) > alpha * B(1+S, 1+n-S), S being the sum: the likelihood ratio of a uniform mixture
    against p is a martingale for yes and no, and less than one for scores between, in which the ratio is convex.
    Wider than betting where the scores spread less than yes and no do. Source: H. Robbins, Annals of Mathematical
    Statistics 41 (1970); S. Howard, A. Ramdas, J. McAuliffe and J. Sekhon, Time-uniform, nonparametric, nonasymptotic
    confidence sequences, Annals of Statistics 49 (2021).
    """
    n, total = len(scores), sum(scores)
    if not n:
        return NOTHING_KNOWN
    least = log(1 - confidence) + lgamma(1 + total) + lgamma(1 + n - total) - lgamma(2 + n)
    return Interval(beta_bound(total, n, least), 1 - beta_bound(n - total, n, least))


def beta_bound(total: float, n: int, least: float) -> float:
    """The largest p below the mean whose log-likelihood is at most *least*: it rises up to there."""
    mean = total / n
    if not total:
        return 0.0
    return last_true(lambda p: p < mean and total * log(p) + (n - total) * log1p(-p) <= least)
