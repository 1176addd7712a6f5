"""Confidence intervals. Memories of one prompt are alike, so prompts, not memories, are sampled.

An ordinary 95 % interval is wrong in 5 % of the cases at a single look. A person who looks after every label, and stops
at a convenient moment, is wrong far more often. Two ways out: looks at planned numbers of prompts, with wider intervals
at the first ones; and a confidence sequence, which holds however often a person looks, and whenever labelling stops.
Both are wrong at any time in at most 5 % of all runs. Planned looks decide sooner.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from math import atan, cos, exp, inf, lgamma, log, log1p, pi, sin, sqrt
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

    Times = Mapping[tuple[float, float], int]
    """How often each (relevant, judged) occurs. Thousands of prompts have few distinct counts."""


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
class Estimate:
    """A set precision, 0..1, with its 95 % interval for a single look.

    `prompts` were judged; `effective` independent memories would give an interval of the same width.
    """

    value: float
    interval: Interval
    prompts: int
    effective: float


def sums(rows: Mapping[Row, int]) -> Row:
    """The sum of each number over all prompts. *rows*: how often each row occurs, as thousands have few kinds."""
    return tuple(map(sum, zip(*([times * number for number in row] for row, times in rows.items()), strict=True)))


# Precision


def precision_estimate(per_prompt: PerPrompt, confidence: float = 0.95) -> Estimate | None:
    """Set precision, with Wilson's interval for the effective size; None when nothing was judged.

    In simulations with design effects of 1.2 to 2.8 and precisions of .6 to .95 it covers 94 to 98 %, from ten prompts
    on. At a design effect of 2 the plain Wilson interval covers 82 to 87 %. See tests/benchmarks/intervals.py.
    """
    relevant, judged = sum(x for x, _ in per_prompt), sum(m for _, m in per_prompt)
    if not judged:
        return None
    value, effective = relevant / judged, effective_size(per_prompt)
    interval = wilson(value * effective, effective, confidence)
    assert interval is not None  # as there is a value, something was judged
    return Estimate(value, interval, len(per_prompt), effective)


def headline_interval(per_prompt: PerPrompt, confidence: float = 0.95) -> Interval | None:
    """The interval of `precision_estimate`, of the prompts with a judged memory."""
    found = precision_estimate([counts for counts in per_prompt if counts[1] > 0], confidence)
    return found.interval if found else None


def design_effect(per_prompt: PerPrompt) -> float | None:
    """The variance of set precision, divided by the variance with as many independent memories.

    With residuals d = x - p m of n prompts, the variance is the sum of d^2 / (n (n - 1)), divided by the squared mean
    of m: that of a regression on a constant with clustered errors. None when fewer than two prompts were judged, or
    when every memory is relevant, or none.
    Sources: W. G. Cochran, Sampling Techniques (1977), (6.13); L. Kish, Survey Sampling (1965), section 8.2.
    """
    n, judged = len(per_prompt), sum(m for _, m in per_prompt)
    p = sum(x for x, _ in per_prompt) / judged if judged else 0.0
    if not p or p >= 1 or n < 2:
        return None
    squares = sum((x - p * m) ** 2 * times for (x, m), times in Counter(per_prompt).items())
    return squares / (n - 1) * n / judged / (p * (1 - p))


def effective_size(per_prompt: PerPrompt) -> float:
    """The number of independent memories that would tell as much: M / max(1, design effect).

    The design effect is computed twice, the second time with two more prompts of average size: one with only relevant
    memories, and one with none. The larger one counts. Few prompts often show too little of how prompts differ, above
    all near 0 and 1, and the interval would be too narrow. The two matter among twenty prompts and not among many.
    It is the idea of the added successes and failures of A. Agresti and B. A. Coull, The American Statistician 52
    (1998), applied to prompts.
    """
    judged = sum(m for _, m in per_prompt)
    size = judged / len(per_prompt)
    effects = (design_effect(per_prompt), design_effect([*per_prompt, (size, size), (0.0, size)]))
    return judged / max(1.0, *(effect or 1.0 for effect in effects))


# Other numbers: an interval by leaving out each prompt in turn


def jackknife_interval(rows: Mapping[Row, int], statistic: Statistic, within: Interval = ANY) -> Interval | None:
    """The 95 % interval of *statistic*, cut to *within*; *rows*: how often each row of numbers occurs.

    None for a single prompt, and where the statistic is not defined without some prompt. With T_i for the statistic
    without prompt i of n, scaled to n prompts, the variance is (n - 1) / n * sum_i (T_i - mean of T)^2; for a mean it
    is the usual one. Student's t has n - 1 degrees of freedom.
    Source: K. M. Wolter, Introduction to Variance Estimation (2007), section 4.2.
    """
    whole, n = sums(rows), sum(rows.values())
    value = statistic(whole)
    if value is None or n < 2:
        return None
    scale = n / (n - 1)
    left = [
        (statistic([(total - number) * scale for total, number in zip(whole, row, strict=True)]), times)
        for row, times in rows.items()
    ]
    known = [(found, times) for found, times in left if found is not None]
    if len(known) < len(left):
        return None
    mean = sum(found * times for found, times in known) / n
    variance = sum((found - mean) ** 2 * times for found, times in known) / scale
    spread = student_quantile(n - 1) * sqrt(variance)
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


# Looks

PLANNED, ANYTIME, ONCE = "planned", "any", "one"
"""When a person looks: at LOOKS, after any prompt, or a single time."""

LOOKS = (20, 45, 70, 100)
"""The planned numbers of judged prompts."""

LAST_BOUND = 2.1018
"""The width of the interval at the last of LOOKS, in standard errors; at n prompts it is sqrt(100 / n) times as wide.

Then all four hold at once with a probability of .96. A test computes it by numeric integration.
Source: P. C. O'Brien and T. R. Fleming, A multiple testing procedure for clinical trials, Biometrics 35 (1979).
"""

RESERVED = 0.01
"""The part of the error that is kept for the time after the last of LOOKS."""


def counted_prompts(number: int) -> int:
    """Of *number* judged prompts, how many count: those of the largest look reached; all before and after LOOKS."""
    is_between = LOOKS[0] <= number <= LOOKS[-1]
    return max(look for look in LOOKS if look <= number) if is_between else number


def deciding_interval(per_prompt: PerPrompt, most: float, looks: str = PLANNED) -> Interval:
    """The 95 % interval of set precision for PLANNED, ANYTIME or ONCE; 0..1 where nothing is known.

    Planned looks know nothing before the first one. After the last, the interval is the common part of the last planned
    one and of the confidence sequence with the reserved error. Arguments as for `betting_intervals`.
    """
    number = len(per_prompt)
    if looks == ONCE:
        return headline_interval(per_prompt) or NOTHING_KNOWN
    if looks == ANYTIME:
        return betting_intervals(per_prompt, most, [number])[0]
    if number < LOOKS[0]:
        return NOTHING_KNOWN
    look = counted_prompts(min(number, LOOKS[-1]))
    errors = LAST_BOUND * sqrt(LOOKS[-1] / look)
    found = headline_interval(per_prompt[:look], 2 * NormalDist().cdf(errors) - 1) or NOTHING_KNOWN
    if number <= LOOKS[-1]:
        return found
    later = betting_intervals(per_prompt, most, [number], 1 - RESERVED)[0]
    low, high = max(found.low, later.low), min(found.high, later.high)
    return Interval(min(low, high), max(low, high))


# Confidence sequences

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
        """The largest step at which the capital has reached the threshold: all below it have, too."""
        steps = range(round(bound * STEPS) + 1, STEPS)
        beyond = bisect_left(steps, True, key=lambda step: log_capital(reached, most, step / STEPS) < log(threshold))
        return (steps.start - 1 + beyond) / STEPS

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
