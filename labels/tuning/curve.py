"""What each threshold would have injected: precision against coverage, and the threshold that keeps a promise."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev
from typing import TYPE_CHECKING

from scipy.stats import t as student

from labels.measure.intervals import headline_interval
from labels.measure.strata import stratified_estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labels.measure.strata import StratifiedEstimate
    from labels.tuning.examples import Example, JudgedPrompt

    Probabilities = Sequence[Sequence[float]]
    """P(relevant) of every example: a list for each prompt."""

    Strata = Mapping[str, str]
    """The stratum of every prompt that was to be labelled, where some kinds of prompts were labelled first."""

NO_STRATA: Strata = {}
STEPS = 100
MIN_FIRED = 20
"""Prompts for which a threshold must inject something: of fewer, no interval is to be trusted."""

MIN_GROUPS = 4
"""Groups from which on it can be said how much they differ."""

MAX_DOUBT_LOSS = 0.05
"""Of the relevant memories that reach the cutoff, how many may be dropped without asking a judge."""


@dataclass(frozen=True)
class Point:
    """One threshold of P(relevant) and what follows: all shares 0..1.

    `injected` memories, of which `relevant` are known to be relevant and of `unjudged` nothing is known. `precision`
    takes these for not relevant, and `low` is its lower bound at the confidence asked for; both are None where nothing
    is injected, and both weigh each prompt by how many of its stratum it stands for. `recall` is of the known relevant
    memories; `fire_rate` of the prompts for which anything is injected, `false_fire_rate` of those for which nothing is
    known to be relevant; None without any.
    """

    threshold: float
    injected: int
    relevant: int
    unjudged: int
    prompts: int
    precision: float | None
    low: float | None
    recall: float | None
    fire_rate: float | None
    false_fire_rate: float | None


def curve(
    prompts: Sequence[JudgedPrompt], given: Probabilities, most: int, confidence: float, strata: Strata = NO_STRATA
) -> list[Point]:
    """A point for each hundredth from 0 (no cutoff) to 0.99. At most *most* memories are injected for a prompt."""
    return [point(prompts, given, step / STEPS, most, confidence, strata) for step in range(STEPS)]


def point(
    prompts: Sequence[JudgedPrompt],
    given: Probabilities,
    threshold: float,
    most: int,
    confidence: float,
    strata: Strata = NO_STRATA,
) -> Point:
    sets = [injected(one, probabilities, threshold, most) for one, probabilities in zip(prompts, given, strict=True)]
    counts = [(sum(one.is_relevant is True for one in found), len(found)) for found in sets]
    hits, total = sum(x for x, _ in counts), sum(m for _, m in counts)
    weighted = _weighted(prompts, counts, strata, confidence)
    silent = [bool(found) for found, prompt in zip(sets, prompts, strict=True) if not prompt.relevant]
    return Point(
        threshold=threshold,
        injected=total,
        relevant=hits,
        unjudged=sum(one.is_relevant is None for found in sets for one in found),
        prompts=sum(map(bool, sets)),
        precision=weighted.value if weighted else _share(hits, total),
        low=weighted.interval.low if weighted else lower_bound(counts, [one.group for one in prompts], confidence),
        recall=_share(hits, sum(prompt.relevant for prompt in prompts)),
        fire_rate=_share(sum(map(bool, sets)), len(sets)),
        false_fire_rate=_share(sum(silent), len(silent)),
    )


def _weighted(
    prompts: Sequence[JudgedPrompt], counts: Sequence[tuple[int, int]], strata: Strata, confidence: float
) -> StratifiedEstimate | None:
    """The estimate by strata, where these prompts have some, and stand in one root."""
    named = {one.prompt_id: pair for one, pair in zip(prompts, counts, strict=True)}
    if len({*strata.values()}) < 2 or not named.keys() <= strata.keys() or len({one.group for one in prompts}) > 1:
        return None
    return stratified_estimate(named, strata, 2 * confidence - 1)


def injected(prompt: JudgedPrompt, probabilities: Sequence[float], threshold: float, most: int) -> list[Example]:
    """What would be injected for a prompt: the first *most* that reach the threshold."""
    kept = (one for one, p in zip(prompt.examples, probabilities, strict=True) if p >= threshold)
    return [one for _, one in zip(range(most), kept, strict=False)]


def lower_bound(counts: Sequence[tuple[int, int]], groups: Sequence[str], confidence: float) -> float | None:
    """What the precision is at least, with *confidence*, for prompts like these; None where nothing was injected.

    *counts* are (relevant, injected) of each prompt. It is the lower end of the headline interval, one-sided. Of
    MIN_GROUPS groups or more it is about another group than these: mean - t s sqrt(1 + 1/G) of their G precisions,
    Student's t with G - 1 degrees of freedom (the prediction limit of a normal sample; Hahn and Meeker, Statistical
    Intervals, 1991, section 4.8).
    """
    rates = _rates(counts, groups)
    if len(rates) >= MIN_GROUPS:
        spread = stdev(rates) * sqrt(1 + 1 / len(rates))
        return max(0.0, mean(rates) - float(student.ppf(confidence, len(rates) - 1)) * spread)
    interval = headline_interval(counts, 2 * confidence - 1)
    return interval.low if interval else None


def chosen(points: Sequence[Point], target: float) -> Point | None:
    """The point with the least threshold whose lower bound reaches *target*; None if there is none."""
    return next((one for one in points if one.prompts >= MIN_FIRED and one.low is not None and one.low >= target), None)


def best(points: Sequence[Point]) -> Point | None:
    """The point with the highest lower bound, of those that can be trusted."""
    able = [one for one in points if one.prompts >= MIN_FIRED and one.low is not None]
    return max(able, key=lambda one: one.low or 0.0, default=None)


def doubt(prompts: Sequence[JudgedPrompt], given: Probabilities, threshold: float) -> float:
    """The P(relevant) under which no judge need be asked, at most *threshold*: little that is relevant lies there."""
    relevant = sorted(
        p
        for prompt, probabilities in zip(prompts, given, strict=True)
        for one, p in zip(prompt.examples, probabilities, strict=True)
        if one.is_relevant
    )
    lowest = relevant[int(MAX_DOUBT_LOSS * len(relevant))] if relevant else 0.0
    return min(threshold, int(lowest * STEPS) / STEPS)


def asked(given: Probabilities, low: float, high: float) -> int:
    """For how many prompts a judge is asked that sees only what has a P(relevant) from *low* to under *high*."""
    return sum(any(low <= p < high for p in probabilities) for probabilities in given)


def _rates(counts: Sequence[tuple[int, int]], groups: Sequence[str]) -> list[float]:
    """The precision of each group in which anything was injected."""
    sums: dict[str, tuple[int, int]] = {}
    for group, (x, m) in zip(groups, counts, strict=True):
        hits, total = sums.get(group, (0, 0))
        sums[group] = hits + x, total + m
    return [hits / total for hits, total in sums.values() if total]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
