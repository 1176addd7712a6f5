"""Precision against coverage: what would be left if only the stronger memories had been injected."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.weights import EQUAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.weights import Weights
    from labels.records import Judgements, Outcome

PROBABILITY, STRENGTH = "probability", "strength"
"""What the cut moves along: the tuned model's P(relevant), or else what the first stage scored."""

FEWEST_JUDGED = 5
"""A point of fewer judged memories says nothing."""

MAX_POINTS = 60


class Point(NamedTuple):
    """What is left over a cut: `least` is the weakest that stays, `judged` how many of these are labelled.

    `precision` is 0..1, `recall` of all known to be relevant, `fires` the share of prompts with something left.
    """

    least: float
    precision: float
    recall: float
    fires: float
    judged: int


@dataclass(frozen=True)
class Coverage:
    """The curve of one system, the strictest cut first; `by` is PROBABILITY or STRENGTH."""

    by: str
    points: tuple[Point, ...]


class Injected(NamedTuple):
    strength: float
    prompt_id: str
    is_relevant: bool | None
    weight: float


def coverage(rows: Sequence[Outcome], judgements: Judgements, weights: Weights = EQUAL) -> Coverage | None:
    """The curve of one system's *rows*, one for each prompt; None where it is not known how strong anything was.

    The cut goes along what the system does inject, so the last point is the system as it is.
    """
    by = PROBABILITY if all(row.probabilities.keys() >= set(row.injected) for row in rows) else STRENGTH
    injected = sorted(injected_by(rows, judgements, weights, by), key=attrgetter("strength"), reverse=True)
    relevant = sum(weights.of_prompt(row.prompt_id) * sum(judgements.get(row.prompt_id, {}).values()) for row in rows)
    points = tuple(swept(injected, relevant, len(rows)))
    return Coverage(by, thinned(points)) if points else None


def injected_by(rows: Sequence[Outcome], judgements: Judgements, weights: Weights, by: str) -> Iterator[Injected]:
    for row in rows:
        judged, weight = judgements.get(row.prompt_id, {}), weights.of_prompt(row.prompt_id)
        for memory_id, strength in zip(row.injected, strengths(row, by), strict=False):
            if strength is not None:
                yield Injected(strength, row.prompt_id, judged.get(memory_id), weight)


def strengths(row: Outcome, by: str) -> list[float | None]:
    """Of each injected memory, or of none where that is not known."""
    if by == PROBABILITY:
        return [row.probabilities[memory_id] for memory_id in row.injected]
    return [None if score is None else -score for score in row.scores]


def swept(injected: Sequence[Injected], relevant: float, prompts: int) -> Iterator[Point]:
    """A point after all of each strength, the strongest first."""
    hits = whole = 0.0
    judged = 0
    firing: set[str] = set()
    for strength, group in groupby(injected, key=attrgetter("strength")):
        for each in group:
            firing.add(each.prompt_id)
            if each.is_relevant is not None:
                judged += 1
                whole += each.weight
                hits += each.weight * each.is_relevant
        if judged >= FEWEST_JUDGED:
            yield Point(strength, hits / whole, hits / relevant if relevant else 0.0, len(firing) / prompts, judged)


def thinned(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """At most MAX_POINTS of them, evenly spread, the last among them."""
    step = max(1, -(-len(points) // MAX_POINTS))
    return points[(len(points) - 1) % step :: step]
