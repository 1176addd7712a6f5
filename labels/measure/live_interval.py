"""Confidence sequences: intervals that hold however often a person looks at them, and whenever labelling stops.

An ordinary 95 % interval is wrong in 5 % of the cases at a single look. A person who looks after every label, and stops
at a convenient moment, is wrong far more often. A confidence sequence is wrong at any time in at most 5 % of all runs.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from math import ceil, log
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from labels.measure.intervals import PerPrompt

    Array = NDArray[np.float64]
    """(prompts, 2) relevant and judged counts, or (prompts,) capital."""

    Judged = Sequence[tuple[Hashable, tuple[float, float]]]
    """The stratum and the (relevant, judged) counts of each prompt, in the order of judging."""

STAKES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The shares of the capital that can be lost with one prompt; each stake starts with a fifth of the whole capital."""

STEPS = 2**20
"""Steps of 0..1 in the search for a bound: exact to a millionth."""

MAX_LOOKS = 40
"""Looks at a stratified sample: looking after each of 150 prompts narrows the interval by .005 more at most."""

GRID = 1000
"""Steps of 0..1 on which bounds of a stratified sample are searched, always rounded to the safe side."""

NOTHING_KNOWN = Interval(0.0, 1.0)


def betting_intervals(
    per_prompt: PerPrompt, most: float, moments: Sequence[int], confidence: float = 0.95
) -> list[Interval]:
    """The interval of set precision at each of *moments*, which are rising numbers of judged prompts; 0..1 after none.

    *per_prompt* are (relevant, judged) with 0 <= relevant <= judged <= *most*, in the order of judging. *most* must be
    known before the labels are, and the prompts must be a random draw. For the mean of scores in 0..1 give (score, 1)
    and *most* 1. A value that an earlier prompt has ruled out stays ruled out, so the interval only narrows.

    The betting test of a precision p multiplies a capital by 1 +- bet * (relevant - p * judged) with each prompt. If p
    is the truth, the capital is a nonnegative martingale, and by Ville's inequality it ever reaches 2 / alpha with a
    probability of at most alpha / 2. Each p whose capital has reached that is ruled out. A ratio of means is the p at
    which the mean of relevant - p * judged is 0, and that difference is bounded.
    Source: I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86 (2024),
    theorem 3 (hedged capital), with the stakes on a grid. Their predictable plug-in bets need up to half as many
    prompts again where precision is ten points from a gate: see tests/benchmarks/intervals.py.
    """
    if not per_prompt:
        return [NOTHING_KNOWN] * len(moments)
    threshold = 2 / (1 - confidence)
    lows = lower_bounds(per_prompt, most, moments, threshold)
    misses = lower_bounds(mirrored(per_prompt), most, moments, threshold)
    return [between(low, miss) for low, miss in zip(lows, misses, strict=True)]


def between(low: float, miss: float) -> Interval:
    """The interval from *low* to 1 - *miss*. They cross only where the prompts were no random draw, or by bad luck."""
    return Interval(min(low, 1 - miss), max(low, 1 - miss))


def mirrored(per_prompt: PerPrompt) -> PerPrompt:
    """(irrelevant, judged) of each prompt: a lower bound of their share gives an upper bound of precision."""
    return [(m - x, m) for x, m in per_prompt]


def lower_bounds(per_prompt: PerPrompt, most: float, moments: Sequence[int], threshold: float) -> list[float]:
    """Lower confidence bound at each moment: the largest precision that the betting test has rejected by then.

    Every factor of the capital falls in p, so the test rejects all values below the bound, too. The bound never falls
    from one moment to the next, and above it the test has rejected nothing before.
    """
    import numpy as np

    kinds, which = kinds_of(per_prompt)
    counts = kinds[which]
    bounds, bound, seen = [], 0.0, 0
    for number in moments:
        times = np.bincount(which[:seen], minlength=len(kinds))
        is_rejected = partial(rejects, counts[seen:number], kinds, times, most, threshold)
        bound, seen = last_true(is_rejected, bound), number
        bounds.append(bound)
    return bounds


def rejects(since: Array, kinds: Array, times: NDArray[np.intp], most: float, threshold: float, p: float) -> bool:
    """Whether the capital reaches *threshold* at a prompt of *since*, after prompts with *kinds* of counts, *times*."""
    return bool((capitals(since, most, p, earned(kinds, times, most, p)) >= threshold).any())


def kinds_of(per_prompt: PerPrompt) -> tuple[Array, NDArray[np.intp]]:
    """The distinct counts, which are few for thousands of prompts, and the index of each prompt's counts in them."""
    import numpy as np

    kinds = sorted(set(per_prompt))
    places = {counts: place for place, counts in enumerate(kinds)}
    return as_array(kinds), np.array([places[counts] for counts in per_prompt], dtype=np.intp)


def as_array(per_prompt: PerPrompt) -> Array:
    import numpy as np

    return np.array(per_prompt, dtype=np.float64).reshape(-1, 2)


def capitals(counts: Array, most: float, p: float, start: Array | float = 1.0) -> Array:
    """(prompts,) the mean capital of all stakes after each prompt, if each begins with its *start*."""
    import numpy as np

    with np.errstate(over="ignore"):  # an infinite capital is over every threshold
        growth = factors(counts, most, p)
        growth[:, :1] *= np.reshape(start, (-1, 1))
        return np.asarray(np.cumprod(growth, axis=1).mean(axis=0))


def earned(kinds: Array, times: NDArray[np.intp], most: float, p: float) -> Array:
    """(stakes,) the capital that each stake has made of 1 by prompts with *kinds* of counts, *times* of each."""
    import numpy as np

    with np.errstate(over="ignore"):
        return np.asarray(np.exp(np.log(factors(kinds, most, p)) @ times))


def factors(counts: Array, most: float, p: float) -> Array:
    """(stakes, prompts) the factor of each capital: a stake c bets c / (p * most), so it keeps at least 1 - c."""
    import numpy as np

    gains = (counts[:, 0] - p * counts[:, 1]) / (p * most)
    return np.asarray(1 + np.outer(STAKES, gains))


def last_true(holds: Callable[[float], bool], known: float = 0.0) -> float:
    """The largest step p under 1 at which *holds*; 0 if there is none.

    *holds* must be true from 0 up to the result, and is known to be true up to *known*.
    """
    least = round(known * STEPS)
    beyond = bisect_left(range(least + 1, STEPS), True, key=lambda step: not holds(step / STEPS))
    return (least + beyond) / STEPS


# Where some kinds of prompts were labelled more than others


def stratified_interval(
    judged: Judged, shares: Mapping[Hashable, float], most: float, confidence: float = 0.95
) -> Interval:
    """The interval of set precision now; see `stratified_intervals`."""
    # with one stratum, the capital is looked at after every prompt, whatever the moments are
    moments = looks(len(judged)) if sum(share > 0 for share in shares.values()) > 1 else [len(judged)]
    return stratified_intervals(judged, shares, most, moments, confidence)[-1]


def looks(total: int) -> range:
    """At most MAX_LOOKS numbers of prompts, evenly spread up to *total*, which is the last."""
    step = max(1, ceil(total / MAX_LOOKS))
    return range((total - 1) % step + 1 if total else 0, total + 1, step)


def stratified_intervals(
    judged: Judged, shares: Mapping[Hashable, float], most: float, moments: Sequence[int], confidence: float = 0.95
) -> list[Interval]:
    """The interval of set precision at each of *moments*, where each stratum was drawn at random at its own rate.

    *shares* are each stratum's part of all injected memories of the frame, judged or not; their sum is 1. *most* and
    *moments* are as in `betting_intervals`, which this is for a single stratum. A value that was ruled out at one
    moment stays ruled out at later ones.

    The capital of a stratum tests its own precision p_h. If all p_h are the truth, each capital is a martingale, and so
    is their product, whatever rule chooses the next stratum. A precision p is ruled out if the product reaches the
    threshold for all p_h whose weighted mean is p. Source: the union-of-intersections tests of J. Spertus, M. Sridhar
    and P. Stark, Sequential stratified inference for the mean (2024), arXiv 2409.06680. The simpler way, a sequence for
    each stratum at alpha / number of strata, is .06 wider at 150 prompts: see tests/benchmarks/intervals.py.
    """
    drawn = {stratum: share for stratum, share in shares.items() if share > 0}
    if not drawn:
        return [NOTHING_KNOWN] * len(moments)
    if len(drawn) == 1:
        return betting_intervals([counts for _, counts in judged], most, moments, confidence)
    threshold = log(2 / (1 - confidence))
    strata = {stratum: [counts for name, counts in judged if name == stratum] for stratum in drawn}
    missed = {stratum: mirrored(counts) for stratum, counts in strata.items()}
    taken = {stratum: numbers_of(stratum, judged, moments) for stratum in drawn}
    lows = joint_lower_bounds(strata, drawn, most, taken, threshold)
    misses = joint_lower_bounds(missed, drawn, most, taken, threshold)
    return [between(low, miss) for low, miss in zip(lows, misses, strict=True)]


def numbers_of(stratum: Hashable, judged: Judged, moments: Sequence[int]) -> list[int]:
    """The number of prompts of *stratum* that were judged at each moment."""
    so_far = [0]
    for name, _ in judged:
        so_far.append(so_far[-1] + (name == stratum))
    return [so_far[number] for number in moments]


def joint_lower_bounds(
    strata: Mapping[Hashable, PerPrompt],
    shares: Mapping[Hashable, float],
    most: float,
    taken: Mapping[Hashable, Sequence[int]],
    threshold: float,
) -> list[float]:
    """Lower confidence bound at each moment: the largest precision that the product of capitals has rejected by then.

    *threshold* is a logarithm. A stratum contributes share * p_h to the precision, rounded up to the next step of the
    grid, where its capital is smaller. Contributions with a sum of s steps become at most s + number of strata - 1
    steps. That is index s - 1 of the sums, which begin with one step for every stratum.
    """
    import numpy as np

    least: Array | None = None
    for stratum, share in shares.items():
        steps = np.minimum(1.0, np.arange(1, ceil(share * GRID) + 1) / (share * GRID))
        capital = log_capitals(strata[stratum], most, taken[stratum], steps)
        least = capital if least is None else least_sums(least, capital)
    assert least is not None  # there is a stratum
    ever = np.maximum.accumulate(least, axis=0)
    return [float(number) / GRID for number in (ever >= threshold).sum(axis=1)]


def log_capitals(counts: PerPrompt, most: float, taken: Sequence[int], p: Array) -> Array:
    """(moments, p) the logarithm of `capitals` after the first *taken* prompts of a stratum, for several *p*."""
    import numpy as np

    kinds, which = kinds_of(counts)
    seen = np.zeros((len(which) + 1, len(kinds)))
    seen[np.arange(1, len(which) + 1), which] = 1
    gains = (kinds[:, :1] - p * kinds[:, 1:]) / (p * most)
    capital = seen.cumsum(axis=0)[list(taken)] @ np.log1p(np.multiply.outer(STAKES, gains))
    return np.asarray(np.logaddexp.reduce(capital, axis=0) - log(len(STAKES)))


def least_sums(first: Array, second: Array) -> Array:
    """(moments, places) the least first[i] + second[j] with i + j = place."""
    import numpy as np

    short, long = sorted((first, second), key=lambda array: array.shape[1])
    width = long.shape[1]
    sums = np.full((len(long), short.shape[1] + width - 1), np.inf)
    for place in range(short.shape[1]):
        window = sums[:, place : place + width]
        np.minimum(window, short[:, place : place + 1] + long, out=window)
    return sums
