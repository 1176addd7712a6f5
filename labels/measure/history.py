"""How the precision of a system became known, prompt by prompt."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from labels.measure.stratified import ratio
from labels.measure.stratified_sequence import looks, stratified_intervals

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

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
    intervals = stratified_intervals(sample.sequence, sample.shares, sample.most, numbers)
    for number, precision, live in zip(numbers, precisions(sample, numbers), intervals, strict=True):
        if precision is not None:
            yield Moment(number, precision, live)


def precisions(sample: Sample, numbers: range) -> Iterator[float | None]:
    """The precision after so many prompts, each stratum weighted by its share of the frame."""
    sizes, prompts, sequence = Counter(sample.frame.values()), len(sample.frame), iter(sample.sequence)
    totals: dict[Hashable, tuple[int, float, float]] = {}
    for before, number in pairwise((0, *numbers)):
        for stratum, (x, m) in islice(sequence, number - before):
            n, relevant, judged = totals.get(stratum, (0, 0.0, 0.0))
            totals[stratum] = n + 1, relevant + x, judged + m
        yield ratio([(sizes[name] / prompts, (x / n, m / n)) for name, (n, x, m) in totals.items()])
