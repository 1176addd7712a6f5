"""The precision of a system or of a part of what it injects, with its intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval, headline_interval
from labels.measure.metrics import Ratio, precision
from labels.measure.stratified import stratified_estimate
from labels.measure.stratified_sequence import stratified_interval
from labels.measure.weights import EQUAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.measure.gate.decision import Sample
    from labels.measure.metrics import Tally
    from labels.measure.weights import Weights


@dataclass(frozen=True)
class Estimate:
    """A precision and its 95 % interval, None when nothing was judged."""

    ratio: Ratio
    interval: Interval | None


def estimate(tallies: Sequence[Tally], weights: Weights = EQUAL) -> Estimate:
    """The precision of *tallies*, which may be of some of the prompts: of what a part of them injects.

    Where prompts were labelled by strata, it and its interval are of the whole frame.
    """
    ratio = precision(tallies, weights)
    if not weights.strata:
        return Estimate(ratio, headline_interval(per_prompt(tallies)))
    # a judged prompt that is not among the tallies adds nothing, but its stratum was looked at
    nothing = dict.fromkeys(weights.prompts, (0, 0))
    found = {each.prompt_id: (each.relevant, each.judged) for each in tallies if each.prompt_id in weights.prompts}
    stratified = stratified_estimate(nothing | found, weights.strata)
    return Estimate(ratio, stratified.interval if stratified else None)


def live_interval(sample: Sample) -> Interval | None:
    """The 95 % interval of precision that holds however often one looks; None before the first judged prompt."""
    return stratified_interval(sample.sequence, sample.shares, sample.most) if sample.judged else None


def per_prompt(tallies: Sequence[Tally]) -> list[tuple[int, int]]:
    return [(each.relevant, each.judged) for each in tallies if each.judged]
