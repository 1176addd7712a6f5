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

FIRST_SHARE = 0.8
"""The share of prompts of the stratum that comes first, as long as it lasts."""

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
    first = facets[0] if plan.order in (DISAGREEMENT_FIRST, UNCERTAIN_FIRST) else ""
    return interleaved(
        [
            (randomly(ids, plan.seed), len(ids) if not first else FIRST_SHARE if facet == first else 1 - FIRST_SHARE)
            for facet, ids in sorted(groups.items())
        ]
    )


def randomly(prompt_ids: Iterable[str], seed: int) -> tuple[str, ...]:
    """The prompts in seeded random order, whatever order they came in; each once."""
    return tuple(sorted(set(prompt_ids), key=lambda prompt_id: random_key(str(seed), prompt_id)))


def interleaved(groups: Sequence[tuple[Sequence[str], float]]) -> tuple[str, ...]:
    """The members of all groups, each group in its order, taken at the rate of the group's weight until it is used up.

    At any moment each group has had its share of the places, to within one place and as far as it lasts.
    """
    placed = [((number + 0.5) / weight, member) for members, weight in groups for number, member in enumerate(members)]
    return tuple(member for _, member in sorted(placed, key=lambda place: place[0]))
