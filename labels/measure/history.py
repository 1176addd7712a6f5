"""How the precision of a system became known, prompt by prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.stratified import grouped, ratio
from labels.measure.stratified_sequence import looks, stratified_intervals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.gate.decision import Sample
    from labels.measure.intervals import Interval


@dataclass(frozen=True)
class Moment:
    """After so many `prompts` were labelled: the precision so far (0..1) and the interval that held at any look."""

    prompts: int
    precision: float
    live: Interval


def history(sample: Sample) -> tuple[Moment, ...]:
    """At most MAX_LOOKS, evenly spread, the last among them."""
    return tuple(moments(sample, looks(len(sample.judged)))) if sample.judged else ()


def moments(sample: Sample, numbers: range) -> Iterator[Moment]:
    judged, frame = list(sample.judged.items()), sample.frame
    intervals = stratified_intervals(sample.sequence, sample.shares, sample.most, numbers)
    for number, live in zip(numbers, intervals, strict=True):
        precision = ratio(grouped(dict(judged[:number]), frame))
        if precision is not None:
            yield Moment(number, precision, live)
