"""The curves of one system: precision against coverage, reliability of its probabilities, precision over time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.intervals import Drawn, Interval, precision_of, wilson
from labels.measure.live_interval import looks, stratified_intervals
from labels.measure.strata import EQUAL
from labels.records import grouped

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from labels.measure.evidence import Evidence
    from labels.measure.intervals import Row
    from labels.measure.strata import LabelledSample, PairWeights
    from labels.records import Judgements, Outcome

    Injected = tuple[float, str, bool | None]
    """(strength, prompt id, whether it is relevant) of an injected memory."""

PROBABILITY, STRENGTH = "probability", "strength"
"""The quantity that is cut: the tuned model's P(relevant), or else the score of the first stage."""

FEWEST_JUDGED = 5
"""Judged memories below which a point of the coverage curve is not shown."""

MAX_POINTS = 60
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


def curves(rows: Sequence[Outcome], evidence: Evidence, sample: LabelledSample | None) -> Curves:
    """The curves of one system's *rows*, one for each prompt; *sample* is None where no order is known."""
    return Curves(
        coverage(rows, evidence.judgements, evidence.weights),
        reliability(rows, evidence.judgements),
        history(sample) if sample else (),
    )


# Coverage


def coverage(rows: Sequence[Outcome], judgements: Judgements, weights: PairWeights = EQUAL) -> Coverage | None:
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
    relevant = sum(weights.of_prompt(row.prompt_id) * sum(judgements.get(row.prompt_id, {}).values()) for row in rows)
    points = tuple(points_of(injected, relevant, len(rows), weights))
    return Coverage(by, thinned(points)) if points else None


def strengths(row: Outcome, by: str) -> list[float | None]:
    """The strength of each injected memory, higher is stronger; empty where none is known."""
    if by == PROBABILITY:
        return [row.probabilities[memory_id] for memory_id in row.injected]
    return [None if score is None else -score for score in row.scores]


def points_of(injected: Sequence[Injected], relevant: float, prompts: int, weights: PairWeights) -> Iterator[CutPoint]:
    """A point for each distinct strength of the *injected* memories, which are sorted, the strongest first."""
    hits = whole = 0.0
    judged = 0
    firing: set[str] = set()
    for strength, group in groupby(injected, key=itemgetter(0)):
        for _, prompt_id, is_relevant in group:
            firing.add(prompt_id)
            if is_relevant is not None:
                judged += 1
                whole += weights.of_prompt(prompt_id)
                hits += weights.of_prompt(prompt_id) * is_relevant
        if judged >= FEWEST_JUDGED:
            yield CutPoint(strength, hits / whole, hits / relevant if relevant else 0.0, len(firing) / prompts, judged)


def thinned(points: tuple[CutPoint, ...]) -> tuple[CutPoint, ...]:
    """At most MAX_POINTS points, evenly spread, with the last one."""
    step = max(1, -(-len(points) // MAX_POINTS))
    return points[(len(points) - 1) % step :: step]


# Reliability


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
    return ReliabilityCurve(tuple(map(bin_of, binned(pairs))), brier, len(pairs))


def binned(pairs: Iterable[tuple[float, bool]]) -> list[list[tuple[float, bool]]]:
    """(probability, whether it is relevant) in bins of equal width, without empty bins."""
    bins = grouped((bin_number(pair[0]), pair) for pair in pairs)
    return [bins[number] for number in sorted(bins)]


def bin_number(probability: float) -> int:
    return min(int(probability * BINS), BINS - 1)


def bin_of(pairs: list[tuple[float, bool]]) -> Bin:
    n, relevant = len(pairs), sum(is_relevant for _, is_relevant in pairs)
    interval = wilson(relevant, n)
    assert interval is not None  # a bin has at least one memory
    return Bin(sum(probability for probability, _ in pairs) / n, relevant / n, interval, n)


# History


def history(sample: LabelledSample) -> tuple[Moment, ...]:
    """How the precision became known: at most MAX_LOOKS moments, evenly spread, with the last one."""
    if not sample.judged:
        return ()
    numbers = looks(len(sample.judged))
    intervals = stratified_intervals(sample.sequence, sample.shares, sample.most, numbers)
    return tuple(
        Moment(number, precision, live)
        for number, precision, live in zip(numbers, precisions(sample, numbers), intervals, strict=True)
        if precision is not None
    )


def precisions(sample: LabelledSample, numbers: range) -> Iterator[float | None]:
    """The precision at each number of prompts, each stratum weighted by its share of the frame."""
    sizes, sequence = Counter(sample.frame.values()), iter(sample.sequence)
    rows: dict[Hashable, Counter[Row]] = {}
    for before, number in pairwise((0, *numbers)):
        for stratum, counts in islice(sequence, number - before):
            rows.setdefault(stratum, Counter())[counts] += 1
        yield precision_of([Drawn(own, sizes[name] / own.total()) for name, own in rows.items()])
