"""The curves of one system: precision against coverage, reliability of its probabilities, precision over time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.intervals import Interval, betting_intervals, precision_estimate, wilson
from labels.records import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labels.measure.metrics import Sample
    from labels.records import Judgements, Outcome

PROBABILITY, STRENGTH = "probability", "strength"
"""The quantity that is cut: the tuned model's P(relevant), or else the score of the first stage."""

FEWEST_JUDGED = 5
"""Judged memories below which a point of the coverage curve is not shown."""

MAX_POINTS, MAX_LOOKS = 60, 40
"""Points of the curves of coverage and of history."""

BINS = 10


class CutPoint(NamedTuple):
    """The result of a cut: `least` is the weakest memory that stays, `judged` the number of labelled ones that stay.

    `precision` is 0..1, `recall` the share of all memories known to be relevant, `fires` the share of prompts with an
    injected memory.
    """

    least: float
    precision: float
    recall: float
    fires: float
    judged: int


@dataclass(frozen=True)
class Coverage:
    """Precision if only stronger memories were injected, the strictest cut first; `by` is PROBABILITY or STRENGTH."""

    by: str
    points: tuple[CutPoint, ...]


class Bin(NamedTuple):
    """`memories` of similar probability: the mean probability (`said`) and the share that is relevant (`found`)."""

    said: float
    found: float
    interval: Interval
    memories: int


@dataclass(frozen=True)
class ReliabilityCurve:
    """Whether 70 % of the memories with a probability of 70 % are relevant, and so on, in bins of equal width.

    `brier` is the mean squared error of the probabilities: 0 is perfect, .25 the score of always saying 50 %.
    """

    bins: tuple[Bin, ...]
    brier: float
    memories: int


@dataclass(frozen=True)
class Moment:
    """After `prompts` labelled prompts: the precision so far (0..1) and the interval that holds at any look."""

    prompts: int
    precision: float
    live: Interval


@dataclass(frozen=True)
class Curves:
    """None or empty where nothing is known: no scores, no probabilities, no order of the labels."""

    coverage: Coverage | None
    reliability: ReliabilityCurve | None
    history: tuple[Moment, ...]


def curves(rows: Sequence[Outcome], judgements: Judgements, sample: Sample | None) -> Curves:
    """The curves of one system's *rows*, one for each prompt; *sample* is None where no order is known."""
    return Curves(coverage(rows, judgements), reliability(rows, judgements), history(sample) if sample else ())


def coverage(rows: Sequence[Outcome], judgements: Judgements) -> Coverage | None:
    """The curve of one system's *rows*, one for each prompt; None where no strength is known.

    Only injected memories can be cut, so the last point is the system as it is.
    """
    by = PROBABILITY if all(row.probabilities.keys() >= set(row.injected) for row in rows) else STRENGTH
    injected = [
        (strength, row.prompt_id, judgements.get(row.prompt_id, {}).get(memory_id))
        for row in rows
        for memory_id, strength in zip(row.injected, strengths(row, by), strict=False)
        if strength is not None
    ]
    injected.sort(key=itemgetter(0), reverse=True)
    relevant = sum(sum(judgements.get(row.prompt_id, {}).values()) for row in rows)
    points, judgement, firing = [], Counter[bool | None](), set[str]()
    for strength, group in groupby(injected, key=itemgetter(0)):
        for _, prompt_id, is_relevant in group:
            firing.add(prompt_id)
            judgement[is_relevant] += 1
        hits, judged = judgement[True], judgement[True] + judgement[False]
        if judged >= FEWEST_JUDGED:
            recall, fires = hits / relevant if relevant else 0.0, len(firing) / len(rows)
            points.append(CutPoint(strength, hits / judged, recall, fires, judged))
    step = max(1, -(-len(points) // MAX_POINTS))
    return Coverage(by, tuple(points[(len(points) - 1) % step :: step])) if points else None


def strengths(row: Outcome, by: str) -> list[float | None]:
    """The strength of each injected memory, higher is stronger; empty where none is known."""
    if by == PROBABILITY:
        return [row.probabilities[memory_id] for memory_id in row.injected]
    return [None if score is None else -score for score in row.scores]


def reliability(rows: Iterable[Outcome], judgements: Judgements) -> ReliabilityCurve | None:
    """Over all candidates with a probability and a judgement; None if there are none.

    Source of the score: G. W. Brier, Monthly Weather Review 78 (1950).
    """
    pairs = [
        (probability, judged[memory_id])
        for row in rows
        if (judged := judgements.get(row.prompt_id))
        for memory_id, probability in row.probabilities.items()
        if memory_id in judged
    ]
    if not pairs:
        return None
    brier = sum((probability - is_relevant) ** 2 for probability, is_relevant in pairs) / len(pairs)
    bins = []
    for own in binned(pairs):
        n, found = len(own), sum(is_relevant for _, is_relevant in own)
        if interval := wilson(found, n):
            bins.append(Bin(sum(probability for probability, _ in own) / n, found / n, interval, n))
    return ReliabilityCurve(tuple(bins), brier, len(pairs))


def binned(pairs: Iterable[tuple[float, bool]]) -> list[list[tuple[float, bool]]]:
    """(probability, whether it is relevant) in bins of equal width, without empty bins."""
    bins = grouped((bin_number(pair[0]), pair) for pair in pairs)
    return [bins[number] for number in sorted(bins)]


def bin_number(probability: float) -> int:
    return min(int(probability * BINS), BINS - 1)


def history(sample: Sample) -> tuple[Moment, ...]:
    """How the precision became known: at most MAX_LOOKS moments, evenly spread, with the last one."""
    counts = sample.counts
    step = max(1, -(-len(counts) // MAX_LOOKS))
    numbers = range((len(counts) - 1) % step + 1, len(counts) + 1, step) if counts else ()
    found = (precision_estimate(counts[:number]) for number in numbers)
    lives = betting_intervals(counts, sample.most, numbers)
    return tuple(
        Moment(number, estimate.value, live)
        for number, estimate, live in zip(numbers, found, lives, strict=True)
        if estimate
    )
