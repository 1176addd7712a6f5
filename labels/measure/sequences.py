"""The live number: intervals that stay true however often one looks at them, and whenever one stops.

An ordinary 95 % interval is wrong in 5 % of the cases if one looks once. Whoever looks after every label and stops when
it suits is wrong far more often. A confidence sequence is wrong in at most 5 % of all runs at any time at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.measure.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from labels.measure.intervals import PerPrompt

    Array = NDArray[np.float64]
    """(prompts, 2) relevant and judged counts, or (prompts,) capital."""

STAKES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The shares of their capital that the gamblers can lose with one prompt; each begins with a fifth of the whole."""

STEPS = 20
"""Halvings of 0..1 in a search for a bound: exact to a millionth."""

NOTHING_KNOWN = Interval(0.0, 1.0)


def betting_interval(per_prompt: PerPrompt, most: float, confidence: float = 0.95) -> Interval:
    """The interval of set precision after these prompts, in the order in which they were judged; 0..1 without any.

    *per_prompt* are (relevant, judged) with 0 <= relevant <= judged <= *most*, which must be known before the labels
    are; the prompts must be a random draw. For scores in 0..1 give (score, 1) and *most* 1: it is their mean's then.
    What an earlier moment has ruled out stays ruled out, so the interval only ever narrows.

    Gamblers bet on each prompt that the precision is above p, and others that it is below. Their capital is a product
    of 1 +- bet * (relevant - p * judged). If p is the truth that is a nonnegative martingale, which by Ville's
    inequality ever reaches 2 / alpha with a probability of at most alpha / 2; a p by which one side has become that
    rich is left out. A ratio of means is the p at which the mean of relevant - p * judged is 0, and that is bounded.
    Source: I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86 (2024),
    theorem 3 (hedged capital) with bets spread over a grid ("grid Kelly"). Their predictable plug-in bets need up to
    half as many prompts again where precision is ten points from a gate: see tests/benchmarks/intervals.py.
    """
    if not per_prompt:
        return NOTHING_KNOWN
    rich = 2 / (1 - confidence)
    low = lower_bound(per_prompt, most, rich)
    high = 1 - lower_bound(mirrored(per_prompt), most, rich)
    # they cross only where the prompts were no random draw, or in one run of many
    return Interval(min(low, high), max(low, high))


def mirrored(per_prompt: PerPrompt) -> PerPrompt:
    """(irrelevant, judged) of each prompt: to bet that precision is below p is to bet on theirs above 1 - p."""
    return [(m - x, m) for x, m in per_prompt]


def lower_bound(per_prompt: PerPrompt, most: float, rich: float) -> float:
    """The largest precision by denying which the gamblers that bet on a higher one have become *rich*.

    Their capital falls in p at every moment, as each factor of it does, so that is one point and all below it.
    """
    counts = as_array(per_prompt)
    return last_true(lambda p: bool((capitals(counts, most, p) >= rich).any()))


def as_array(per_prompt: PerPrompt) -> Array:
    import numpy as np

    return np.array(per_prompt, dtype=np.float64).reshape(-1, 2)


def capitals(counts: Array, most: float, p: float) -> Array:
    """What the gamblers have together after each prompt. One who stakes a share c bets c / (p * most), and so keeps at
    least 1 - c."""
    import numpy as np

    gains = (counts[:, 0] - p * counts[:, 1]) / (p * most)
    with np.errstate(over="ignore"):  # rich beyond measure is rich
        each: Array = np.cumprod(1 + np.outer(gains, STAKES), axis=0)
        return np.asarray(each.mean(axis=1))


def last_true(holds: Callable[[float], bool]) -> float:
    """The largest p in 0..1 at which *holds*, which holds from 0 up to there; 0 if nowhere."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
