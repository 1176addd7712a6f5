"""How the precision of a system became known, prompt by prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.estimates import live_interval
from labels.measure.gate.decision import Sample
from labels.measure.stratified import grouped, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.intervals import Interval

MAX_MOMENTS = 40


@dataclass(frozen=True)
class Moment:
    """After so many `prompts` were labelled: the precision so far (0..1) and the interval that held at any look."""

    prompts: int
    precision: float
    live: Interval


def history(sample: Sample) -> tuple[Moment, ...]:
    """At most MAX_MOMENTS, evenly spread, the last among them."""
    total = len(sample.judged)
    step = max(1, -(-total // MAX_MOMENTS))
    return tuple(moments(sample, range((total - 1) % step + 1, total + 1, step))) if total else ()


def moments(sample: Sample, numbers: range) -> Iterator[Moment]:
    judged, frame = list(sample.judged.items()), sample.frame
    for number in numbers:
        so_far = Sample(dict(judged[:number]), sample.injected, sample.strata)
        precision, live = ratio(grouped(so_far.judged, frame)), live_interval(so_far)
        if precision is not None and live:
            yield Moment(number, precision, live)
