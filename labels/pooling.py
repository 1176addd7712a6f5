"""The pool of a prompt: the memories to label, the probability of each to be among them, and the next card to show.

A hidden repeat is a labelled card that is shown a second time without a hint. It measures how far a person agrees
with themselves, the ceiling of every other agreement. A repeat comes after enough other cards to be out of mind. The
prompt's ranks have been revealed by then, so the measured agreement is an upper limit.
"""

from __future__ import annotations

import hashlib
import json
from statistics import median
from typing import TYPE_CHECKING

from labels.records import INJECTED, JUDGE_DROPPED, LABEL, Card, Pool, nested, picked
from labels.tables import QUERIES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.memory import MemorySummary
    from engine.retrieval import Retrieval
    from labels.records import Event, Label, Pair
    from labels.tables import LabelTables

MAX_SKIPS = 2
"""A card with this many skips is not shown again."""

REPEAT_SHARE = 0.1
"""The share of cards that are repeated."""

MIN_REPEAT_GAP, REPEAT_GAP_SPREAD = 10, 20
"""A repeat waits for MIN_REPEAT_GAP to MIN_REPEAT_GAP + REPEAT_GAP_SPREAD - 1 other cards, then for the next prompt."""

REPEAT_REACH = 200
"""A card is not repeated after more than this many others."""


# The pool


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
