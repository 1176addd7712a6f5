"""Thresholds of P(relevant): precision, its bounds and recall at each, and the choice of one whose promise is kept.

The lowest threshold whose bound reaches the target would break its promise too often: among many thresholds, some reach
it by luck. So thresholds are tested in a fixed order (fixed-sequence testing: Angelopoulos, Bates, Candes, Jordan and
Lei, Learn then Test, 2021, section 2.3). The first is the safest threshold by P(relevant) alone, whatever the labels
of its memories and whatever the target. From there the order goes down to the first threshold that fails.

Thresholds side by side inject nearly the same memories, so they share their luck. Each lower threshold is therefore
tested at half the risk. `python -m tests.benchmarks.learning` measures how often the promise is kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev
from typing import TYPE_CHECKING

from engine.cutoff import surer
from engine.default_model import FALSE_FIRES
from labels.measure.intervals import headline_interval, student_quantile, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.tuning.examples import Example, JudgedPrompt

    Probabilities = Sequence[Sequence[float]]
    """P(relevant) of every example: a list for each prompt."""

    Counts = Sequence[tuple[int, int]]
    """(relevant, injected) of each prompt."""

STEPS = 100
MIN_FIRED = 10
"""The number of prompts with an injection that a threshold needs. An interval of fewer cannot be trusted."""

MIN_GROUPS = 4
"""The number of groups from which their differences can be estimated."""


MIN_SILENT = 30
"""The number of labelled prompts that need nothing from which a share of false fires can be told."""

MAX_DOUBT_LOSS = 0.05
"""The share of relevant memories at the cutoff that may be dropped without asking a judge."""


@dataclass(frozen=True)
class ThresholdPoint:
    """One threshold of P(relevant), and its results on labelled prompts. All rates are 0..1; None without any.

    `prompts` of the prompts get an injection. `relevant` of the `injected` memories are known to be relevant,
    `unjudged` ones have no label. `precision` counts unjudged memories as not relevant. `low` is its lower confidence
    bound, and `lower` the bound at half the risk of being wrong. `low_elsewhere` is the bound for a root without
    labels; None below MIN_GROUPS roots. `recall` is the share of all known relevant memories, as in the report.
    `fire_rate` is the share of prompts with an injection, `false_fire_rate` the same among prompts without a known
    relevant memory. `expected` is the precision that P itself expects.
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
    lower: float | None = None
    low_elsewhere: float | None = None
    expected: float | None = None


def curve(
    prompts: Sequence[JudgedPrompt], probabilities: Probabilities, max_inject: int, confidence: float
) -> list[ThresholdPoint]:
    """A point for each hundredth from 0 (no cutoff) to 0.99. At most *max_inject* memories go to a prompt."""
    return [point(prompts, probabilities, step / STEPS, max_inject, confidence) for step in range(STEPS)]


def point(
    prompts: Sequence[JudgedPrompt], probabilities: Probabilities, threshold: float, max_inject: int, confidence: float
) -> ThresholdPoint:
    pairs = zip(prompts, probabilities, strict=True)
    sets = [injected(prompt, own, threshold, max_inject) for prompt, own in pairs]
    expected = sum(p for own in sets for _, p in own)
    return measure_sets(prompts, [[example for example, _ in own] for own in sets], threshold, confidence, expected)


def measure_sets(
    prompts: Sequence[JudgedPrompt],
    sets: Sequence[Sequence[Example]],
    threshold: float,
    confidence: float,
    expected: float | None = None,
) -> ThresholdPoint:
    """The point of the injected *sets*, one for each prompt. *expected* is the sum of their P(relevant)."""
    counts = [(sum(example.is_relevant is True for example in found), len(found)) for found in sets]
    hits, total = sum(x for x, _ in counts), sum(m for _, m in counts)
    unneeded = [bool(found) for found, prompt in zip(sets, prompts, strict=True) if prompt.needs_nothing]

    def low(sure: float) -> float | None:
        """The one-sided lower bound of precision."""
        interval = headline_interval(counts, 2 * sure - 1)
        return interval.low if interval else None

    return ThresholdPoint(
        threshold=threshold,
        injected=total,
        relevant=hits,
        unjudged=sum(example.is_relevant is None for found in sets for example in found),
        prompts=sum(map(bool, sets)),
        precision=_share(hits, total),
        low=low(confidence),
        recall=_share(hits, sum(prompt.relevant for prompt in prompts)),
        fire_rate=_share(sum(map(bool, sets)), len(sets)),
        false_fire_rate=_share(sum(unneeded), len(unneeded)),
        lower=low((1 + confidence) / 2),
        low_elsewhere=bound_elsewhere(counts, [prompt.group for prompt in prompts], confidence),
        expected=None if expected is None else _share(expected, total),
    )


def injected(
    prompt: JudgedPrompt, probabilities: Sequence[float], threshold: float, max_inject: int
) -> list[tuple[Example, float]]:
    """The first *max_inject* examples of a prompt that reach the threshold, as in the hook, with their P(relevant)."""
    reached = zip(prompt.examples, probabilities, reaches(probabilities, threshold), strict=True)
    return [(example, p) for example, p, is_kept in reached if is_kept][:max_inject]


def reaches(probabilities: Sequence[float], threshold: float) -> list[bool]:
    """Whether each memory passes. After the first one that passes, the threshold is higher: `engine.cutoff.surer`."""
    passed: list[bool] = []
    for p in probabilities:
        passed.append(p >= (surer(threshold) if any(passed) else threshold))
    return passed


def bound_elsewhere(counts: Counts, groups: Sequence[str], confidence: float) -> float | None:
    """The one-sided lower bound of precision in a new group; None with fewer than MIN_GROUPS groups.

    mean - t s sqrt(1 + 1/G) of the G precisions, Student's t with G - 1 degrees of freedom (the prediction limit of a
    normal sample; Hahn and Meeker, Statistical Intervals, 1991, section 4.8).
    """
    hits, totals = Counter[str](), Counter[str]()
    for group, (x, m) in zip(groups, counts, strict=True):
        hits[group] += x
        totals[group] += m
    rates = [hits[group] / total for group, total in totals.items() if total]
    if len(rates) < MIN_GROUPS:
        return None
    spread = stdev(rates) * sqrt(1 + 1 / len(rates))
    return max(0.0, mean(rates) - student_quantile(len(rates) - 1, 2 * confidence - 1) * spread)


def judged(prompts: Sequence[JudgedPrompt], probabilities: Probabilities) -> list[tuple[float, bool]]:
    """(P(relevant), label) of all judged examples."""
    given = zip(prompts, probabilities, strict=True)
    pairs = (pair for prompt, own in given for pair in zip(prompt.examples, own, strict=True))
    return [(p, example.is_relevant) for example, p in pairs if example.is_relevant is not None]


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


# The choice


def safest(points: Sequence[ThresholdPoint], groups: int = 1) -> ThresholdPoint | None:
    """The reliable point with the highest bound in one of *groups* alike roots, if P(relevant) were right."""

    def expected_bound(point: ThresholdPoint) -> float:
        prompts = point.prompts / groups
        bound = wilson((point.expected or 0.0) * prompts, prompts)
        return bound.low if bound else 0.0

    reliable = [point for point in points if point.prompts >= MIN_FIRED and point.low is not None]
    return max(reliable, key=expected_bound, default=None)


def choose(points: Sequence[ThresholdPoint], target: float, elsewhere: int = 0) -> ThresholdPoint | None:
    """The lowest threshold that keeps precision *target* on prompts of the same roots; None if the safest does not.

    With *elsewhere*, the number of roots with labels, it is the threshold for a root without labels.
    """
    start = safest(points, elsewhere or 1)
    bound = start and (start.low_elsewhere if elsewhere else start.low)
    if start is None or (bound or 0.0) < target:
        return None
    lower = [(point.low_elsewhere if elsewhere else point.lower) or 0.0 for point in points]
    place = points.index(start)
    while place and lower[place - 1] >= target:
        place -= 1
    return points[place]


def doubt(prompts: Sequence[JudgedPrompt], probabilities: Probabilities, threshold: float) -> float:
    """The P(relevant) below which no judge is asked, at most *threshold*. MAX_DOUBT_LOSS of the relevant lie there."""
    relevant = sorted(p for p, is_relevant in judged(prompts, probabilities) if is_relevant)
    lowest = relevant[int(MAX_DOUBT_LOSS * len(relevant))] if relevant else 0.0
    return min(threshold, int(lowest * STEPS) / STEPS)


def named_thresholds(prompts: Sequence[JudgedPrompt], probabilities: Probabilities) -> dict[str, float]:
    """Name -> the lowest threshold with at most its share of false fires; empty below MIN_SILENT prompts.

    A prompt gets a memory up to the highest threshold that one of its candidates reaches: see `engine.cutoff.surer`.
    """
    silent = [own for prompt, own in zip(prompts, probabilities, strict=True) if prompt.needs_nothing]
    if len(silent) < MIN_SILENT:
        return {}
    loudest = sorted((max(own, default=0.0) for own in silent), reverse=True)
    beyond = {name: loudest[int(share * len(loudest))] for name, share in FALSE_FIRES.items()}
    return {name: min(1.0, (int(threshold * 1000) + 1) / 1000) for name, threshold in beyond.items()}


def judge_calls(probabilities: Probabilities, low: float, high: float) -> int:
    """The number of prompts with a memory that a judge must see: P(relevant) from *low* to below *high*."""
    return sum(any(low <= p < high for p in own) for own in probabilities)
