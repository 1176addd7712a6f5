"""The pool: which memories of a prompt are put before a person, and with what probability."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from labels.records import INJECTED, JUDGE_DROPPED, Card, Pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.memory import MemorySummary
    from engine.retrieval import Retrieval
    from labels.records import Pair


def pool(retrievals: Sequence[Retrieval], seed: int, judge_dropped_sample: int = 2) -> Pool:
    """The pool of one prompt: the union of what *retrievals* inject, and a random sample of what a judge dropped.

    Injected memories are in the pool for certain. Of the n that a judge dropped and no system injects, at most
    *judge_dropped_sample* = k are drawn, each with probability k/n. A memory that several systems return is one card.
    Draw and order follow from prompt id and seed alone and say nothing of rank: the position of a card is no hint.
    Raises ValueError if there is no retrieval or they are of different prompts.
    """
    prompts = {retrieval.prompt.id for retrieval in retrievals}
    if len(prompts) != 1:
        raise ValueError(f"a pool is of one prompt, not of {len(prompts)}")
    prompt = retrievals[0].prompt
    injected = injected_memories(retrievals)
    dropped = judge_dropped_memories(retrievals, injected)
    sample = shuffled(dropped.values(), f"{seed}\0{prompt.id}\0sample")[: max(0, judge_dropped_sample)]
    strata = dict.fromkeys(injected, (INJECTED, 1.0))
    strata |= {pair_of(memory): (JUDGE_DROPPED, len(sample) / len(dropped)) for memory in sample}
    order = shuffled([*injected.values(), *sample], f"{seed}\0{prompt.id}\0order")
    cards = (Card(memory, *strata[pair_of(memory)], position) for position, memory in enumerate(order, start=1))
    return Pool(prompt, tuple(cards), seed)


def injected_memories(retrievals: Iterable[Retrieval]) -> dict[Pair, MemorySummary]:
    return {pair_of(candidate.memory): candidate.memory for retrieval in retrievals for candidate in retrieval.injected}


def judge_dropped_memories(
    retrievals: Iterable[Retrieval], injected: dict[Pair, MemorySummary]
) -> dict[Pair, MemorySummary]:
    return {
        pair_of(candidate.memory): candidate.memory
        for retrieval in retrievals
        for candidate in retrieval.candidates
        if candidate.dropped_by == "judge" and pair_of(candidate.memory) not in injected
    }


def pair_of(memory: MemorySummary) -> Pair:
    return memory.id, memory.digest


def shuffled(memories: Iterable[MemorySummary], salt: str) -> list[MemorySummary]:
    """A random order that does not depend on the order given, and that a new memory does not disturb.

    Sorting by a keyed hash is a uniformly random permutation as far as SHA-256 is a random function.
    """
    return sorted(memories, key=lambda memory: random_key(salt, *pair_of(memory)))


def random_key(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
