"""Labelling orders: which prompts come first, so that estimates stay unbiased whenever a person stops.

Prompts fall into strata. The order within a stratum is random by seed; the strata are interleaved at a fixed rate. So
the labelled prompts of a stratum are a simple random sample of it at any moment, and a prompt's probability to be
labelled is labelled / all prompts of its stratum (W. G. Cochran, Sampling Techniques, 3rd edition 1977, chapter 5).

Once labels exist, a new order crosses its strata with the old ones: within a cell of both, prompts have had the same
random order all along. A late prompt takes its place in that order, so earlier open prompts come first.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from labels.pooling import random_key
from labels.records import grouped
from labels.tables import QUERIES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from labels.tables import LabelTables

RANDOM, STRATIFIED = "random", "stratified"
DISAGREEMENT_FIRST, UNCERTAIN_FIRST = "disagreement-first", "uncertain-first"
ORDERS = (RANDOM, STRATIFIED, DISAGREEMENT_FIRST, UNCERTAIN_FIRST)

ALL = "all"
"""The stratum of a prompt in an order that needs no facet."""

DIFFER, AGREE = "systems differ", "systems agree"
NEAR, FAR = "near the cutoff", "far from the cutoff"
CROSSING = " × "

FACETS = {RANDOM: (), STRATIFIED: (DIFFER, AGREE), DISAGREEMENT_FIRST: (DIFFER, AGREE), UNCERTAIN_FIRST: (NEAR, FAR)}
"""The facets by which an order splits prompts. In orders with a first kind, it is the first facet."""

MOST_FIRST = 0.8
"""The largest share of labels for the first kind, unless it holds more of the prompts."""

EXCESS = 0.02
"""The accepted rise of a precision's variance through labelling one kind first, where both kinds vary alike."""

NEARNESS = 0.1
"""A probability within this distance of the cutoff's threshold is uncertain."""


@dataclass(frozen=True)
class LabellingOrder:
    """An annotator's labelling order over one root, and the stratum of each of its prompts: prompt id -> stratum."""

    order: str
    seed: int
    strata: Mapping[str, str]


def disagreement(injected: Iterable[Collection[str]]) -> str:
    """AGREE if all systems inject the same memories, in any order; else DIFFER."""
    return DIFFER if len({frozenset(ids) for ids in injected}) > 1 else AGREE


def uncertainty(probabilities: Iterable[float], threshold: float) -> str:
    """NEAR if a candidate's P(relevant) is within NEARNESS of the cutoff's threshold; else FAR."""
    return NEAR if any(abs(probability - threshold) <= NEARNESS for probability in probabilities) else FAR


def has_facet(stratum: str, order: str) -> bool:
    """Whether *stratum* holds a facet that *order* needs."""
    return not FACETS[order] or not set(FACETS[order]).isdisjoint(stratum.split(CROSSING))


def crossed(stratum: str, facet: str) -> str:
    """The cell of *stratum* and *facet*. ALL changes nothing."""
    parts = {*stratum.split(CROSSING), facet} - {ALL}
    return CROSSING.join(sorted(parts)) or ALL


def offered(plan: LabellingOrder) -> tuple[str, ...]:
    """The prompt ids of *plan* in labelling order."""
    facets = FACETS[plan.order]
    groups = grouped(
        (next((name for name in facets if name in stratum.split(CROSSING)), ALL), prompt_id)
        for prompt_id, stratum in plan.strata.items()
    )
    weights: dict[str, float] = {facet: len(ids) for facet, ids in groups.items()}
    if plan.order in (DISAGREEMENT_FIRST, UNCERTAIN_FIRST):
        share = first_share(weights.get(facets[0], 0) / max(1, len(plan.strata)))
        weights = {facet: share if facet == facets[0] else 1 - share for facet in groups}
    return interleaved([(randomly(ids, plan.seed), weights[facet]) for facet, ids in sorted(groups.items())])


def first_share(part: float) -> float:
    """The share of labels (0..1) for the first kind, which holds *part* (0..1) of the prompts.

    With a share f of the labels and a part W of the prompts, the variance of a weighted mean is
    W^2 s1^2 / f + (1 - W)^2 s2^2 / (1 - f) (Cochran, section 5.5). Where both kinds vary alike, it is
    1 + (f - W)^2 / (f (1 - f)) times the variance of proportional labelling. f is the largest share whose excess stays
    within EXCESS, because it is unknown before labelling which kind varies more. A large f serves the difference of two
    systems, which is 0 where they agree.
    """
    most = (part + EXCESS / 2 + sqrt(EXCESS * part * (1 - part) + EXCESS**2 / 4)) / (1 + EXCESS)
    return max(part, min(MOST_FIRST, most))


def randomly(prompt_ids: Iterable[str], seed: int) -> tuple[str, ...]:
    """The prompts in random order by *seed*, whatever order they came in. Duplicates are removed."""
    return tuple(sorted(set(prompt_ids), key=lambda prompt_id: random_key(str(seed), prompt_id)))


def interleaved(groups: Sequence[tuple[Sequence[str], float]]) -> tuple[str, ...]:
    """The members of all (members, weight) groups, mixed at the rate of the weights; each group keeps its order.

    At any moment a group has had its share of the places, to within one place, until it is used up.
    """
    placed = [((number + 0.5) / weight, member) for members, weight in groups for number, member in enumerate(members)]
    return tuple(member for _, member in sorted(placed, key=lambda place: place[0]))


class StoredPlans:
    """The labelling orders of a store."""

    _db: LabelTables

    def plan(self, root: str, annotator: str) -> LabellingOrder | None:
        """The annotator's labelling order; None before the first."""
        rows = self._db.tuples(QUERIES["plan"], [root, annotator])
        if not rows:
            return None
        order, seed, _, _ = rows[0]
        return LabellingOrder(order, seed, {prompt_id: stratum for _, _, prompt_id, stratum in rows})

    def strata(self, root: str, *, besides: str | None = None) -> dict[str, str]:
        """The newest stratum of each prompt of a root, without plans of the annotator *besides*.

        The labelled prompts of a stratum are a simple random sample of it.
        """
        return dict(self._db.tuples(QUERIES["strata"], [root, besides]))
