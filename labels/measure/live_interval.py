"""Confidence sequences: intervals that hold however often a person looks at them, and whenever labelling stops.

An ordinary 95 % interval is wrong in 5 % of the cases at a single look. A person who looks after every label, and stops
at a convenient moment, is wrong far more often. A confidence sequence is wrong at any time in at most 5 % of all runs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cache
from math import ceil, exp, inf, log
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from labels.measure.intervals import PerPrompt

    Times = Mapping[tuple[float, float], int]
    """How often each (relevant, judged) occurs. Thousands of prompts have few distinct counts."""

    Cost = Callable[[int], float]

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

ROUNDING = 1e-12
"""A smaller gain is a rounding error."""

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

    A smaller p always gives a larger capital, so all values below the bound are rejected, too, and the bound never
    falls. It can rise after any prompt, also before a moment. Testing every value after every prompt would be slow:
    only the first step above the bound is followed. A new bound is searched for when that step is rejected.
    """
    bounds, bound, seen = [], 0.0, 0
    kinds, times = set(per_prompt), Counter[tuple[float, float]]()

    def raised(reached: Times) -> float:
        return last_true(lambda p: log_capital(reached, most, p) >= log(threshold), bound)

    for number in moments:
        bound = raised(times + Counter(per_prompt[seen:number]))
        capital: list[float] = []
        for counts in per_prompt[seen:number]:
            if not capital:
                above = bound + 1 / STEPS
                factors = factors_at(kinds, most, above)
                capital = [exp(made) for made in log_capitals(times, most, above)]
            times[counts] += 1
            capital = [own * factor for own, factor in zip(capital, factors[counts], strict=True)]
            if sum(capital) >= threshold * len(STAKES):
                bound, capital = raised(times), []
        seen = number
        bounds.append(bound)
    return bounds


def factors_at(kinds: Iterable[tuple[float, float]], most: float, p: float) -> dict[tuple[float, float], list[float]]:
    """The factor of each stake's capital for each of the counts *kinds*.

    A stake c bets c / (p * most), so it keeps at least 1 - c.
    """
    return {(x, m): [1 + stake * (x - p * m) / (p * most) for stake in STAKES] for x, m in kinds}


def log_capitals(times: Times, most: float, p: float) -> list[float]:
    """The logarithm of each stake's capital after prompts with the counts *times*, if it began with 1."""
    factors = factors_at(times, most, p)
    return [sum(times[counts] * log(own[place]) for counts, own in factors.items()) for place in range(len(STAKES))]


def log_capital(times: Times, most: float, p: float) -> float:
    """The logarithm of the mean capital of all stakes."""
    logs = log_capitals(times, most, p)
    largest = max(logs)
    return largest + log(sum(exp(made - largest) for made in logs) / len(logs))


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
    lows = joint_lower_bounds(judged, drawn, most, moments, threshold)
    misses = joint_lower_bounds([(stratum, (m - x, m)) for stratum, (x, m) in judged], drawn, most, moments, threshold)
    return [between(low, miss) for low, miss in zip(lows, misses, strict=True)]


def joint_lower_bounds(
    judged: Judged, shares: Mapping[Hashable, float], most: float, moments: Sequence[int], threshold: float
) -> list[float]:
    """Lower confidence bound at each moment: the largest precision that the product of capitals has rejected by then.

    *threshold* is a logarithm. A precision of s steps is a sum of contributions share * p_h, one for each stratum. It
    is rejected if every way to split it among the strata is rejected. The split with the smallest product of capitals
    is the hardest to reject, so only that one is tested. Contributions are rounded up to whole steps, where capitals
    are smaller; so the search starts with one step for each stratum, and the bound is on the safe side.
    """
    bounds, rejected, seen = [], 0, 0
    split = dict.fromkeys(shares, 1)
    times = {stratum: Counter[tuple[float, float]]() for stratum in shares}
    for number in moments:
        for stratum, counts in judged[seen:number]:
            if stratum in times:
                times[stratum][counts] += 1
        seen = number
        costs = {stratum: cost_of(own, shares[stratum], most) for stratum, own in times.items()}
        cheapen(split, costs)
        while sum(costs[stratum](steps) for stratum, steps in split.items()) >= threshold:
            rejected += 1
            cheapest = min(split, key=lambda stratum: rise(costs[stratum], split[stratum]))
            split[cheapest] += 1
        bounds.append(rejected / GRID)
    return bounds


def cost_of(times: Times, share: float, most: float) -> Cost:
    """The logarithm of a stratum's capital if it contributes a number of steps to the precision.

    It falls with the steps and is convex: it is the logarithm of a sum of products of factors a + b / p. Beyond a
    precision of 1 there is no cost, but infinity.
    """

    @cache
    def cost(steps: int) -> float:
        return log_capital(times, most, min(1.0, steps / (share * GRID))) if steps < share * GRID + 1 else inf

    return cost


def rise(cost: Cost, steps: int) -> float:
    """The change of the cost with one more step, mostly below 0."""
    return cost(steps + 1) - cost(steps)


def cheapen(split: dict[Hashable, int], costs: Mapping[Hashable, Cost]) -> None:
    """Move steps between strata until no move lowers the sum of costs, which for convex costs is then the least."""
    while givers := [stratum for stratum, steps in split.items() if steps > 1]:
        taker = min(split, key=lambda stratum: rise(costs[stratum], split[stratum]))
        giver = max(givers, key=lambda stratum: rise(costs[stratum], split[stratum] - 1))
        if rise(costs[taker], split[taker]) >= rise(costs[giver], split[giver] - 1) - ROUNDING:
            return
        split[giver] -= 1
        split[taker] += 1
