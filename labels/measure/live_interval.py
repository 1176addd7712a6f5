"""Confidence sequences: intervals that hold however often a person looks at them, and whenever labelling stops.

An ordinary 95 % interval is wrong in 5 % of the cases at a single look. A person who looks after every label, and stops
at a convenient moment, is wrong far more often. A confidence sequence is wrong at any time in at most 5 % of all runs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from math import exp, log
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from labels.measure.intervals import PerPrompt

    Times = Mapping[tuple[float, float], int]
    """How often each (relevant, judged) occurs. Thousands of prompts have few distinct counts."""

STAKES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The shares of the capital that can be lost with one prompt; each stake starts with a fifth of the whole capital."""

STEPS = 2**20
"""Steps of 0..1 in the search for a bound: exact to a millionth."""

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
    # a lower bound of the irrelevant share gives an upper bound of precision
    misses = lower_bounds([(m - x, m) for x, m in per_prompt], most, moments, threshold)
    # the two cross only where the prompts were no random draw, or by bad luck
    return [Interval(min(low, 1 - miss), max(low, 1 - miss)) for low, miss in zip(lows, misses, strict=True)]


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
