"""The live number: intervals that stay true however often one looks at them, and whenever one stops.

An ordinary 95 % interval is wrong in 5 % of the cases if one looks once. Whoever looks after every label and stops when
it suits is wrong far more often. A confidence sequence is wrong in at most 5 % of all runs at any time at all.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from labels.measure.intervals import PerPrompt

    Array = NDArray[np.float64]
    """(prompts, 2) relevant and judged counts, or (prompts,) capital."""

STAKES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The shares of their capital that the gamblers can lose with one prompt; each begins with a fifth of the whole."""

STEPS = 2**20
"""Into how many steps 0..1 is divided in a search for a bound: exact to a millionth."""

NOTHING_KNOWN = Interval(0.0, 1.0)


def betting_interval(per_prompt: PerPrompt, most: float, confidence: float = 0.95) -> Interval:
    """The interval of set precision after all of these prompts; `betting_intervals` says what it is."""
    return betting_intervals(per_prompt, most, [len(per_prompt)], confidence)[0]


def betting_intervals(
    per_prompt: PerPrompt, most: float, moments: Sequence[int], confidence: float = 0.95
) -> list[Interval]:
    """The intervals of set precision after so many prompts, in the order in which they were judged; 0..1 after none.

    *per_prompt* are (relevant, judged) with 0 <= relevant <= judged <= *most*, which must be known before the labels
    are; the prompts must be a random draw. For scores in 0..1 give (score, 1) and *most* 1: it is their mean's then.
    *moments* rise. What an earlier prompt has ruled out stays ruled out, so the interval only ever narrows.

    Gamblers bet on each prompt that the precision is above p, and others that it is below. Their capital is a product
    of 1 +- bet * (relevant - p * judged). If p is the truth that is a nonnegative martingale, which by Ville's
    inequality ever reaches 2 / alpha with a probability of at most alpha / 2; a p by which one side has become that
    rich is left out. A ratio of means is the p at which the mean of relevant - p * judged is 0, and that is bounded.
    Source: I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86 (2024),
    theorem 3 (hedged capital) with bets spread over a grid ("grid Kelly"). Their predictable plug-in bets need up to
    half as many prompts again where precision is ten points from a gate: see tests/benchmarks/intervals.py.
    """
    if not per_prompt:
        return [NOTHING_KNOWN] * len(moments)
    rich = 2 / (1 - confidence)
    lows = lower_bounds(per_prompt, most, moments, rich)
    missing = lower_bounds(mirrored(per_prompt), most, moments, rich)
    # they cross only where the prompts were no random draw, or in one run of many
    return [Interval(min(low, 1 - less), max(low, 1 - less)) for low, less in zip(lows, missing, strict=True)]


def mirrored(per_prompt: PerPrompt) -> PerPrompt:
    """(irrelevant, judged) of each prompt: to bet that precision is below p is to bet on theirs above 1 - p."""
    return [(m - x, m) for x, m in per_prompt]


def lower_bounds(per_prompt: PerPrompt, most: float, moments: Sequence[int], rich: float) -> list[float]:
    """The largest precision by denying which the gamblers that bet on a higher one have become *rich* by each moment.

    Their capital falls in p after every prompt, as each factor of it does, so that is one point and all below it. By a
    later moment the point can only be higher, and there nobody has been rich before.
    """
    import numpy as np

    kinds, which = kinds_of(per_prompt)
    counts = kinds[which]
    bounds, bound, seen = [], 0.0, 0
    for number in moments:
        times = np.bincount(which[:seen], minlength=len(kinds))
        is_rich = partial(becomes_rich, counts[seen:number], kinds, times, most, rich)
        bound, seen = last_true(is_rich, bound), number
        bounds.append(bound)
    return bounds


def becomes_rich(since: Array, kinds: Array, times: NDArray[np.intp], most: float, rich: float, p: float) -> bool:
    """Whether the gamblers do by one of the prompts *since*, if those before had the counts *kinds* so many *times*."""
    return bool((capitals(since, most, p, earned(kinds, times, most, p)) >= rich).any())


def kinds_of(per_prompt: PerPrompt) -> tuple[Array, NDArray[np.intp]]:
    """The different counts, which are few for thousands of prompts, and the place of each prompt's among them."""
    import numpy as np

    kinds = sorted(set(per_prompt))
    places = {counts: place for place, counts in enumerate(kinds)}
    which = np.array([places[counts] for counts in per_prompt], dtype=np.intp)
    return as_array(kinds), which


def as_array(per_prompt: PerPrompt) -> Array:
    import numpy as np

    return np.array(per_prompt, dtype=np.float64).reshape(-1, 2)


def capitals(counts: Array, most: float, p: float, start: Array | float = 1.0) -> Array:
    """What the gamblers have together after each prompt, if each begins with his *start*."""
    import numpy as np

    with np.errstate(over="ignore"):  # rich beyond measure is rich
        each = factors(counts, most, p)
        each[:, :1] *= np.reshape(start, (-1, 1))
        return np.asarray(np.cumprod(each, axis=1).mean(axis=0))


def earned(kinds: Array, times: NDArray[np.intp], most: float, p: float) -> Array:
    """What each gambler has made of 1 by prompts with the counts *kinds*, each so many *times*."""
    import numpy as np

    with np.errstate(over="ignore"):
        return np.asarray(np.exp(np.log(factors(kinds, most, p)) @ times))


def factors(counts: Array, most: float, p: float) -> Array:
    """(gamblers, prompts): by what each capital is multiplied. One who stakes a share c bets c / (p * most), and so
    keeps at least 1 - c."""
    import numpy as np

    gains = (counts[:, 0] - p * counts[:, 1]) / (p * most)
    return np.asarray(1 + np.outer(STAKES, gains))


def last_true(holds: Callable[[float], bool], known: float = 0.0) -> float:
    """The largest step p under 1 at which *holds*, which holds from 0, and for certain from *known*, up to there.

    0 if nowhere.
    """
    least = round(known * STEPS)
    beyond = bisect_left(range(least + 1, STEPS), True, key=lambda step: not holds(step / STEPS))
    return (least + beyond) / STEPS
