"""The precision of a system or of a part of what it injects, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval, headline_interval
from labels.measure.metrics import Ratio, precision
from labels.measure.weights import EQUAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.measure.metrics import Tally
    from labels.measure.weights import Weights


@dataclass(frozen=True)
class Estimate:
    """A precision and its 95 % interval, None when nothing was judged."""

    ratio: Ratio
    interval: Interval | None


def estimate(tallies: Sequence[Tally], weights: Weights = EQUAL) -> Estimate:
    """The precision of *tallies*: stratified if the prompts are, and then with the stratified variance."""
    return Estimate(precision(tallies, weights), headline_interval(per_prompt(tallies)))


def per_prompt(tallies: Sequence[Tally]) -> list[tuple[int, int]]:
    return [(each.relevant, each.judged) for each in tallies if each.judged]
