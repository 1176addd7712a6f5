"""The live number where some kinds of prompts were labelled more than others: bets in each stratum, multiplied."""

from __future__ import annotations

from math import ceil, log
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval
from labels.measure.sequences import NOTHING_KNOWN, STAKES, betting_intervals, kinds_of, mirrored

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from labels.measure.intervals import PerPrompt
    from labels.measure.sequences import Array

    Judged = Sequence[tuple[Hashable, tuple[float, float]]]
    """The stratum of each prompt and its (relevant, judged), in the order in which prompts were judged."""

MAX_LOOKS = 40
"""A look after each of 150 prompts narrows the interval by .005 more at most."""

GRID = 1000
"""Steps of 0..1 on which bounds are found, always to the safe side."""


def stratified_interval(
    judged: Judged, shares: Mapping[Hashable, float], most: float, confidence: float = 0.95
) -> Interval:
    """The interval of set precision now; `stratified_intervals` says what it is."""
    # one stratum's sequence is looked at after every prompt, however few moments are asked for
    moments = looks(len(judged)) if sum(share > 0 for share in shares.values()) > 1 else [len(judged)]
    return stratified_intervals(judged, shares, most, moments, confidence)[-1]


def looks(total: int) -> range:
    """At most MAX_LOOKS numbers of prompts, evenly spread up to *total*, which is among them."""
    step = max(1, ceil(total / MAX_LOOKS))
    return range((total - 1) % step + 1 if total else 0, total + 1, step)


def stratified_intervals(
    judged: Judged, shares: Mapping[Hashable, float], most: float, moments: Sequence[int], confidence: float = 0.95
) -> list[Interval]:
    """The intervals of set precision after so many prompts, where strata were not drawn from alike, but each at random.

    *shares* are each stratum's part of all that is injected over the whole frame, judged or not, with the sum 1; *most*
    is as for `betting_intervals`, which this is where there is one stratum. What was ruled out at one of *moments*,
    which rise, stays ruled out at later ones.

    In each stratum gamblers bet that its precision is above p_h. Where the p_h are the truth, their capitals are
    martingales, and so is the product of them all, whatever rule decides which stratum comes next. A precision p is
    ruled out if the product is rich for all p_h of which p is the weighted mean. Sequences for each stratum, each at
    alpha / number of strata and added up, are .06 wider at 150 prompts: see tests/benchmarks/intervals.py. Source:
    the union-of-intersections tests of J. Spertus, M. Sridhar and P. Stark, Sequential stratified inference for the
    mean (2024), arXiv 2409.06680.
    """
    drawn = {stratum: share for stratum, share in shares.items() if share > 0}
    if not drawn:
        return [NOTHING_KNOWN] * len(moments)
    if len(drawn) == 1:
        return betting_intervals([counts for _, counts in judged], most, moments, confidence)
    rich = log(2 / (1 - confidence))
    strata = {stratum: [counts for name, counts in judged if name == stratum] for stratum in drawn}
    taken = {stratum: counted(stratum, judged, moments) for stratum in drawn}
    lows = lower_bounds(strata, drawn, most, taken, rich)
    missing = lower_bounds({name: mirrored(counts) for name, counts in strata.items()}, drawn, most, taken, rich)
    # they cross only where the prompts were no random draw, or in one run of many
    return [Interval(min(low, 1 - less), max(low, 1 - less)) for low, less in zip(lows, missing, strict=True)]


def counted(stratum: Hashable, judged: Judged, moments: Sequence[int]) -> list[int]:
    """How many prompts of *stratum* were judged at each moment."""
    so_far = [0]
    for name, _ in judged:
        so_far.append(so_far[-1] + (name == stratum))
    return [so_far[number] for number in moments]


def lower_bounds(
    strata: Mapping[Hashable, PerPrompt],
    shares: Mapping[Hashable, float],
    most: float,
    taken: Mapping[Hashable, Sequence[int]],
    rich: float,
) -> list[float]:
    """At each moment, the largest precision that the product of capitals has ruled out by then; *rich* is a logarithm.

    Each stratum's part of the precision, its share times p_h, is taken up to the next step of the grid, where its
    capital is smaller. Parts that add up to s steps so become at most s + number of strata - 1, which is place s - 1 of
    sums that begin with a step for each.
    """
    import numpy as np

    least: Array | None = None
    for stratum, share in shares.items():
        steps = np.minimum(1.0, np.arange(1, ceil(share * GRID) + 1) / (share * GRID))
        capital = log_capitals(strata[stratum], most, taken[stratum], steps)
        least = capital if least is None else least_sums(least, capital)
    assert least is not None  # there is a stratum
    ever = np.maximum.accumulate(least, axis=0)
    return [float(number) / GRID for number in (ever >= rich).sum(axis=1)]


def log_capitals(counts: PerPrompt, most: float, taken: Sequence[int], p: Array) -> Array:
    """(moments, p): the logarithm of what the gamblers of a stratum have after the first *taken* of its prompts.

    They are those of `labels.measure.sequences.capitals`; prompts with the same counts are taken together.
    """
    import numpy as np

    pairs, which = kinds_of(counts)
    seen = np.zeros((len(which) + 1, len(pairs)))
    seen[np.arange(1, len(which) + 1), which] = 1
    gains = (pairs[:, :1] - p * pairs[:, 1:]) / (p * most)
    each = seen.cumsum(axis=0)[list(taken)] @ np.log1p(np.multiply.outer(STAKES, gains))
    return np.asarray(np.logaddexp.reduce(each, axis=0) - log(len(STAKES)))


def least_sums(first: Array, second: Array) -> Array:
    """(moments, places): the least first[i] + second[j] with i + j = place."""
    import numpy as np

    short, long = sorted((first, second), key=lambda each: each.shape[1])
    width = long.shape[1]
    found = np.full((len(long), short.shape[1] + width - 1), np.inf)
    for place in range(short.shape[1]):
        window = found[:, place : place + width]
        np.minimum(window, short[:, place : place + 1] + long, out=window)
    return found
