"""The prompts in labelling order; the pool of a prompt: the memories to label; the next card to show.

A hidden repeat is a labelled card that is shown a second time without a hint. It measures how far a person agrees
with themselves, the ceiling of every other agreement. A repeat comes after enough other cards to be out of mind. The
prompt's ranks have been revealed by then, so the measured agreement is an upper limit.
"""

from __future__ import annotations

import hashlib
import json
from statistics import median
from typing import TYPE_CHECKING

from labels.records import INJECTED, LABEL, Card, Pool
from labels.tables import QUERIES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

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


def labelling_order(prompt_ids: Iterable[str], seed: int) -> list[str]:
    """The prompts in random order by *seed*, whatever order they came in.

    The labelled prompts are a simple random sample at any moment. A late prompt takes its place in the same order.
    """
    return sorted(prompt_ids, key=lambda prompt_id: random_key(str(seed), prompt_id))


def pool(retrievals: Sequence[Retrieval], seed: int) -> Pool:
    """The pool of one prompt: all memories that *retrievals* inject, one card for a memory of several systems.

    The order depends only on prompt id and seed, so the position of a card tells nothing about its rank.
    Raises ValueError for no retrieval, and for retrievals of different prompts.
    """
    prompts = {retrieval.prompt.id for retrieval in retrievals}
    if len(prompts) != 1:
        raise ValueError(f"a pool is of one prompt, not of {len(prompts)}")
    prompt = retrievals[0].prompt
    injected = (candidate.memory for retrieval in retrievals for candidate in retrieval.injected)
    memories = {(memory.id, memory.digest): memory for memory in injected}
    order = sorted(memories, key=lambda pair: random_key(f"{seed}\0{prompt.id}\0order", *pair))
    return Pool(prompt, tuple(Card(memories[pair], place) for place, pair in enumerate(order, start=1)), seed)


def random_key(*parts: str) -> bytes:
    """A sort key that looks random and is always the same for the same *parts*.

    Sorting by a keyed hash is a uniformly random permutation, as far as SHA-256 is a random function.
    """
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()


def record_card(db: LabelTables, pool: Pool, card: Card, ts: str) -> None:
    """Insert or refresh a card's row in the table `frame`. Its prompt and memory must be in the store."""
    at = {"prompt_id": pool.prompt.id, "memory_id": card.memory.id, "digest": card.memory.digest, "seed": pool.seed}
    db.upsert("frame", {**at, "stratum": INJECTED, "inclusion_probability": 1.0, "ts": ts}, keys=tuple(at))


class StoredPools:
    """The pools of a store."""

    _db: LabelTables

    def pooled(self, seed: int) -> dict[str, list[str]]:
        """The newest pool of each prompt with *seed*: prompt id -> memory ids."""
        rows = self._db.tuples(QUERIES["pooled"], {"seed": seed})
        return {prompt_id: json.loads(memory_ids) for prompt_id, memory_ids in rows}


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

    def fraction(label: Label, salt: str) -> float:
        """A number in [0, 1) that looks random and is always the same for the same card."""
        key = random_key(str(seed), salt, label.annotator, label.prompt_id, *label.pair)
        return int.from_bytes(key[:6]) / 2**48

    return tuple(
        label
        for later, label in reversed(list(enumerate(recent)))
        if label.blind
        and not label.source
        and fraction(label, "repeat") < REPEAT_SHARE
        and later >= MIN_REPEAT_GAP + int(REPEAT_GAP_SPREAD * fraction(label, "gap"))
    )
