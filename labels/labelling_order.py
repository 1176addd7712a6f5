"""Which prompts come first, so that estimates stay unbiased whenever a person stops, and their pools of memories.

Prompts fall into strata. The order within a stratum is random by seed; the strata are interleaved at a fixed rate. So
the labelled prompts of a stratum are a simple random sample of it at any moment, and a prompt's probability to be
labelled is labelled / all prompts of its stratum (W. G. Cochran, Sampling Techniques, 3rd edition 1977, chapter 5).

Once labels exist, a new order crosses its strata with the old ones: within a cell of both, prompts have had the same
random order all along. A late prompt takes its place in that order, so earlier open prompts come first.

A hidden repeat is a labelled card that is shown a second time without a hint. It measures how far a person agrees
with themselves, the ceiling of every other agreement. A repeat comes after enough other cards to be out of mind. The
prompt's ranks have been revealed by then, so the measured agreement is an upper limit.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from math import sqrt
from statistics import median
from typing import TYPE_CHECKING

from labels.records import INJECTED, JUDGE_DROPPED, LABEL, Card, Pool, grouped, nested, picked
from labels.tables import QUERIES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.memory import MemorySummary
    from engine.retrieval import Retrieval
    from labels.records import Event, Label, Pair
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


MAX_SKIPS = 2
"""A card with this many skips is not shown again."""

REPEAT_SHARE = 0.1
"""The share of cards that are repeated."""

MIN_REPEAT_GAP, REPEAT_GAP_SPREAD = 10, 20
"""A repeat waits for MIN_REPEAT_GAP to MIN_REPEAT_GAP + REPEAT_GAP_SPREAD - 1 other cards, then for the next prompt."""

REPEAT_REACH = 200
"""A card is not repeated after more than this many others."""


# The pool of a prompt: the memories to label, and the probability of each to be among them


def pool(retrievals: Sequence[Retrieval], seed: int, judge_dropped_sample: int = 2) -> Pool:
    """The pool of one prompt: all memories that *retrievals* inject, and a random sample of the judge's drops.

    Injected memories have probability 1. Of n memories that a judge dropped and no system injects, at most
    k = *judge_dropped_sample* are drawn, each with probability k/n. A memory of several systems is one card.
    Draw and order depend only on prompt id and seed, so the position of a card tells nothing about its rank.
    Raises ValueError for no retrieval, and for retrievals of different prompts.
    """
    prompts = {retrieval.prompt.id for retrieval in retrievals}
    if len(prompts) != 1:
        raise ValueError(f"a pool is of one prompt, not of {len(prompts)}")
    prompt = retrievals[0].prompt
    injected = {
        pair_of(candidate.memory): candidate.memory for retrieval in retrievals for candidate in retrieval.injected
    }
    dropped = judge_dropped(retrievals, injected)
    sample = shuffled(dropped.values(), f"{seed}\0{prompt.id}\0sample")[: max(0, judge_dropped_sample)]
    strata = dict.fromkeys(injected, (INJECTED, 1.0))
    strata |= {pair_of(memory): (JUDGE_DROPPED, len(sample) / len(dropped)) for memory in sample}
    order = shuffled([*injected.values(), *sample], f"{seed}\0{prompt.id}\0order")
    cards = (Card(memory, *strata[pair_of(memory)], position) for position, memory in enumerate(order, start=1))
    return Pool(prompt, tuple(cards), seed)


def judge_dropped(retrievals: Iterable[Retrieval], injected: dict[Pair, MemorySummary]) -> dict[Pair, MemorySummary]:
    return {
        pair_of(candidate.memory): candidate.memory
        for retrieval in retrievals
        for candidate in retrieval.candidates
        if candidate.dropped_by == "judge" and pair_of(candidate.memory) not in injected
    }


def pair_of(memory: MemorySummary) -> Pair:
    return memory.id, memory.digest


def shuffled(memories: Iterable[MemorySummary], salt: str) -> list[MemorySummary]:
    """A random order that depends neither on the given order nor on other memories.

    Sorting by a keyed hash is a uniformly random permutation, as far as SHA-256 is a random function.
    """
    return sorted(memories, key=lambda memory: random_key(salt, *pair_of(memory)))


def random_key(*parts: str) -> bytes:
    """A sort key that looks random and is always the same for the same *parts*."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()


def record_card(db: LabelTables, pool: Pool, card: Card, ts: str) -> None:
    """Insert or refresh a card's row in the table `frame`. Its prompt and memory must be in the store."""
    at = {"prompt_id": pool.prompt.id, "memory_id": card.memory.id, "digest": card.memory.digest, "seed": pool.seed}
    row = {**at, **picked(card, ("stratum", "inclusion_probability")), "ts": ts}
    db.upsert("frame", row, keys=tuple(at))


class StoredPools:
    """The pools of a store."""

    _db: LabelTables

    def pooled(self, seed: int) -> dict[str, list[str]]:
        """The newest pool of each prompt with *seed*: prompt id -> memory ids."""
        rows = self._db.tuples(QUERIES["pooled"], {"seed": seed})
        return {prompt_id: json.loads(memory_ids) for prompt_id, memory_ids in rows}

    def inclusion(self) -> dict[str, dict[str, float]]:
        """Inclusion probabilities in the newest pools: prompt id -> memory id -> probability (0..1].

        Only prompts with a sample in any of their pools are listed.
        """
        rows: list[tuple[str, str, float]] = self._db.tuples(QUERIES["inclusion"])
        return nested(rows)


# The next card


def open_cards(pool: Pool, labelled: Collection[Pair], skips: Mapping[Pair, int]) -> tuple[Card, ...]:
    """The cards to show, in the pool's order; skipped cards come last."""
    unlabelled = [card for card in pool.cards if card.pair not in labelled]
    return tuple(card for times in range(MAX_SKIPS) for card in unlabelled if skips.get(card.pair, 0) == times)


def pace(events: Iterable[Event]) -> float | None:
    """The median time per label in seconds; None before the first label."""
    times = [event.elapsed_ms for event in events if event.action == LABEL]
    return median(times) / 1000 if times else None


def due_repeats(recent: Sequence[Label], seed: int) -> tuple[Label, ...]:
    """The labels whose cards are due for a repeat, the longest waiting first; *recent* are newest first.

    Only blind key presses are repeated: nothing else can be asked again under the same conditions.
    """
    return tuple(
        label
        for later, label in reversed(list(enumerate(recent)))
        if label.blind and not label.source and is_repeated(label, seed) and later >= repeat_gap(label, seed)
    )


def is_repeated(label: Label, seed: int) -> bool:
    return random_fraction(label, seed, "repeat") < REPEAT_SHARE


def repeat_gap(label: Label, seed: int) -> int:
    """The number of other cards before the repeat."""
    return MIN_REPEAT_GAP + int(REPEAT_GAP_SPREAD * random_fraction(label, seed, "gap"))


def random_fraction(label: Label, seed: int, salt: str) -> float:
    """A number in [0, 1) that looks random and is always the same for the same card."""
    key = random_key(str(seed), salt, label.annotator, label.prompt_id, *label.pair)
    return int.from_bytes(key[:6]) / 2**48
