"""Orders: which prompts are labelled first, such that estimates stay unbiased whenever a person stops.

Prompts fall into strata. Within a stratum the order is seeded-random, between strata the order interleaves them at a
fixed rate. What is labelled at any moment is therefore a simple random sample of each stratum, and a prompt's chance to
be in it is labelled / all prompts of its stratum (W. G. Cochran, Sampling Techniques, 3rd edition 1977, chapter 5).

A change of order crosses the new strata with the old ones once labels exist: within a cell of both, prompts have been
taken in the same random order all along. A prompt that comes in later takes its place in that order, so those before it
are taken first.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from labels.pooling import random_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

RANDOM, STRATIFIED = "random", "stratified"
DISAGREEMENT_FIRST, UNCERTAIN_FIRST = "disagreement-first", "uncertain-first"
ORDERS = (RANDOM, STRATIFIED, DISAGREEMENT_FIRST, UNCERTAIN_FIRST)

ALL = "all"
"""The stratum of a prompt of which nothing had to be known."""

DIFFER, AGREE = "systems differ", "systems agree"
NEAR, FAR = "near the cutoff", "far from the cutoff"
CROSSING = " × "

FACETS = {RANDOM: (), STRATIFIED: (DIFFER, AGREE), DISAGREEMENT_FIRST: (DIFFER, AGREE), UNCERTAIN_FIRST: (NEAR, FAR)}
"""What an order must know of a prompt; where one of the two comes first, it is the former."""

MOST_FIRST = 0.8
"""The largest share of the labels that goes to the stratum that comes first, unless it holds more of the prompts."""

EXCESS = 0.02
"""By how much that may raise the variance of a precision, where it varies as much in one stratum as in the other."""

NEARNESS = 0.1
"""A probability that is not further from the cutoff's threshold is uncertain."""


@dataclass(frozen=True)
class Plan:
    """An annotator's order over one root, and the stratum of each prompt that it was made for."""

    order: str
    seed: int
    strata: Mapping[str, str]


def disagreement(injected: Iterable[Collection[str]]) -> str:
    """DIFFER unless all systems inject the same memories, in whatever order."""
    return DIFFER if len({frozenset(ids) for ids in injected}) > 1 else AGREE


def uncertainty(probabilities: Iterable[float], threshold: float) -> str:
    """NEAR if a candidate's P(relevant) is within NEARNESS of the cutoff's threshold."""
    return NEAR if any(abs(one - threshold) <= NEARNESS for one in probabilities) else FAR


def has_facet(stratum: str, order: str) -> bool:
    """Whether what *order* must know is known of a prompt in *stratum*."""
    return not FACETS[order] or not set(FACETS[order]).isdisjoint(stratum.split(CROSSING))


def crossed(stratum: str, facet: str) -> str:
    """The cell of *stratum* and *facet*; ALL changes nothing."""
    parts = {*stratum.split(CROSSING), facet} - {ALL}
    return CROSSING.join(sorted(parts)) or ALL


def offered(plan: Plan) -> tuple[str, ...]:
    """The prompts of *plan* in the order in which they are to be labelled."""
    facets = FACETS[plan.order]
    groups: dict[str, list[str]] = {}
    for prompt_id, stratum in plan.strata.items():
        facet = next((one for one in facets if one in stratum.split(CROSSING)), ALL)
        groups.setdefault(facet, []).append(prompt_id)
    weights: dict[str, float] = {facet: len(ids) for facet, ids in groups.items()}
    if plan.order in (DISAGREEMENT_FIRST, UNCERTAIN_FIRST):
        share = first_share(weights.get(facets[0], 0) / max(1, len(plan.strata)))
        weights = {facet: share if facet == facets[0] else 1 - share for facet in groups}
    return interleaved([(randomly(ids, plan.seed), weights[facet]) for facet, ids in sorted(groups.items())])


def first_share(part: float) -> float:
    """The share of the labels for the stratum that comes first and holds *part* of the prompts, both 0..1.

    With a share f of the labels and a part W of the prompts the variance of a weighted mean is W^2 s1^2 / f +
    (1 - W)^2 s2^2 / (1 - f) (Cochran, section 5.5): where the strata vary alike, 1 + (f - W)^2 / (f (1 - f)) times that
    of labels in proportion. Four of five where systems differ would nearly double the error where they seldom do. Which
    stratum varies more is not known before there are labels (on LoCoMo, where systems differ it is 0.2 to 1.1 times as
    much), so f is as large as EXCESS allows: that is less than the weights gain where the precisions of the strata
    differ. The difference of two systems is known the better the larger f is, since it is 0 where they agree.
    """
    most = (part + EXCESS / 2 + sqrt(EXCESS * part * (1 - part) + EXCESS**2 / 4)) / (1 + EXCESS)
    return max(part, min(MOST_FIRST, most))


def randomly(prompt_ids: Iterable[str], seed: int) -> tuple[str, ...]:
    """The prompts in seeded random order, whatever order they came in; each once."""
    return tuple(sorted(set(prompt_ids), key=lambda prompt_id: random_key(str(seed), prompt_id)))


def interleaved(groups: Sequence[tuple[Sequence[str], float]]) -> tuple[str, ...]:
    """The members of all groups, each group in its order, taken at the rate of the group's weight until it is used up.

    At any moment each group has had its share of the places, to within one place and as far as it lasts.
    """
    placed = [((number + 0.5) / weight, member) for members, weight in groups for number, member in enumerate(members)]
    return tuple(member for _, member in sorted(placed, key=lambda place: place[0]))
