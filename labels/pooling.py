"""The pool of a prompt: the memories to label, and the probability of each to be among them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from labels.records import INJECTED, JUDGE_DROPPED, Card, Pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.memory import MemorySummary
    from engine.retrieval import Retrieval
    from labels.database import LabelDatabase
    from labels.records import Pair


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


def record_card(db: LabelDatabase, pool: Pool, card: Card, ts: str) -> None:
    """Insert or refresh a card's row in the table `frame`. Its prompt and memory must be in the store."""
    row = {
        "prompt_id": pool.prompt.id,
        "memory_id": card.memory.id,
        "digest": card.memory.digest,
        "seed": pool.seed,
        "stratum": card.stratum,
        "inclusion_probability": card.inclusion_probability,
        "ts": ts,
    }
    db.upsert("frame", row, keys=("prompt_id", "memory_id", "digest", "seed"))


def newest_pools(db: LabelDatabase, seed: int) -> dict[str, list[str]]:
    """The newest pool of each prompt with *seed*: prompt id -> memory ids."""
    rows = db.tuples(
        """SELECT prompt_id, json_group_array(memory_id) FROM frame
           JOIN (SELECT prompt_id, max(ts) AS ts FROM frame WHERE seed = :seed GROUP BY prompt_id) USING (prompt_id, ts)
           WHERE seed = :seed GROUP BY prompt_id""",
        {"seed": seed},
    )
    return {prompt_id: json.loads(memory_ids) for prompt_id, memory_ids in rows}


def inclusion(db: LabelDatabase) -> dict[str, dict[str, float]]:
    """Inclusion probabilities in the newest pools: prompt id -> memory id -> probability (0..1].

    Only prompts with a sample in any of their pools are listed.
    """
    rows = db.tuples(
        """SELECT prompt_id, memory_id, inclusion_probability FROM frame WHERE prompt_id IN
           (SELECT prompt_id FROM frame WHERE inclusion_probability < 1) ORDER BY ts"""
    )
    found: dict[str, dict[str, float]] = {}
    for prompt_id, memory_id, probability in rows:
        found.setdefault(prompt_id, {})[memory_id] = probability
    return found
