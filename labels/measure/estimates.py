"""The precision of a system or of a part of what it injects, with its intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.intervals import Interval, headline_interval
from labels.measure.metrics import Ratio, precision
from labels.measure.sequences import betting_interval, stratified_interval
from labels.measure.stratified import stratified_estimate
from labels.measure.weights import EQUAL

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

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


def live_interval(tallies: Sequence[Tally], order: Sequence[str], weights: Weights = EQUAL) -> Interval | None:
    """The 95 % interval of precision that holds however often one looks; None without an *order*.

    *order* are the ids of the labelled prompts as they came; one that does not name a prompt of *tallies* is passed.
    """
    if not order:
        return None
    by_prompt = {each.prompt_id: each for each in tallies}
    drawn = [by_prompt[prompt_id] for prompt_id in order if prompt_id in by_prompt]
    most = max((each.injected for each in tallies), default=0)
    if not most:
        return None
    if not weights.strata:
        return betting_interval([(each.relevant, each.judged) for each in drawn], most)
    strata: dict[Hashable, list[tuple[int, int]]] = {}
    for each in drawn:
        if each.prompt_id in weights.strata:
            strata.setdefault(weights.strata[each.prompt_id], []).append((each.relevant, each.judged))
    return stratified_interval(strata, injected_shares(tallies, weights), most)


def injected_shares(tallies: Sequence[Tally], weights: Weights) -> dict[Hashable, float]:
    """Each stratum's part of all that is injected, judged or not."""
    counts: dict[Hashable, int] = {}
    for each in tallies:
        if each.prompt_id in weights.strata:
            stratum = weights.strata[each.prompt_id]
            counts[stratum] = counts.get(stratum, 0) + each.injected
    total = sum(counts.values())
    return {stratum: count / total for stratum, count in counts.items()} if total else {}


def per_prompt(tallies: Sequence[Tally]) -> list[tuple[int, int]]:
    return [(each.relevant, each.judged) for each in tallies if each.judged]
