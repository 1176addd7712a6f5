"""Thresholds of P(relevant): the injected memories, precision and recall at each, and the choice of one."""

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
    """prompt id -> stratum, of all prompts in a labelling order that has strata."""

    Counts = Sequence[tuple[int, int]]
    """(relevant, injected) of each prompt."""

NO_STRATA: Strata = {}
STEPS = 100
MIN_FIRED = 20
"""The number of prompts with an injection that a threshold needs. An interval of fewer cannot be trusted."""

MIN_GROUPS = 4
"""The number of groups from which their differences can be estimated."""

MAX_DOUBT_LOSS = 0.05
"""The share of relevant memories at the cutoff that may be dropped without asking a judge."""


@dataclass(frozen=True)
class Point:
    """One threshold of P(relevant), and its results on labelled prompts. All rates are 0..1; None without any.

    `prompts` of the prompts get an injection. `relevant` of the `injected` memories are known to be relevant,
    `unjudged` ones have no label. `precision` counts unjudged memories as not relevant; `low` is its lower confidence
    bound. Both weigh prompts by stratum. `recall` is the share of the known relevant memories. `fire_rate` is the share
    of prompts with an injection, `false_fire_rate` the same among prompts without a known relevant memory.
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

    @property
    def is_reliable(self) -> bool:
        return self.prompts >= MIN_FIRED and self.low is not None


def curve(
    prompts: Sequence[JudgedPrompt],
    probabilities: Probabilities,
    max_inject: int,
    confidence: float,
    strata: Strata = NO_STRATA,
) -> list[Point]:
    """A point for each hundredth from 0 (no cutoff) to 0.99. At most *max_inject* memories go to a prompt."""
    return [point(prompts, probabilities, step / STEPS, max_inject, confidence, strata) for step in range(STEPS)]


def point(
    prompts: Sequence[JudgedPrompt],
    probabilities: Probabilities,
    threshold: float,
    max_inject: int,
    confidence: float,
    strata: Strata = NO_STRATA,
) -> Point:
    sets = [injected(one, own, threshold, max_inject) for one, own in zip(prompts, probabilities, strict=True)]
    counts = [(sum(one.is_relevant is True for one in found), len(found)) for found in sets]
    hits, total = sum(x for x, _ in counts), sum(m for _, m in counts)
    weighted = _weighted(prompts, counts, strata, confidence)
    unneeded = [bool(found) for found, prompt in zip(sets, prompts, strict=True) if not prompt.relevant]
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
        false_fire_rate=_share(sum(unneeded), len(unneeded)),
    )


def injected(prompt: JudgedPrompt, probabilities: Sequence[float], threshold: float, max_inject: int) -> list[Example]:
    """The first *max_inject* examples of a prompt that reach the threshold."""
    kept = [one for one, p in zip(prompt.examples, probabilities, strict=True) if p >= threshold]
    return kept[:max_inject]


def _weighted(
    prompts: Sequence[JudgedPrompt], counts: Counts, strata: Strata, confidence: float
) -> StratifiedEstimate | None:
    """The stratified estimate of precision, if the prompts have several strata and one root."""
    named = {one.prompt_id: pair for one, pair in zip(prompts, counts, strict=True)}
    if len({*strata.values()}) < 2 or not named.keys() <= strata.keys() or len({one.group for one in prompts}) > 1:
        return None
    return stratified_estimate(named, strata, 2 * confidence - 1)


def lower_bound(counts: Counts, groups: Sequence[str], confidence: float) -> float | None:
    """The one-sided lower bound of precision for new prompts; None if nothing was injected.

    With fewer than MIN_GROUPS groups it is the lower end of the headline interval. With more it is about a new group:
    mean - t s sqrt(1 + 1/G) of the G precisions, Student's t with G - 1 degrees of freedom (the prediction limit of a
    normal sample; Hahn and Meeker, Statistical Intervals, 1991, section 4.8).
    """
    rates = _rates(counts, groups)
    if len(rates) >= MIN_GROUPS:
        spread = stdev(rates) * sqrt(1 + 1 / len(rates))
        return max(0.0, mean(rates) - float(student.ppf(confidence, len(rates) - 1)) * spread)
    interval = headline_interval(counts, 2 * confidence - 1)
    return interval.low if interval else None


def lowest_reaching(points: Sequence[Point], target: float) -> Point | None:
    """The point with the lowest threshold whose lower bound reaches *target*, if any."""
    return next((one for one in points if one.is_reliable and (one.low or 0.0) >= target), None)


def highest_bound(points: Sequence[Point]) -> Point | None:
    """The reliable point with the highest lower bound, if any."""
    return max((one for one in points if one.is_reliable), key=lambda one: one.low or 0.0, default=None)


def doubt(prompts: Sequence[JudgedPrompt], probabilities: Probabilities, threshold: float) -> float:
    """The P(relevant) below which no judge is asked, at most *threshold*. MAX_DOUBT_LOSS of the relevant lie there."""
    relevant = sorted(p for p, is_relevant in judged(prompts, probabilities) if is_relevant)
    lowest = relevant[int(MAX_DOUBT_LOSS * len(relevant))] if relevant else 0.0
    return min(threshold, int(lowest * STEPS) / STEPS)


def judged(prompts: Sequence[JudgedPrompt], probabilities: Probabilities) -> list[tuple[float, bool]]:
    """(P(relevant), label) of all judged examples."""
    return [
        (p, one.is_relevant)
        for prompt, own in zip(prompts, probabilities, strict=True)
        for one, p in zip(prompt.examples, own, strict=True)
        if one.is_relevant is not None
    ]


def judge_calls(probabilities: Probabilities, low: float, high: float) -> int:
    """The number of prompts with a memory that a judge must see: P(relevant) from *low* to below *high*."""
    return sum(any(low <= p < high for p in own) for own in probabilities)


def _rates(counts: Counts, groups: Sequence[str]) -> list[float]:
    """The precision of each group with an injection."""
    sums: dict[str, tuple[int, int]] = {}
    for group, (x, m) in zip(groups, counts, strict=True):
        hits, total = sums.get(group, (0, 0))
        sums[group] = hits + x, total + m
    return [hits / total for hits, total in sums.values() if total]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
