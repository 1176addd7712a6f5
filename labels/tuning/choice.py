"""The choice of a threshold whose promise is kept, and of the band in which a judge is asked.

The lowest threshold whose bound reaches the target would break its promise too often: among many thresholds, some reach
it by luck. So thresholds are tested in a fixed order (fixed-sequence testing: Angelopoulos, Bates, Candes, Jordan and
Lei, Learn then Test, 2021, section 2.3). The first is the safest threshold by P(relevant) alone, whatever the labels
of its memories and whatever the target. From there the order goes down to the first threshold that fails.

Thresholds side by side inject nearly the same memories, so they share their luck. Each lower threshold is therefore
tested at half the risk. `python -m tests.benchmarks.learning` measures how often the promise is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.measure.intervals import wilson
from labels.tuning.curve import STEPS, judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.tuning.curve import Probabilities, ThresholdPoint
    from labels.tuning.examples import JudgedPrompt

MAX_DOUBT_LOSS = 0.05
"""The share of relevant memories at the cutoff that may be dropped without asking a judge."""


def safest(points: Sequence[ThresholdPoint], groups: int = 1) -> ThresholdPoint | None:
    """The reliable point with the highest bound in one of *groups* alike roots, if P(relevant) were right."""
    reliable = [point for point in points if point.is_reliable]
    return max(reliable, key=lambda point: _expected_bound(point, point.prompts / groups), default=None)


def chosen(points: Sequence[ThresholdPoint], target: float) -> ThresholdPoint | None:
    """The lowest threshold that keeps precision *target* on prompts of the same roots; None if the safest does not."""
    start = safest(points)
    if start is None or (start.low or 0.0) < target:
        return None
    return _lowest(points, start, [(point.lower or 0.0) >= target for point in points])


def chosen_elsewhere(points: Sequence[ThresholdPoint], target: float, groups: int) -> ThresholdPoint | None:
    """The lowest threshold that keeps precision *target* in a root without labels; None if that cannot be promised.

    The labels are of *groups* roots.
    """
    start = safest(points, groups)
    reaches = [(point.low_elsewhere or 0.0) >= target for point in points]
    if start is None or not reaches[points.index(start)]:
        return None
    return _lowest(points, start, reaches)


def doubt(prompts: Sequence[JudgedPrompt], probabilities: Probabilities, threshold: float) -> float:
    """The P(relevant) below which no judge is asked, at most *threshold*. MAX_DOUBT_LOSS of the relevant lie there."""
    relevant = sorted(p for p, is_relevant in judged(prompts, probabilities) if is_relevant)
    lowest = relevant[int(MAX_DOUBT_LOSS * len(relevant))] if relevant else 0.0
    return min(threshold, int(lowest * STEPS) / STEPS)


def judge_calls(probabilities: Probabilities, low: float, high: float) -> int:
    """The number of prompts with a memory that a judge must see: P(relevant) from *low* to below *high*."""
    return sum(any(low <= p < high for p in own) for own in probabilities)


def _expected_bound(point: ThresholdPoint, prompts: float) -> float:
    bound = wilson((point.expected or 0.0) * prompts, prompts)
    return bound.low if bound else 0.0


def _lowest(points: Sequence[ThresholdPoint], start: ThresholdPoint, passes: Sequence[bool]) -> ThresholdPoint:
    """The last point on the way down from *start* before the first that does not pass."""
    place = points.index(start)
    while place and passes[place - 1]:
        place -= 1
    return points[place]
