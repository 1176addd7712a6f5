"""What does most harm: memories injected again and again without being relevant, and prompts that draw such."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from labels.measure.names import NAMELESS, Names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from labels.records import Judgements, Outcome

    Pairs = Judgements

SHOWN_WORST = 10
PATTERN = 2
"""Of one irrelevant pair nothing follows."""


@dataclass(frozen=True)
class Worst:
    """A memory, or a prompt, and how many of the pairs of it that any system injects are irrelevant and relevant.

    `text` is its title or its text as far as it is known, else empty.
    """

    id: str
    text: str
    irrelevant: int
    relevant: int


def injected_pairs(rows: Iterable[Outcome], judgements: Judgements) -> Pairs:
    """Everything that any system injects and that is judged."""
    pairs: dict[str, dict[str, bool]] = {}
    for row in rows:
        if judged := judgements.get(row.prompt_id):
            known = {memory_id: judged[memory_id] for memory_id in row.injected if memory_id in judged}
            pairs.setdefault(row.prompt_id, {}).update(known)
    return pairs


def worst(counts: Iterable[tuple[str, int, int]], texts: Mapping[str, str]) -> tuple[Worst, ...]:
    """The ids with most irrelevant pairs, of those with two or more; the less relevant first among equals.

    *counts* are (id, irrelevant, relevant) pairs.
    """
    often = sorted([(-irrelevant, relevant, id_) for id_, irrelevant, relevant in counts if irrelevant >= PATTERN])
    return tuple(Worst(id_, texts.get(id_, ""), -fewer, relevant) for fewer, relevant, id_ in often[:SHOWN_WORST])


def worst_memories(pairs: Pairs, names: Names = NAMELESS) -> tuple[Worst, ...]:
    """The memories that are most often injected and irrelevant, over all systems; a prompt counts once."""
    said = Counter(chain.from_iterable([found.items() for found in pairs.values()]))
    return worst([(name, said[name, False], said[name, True]) for name, is_good in said if not is_good], names.memories)


def worst_prompts(pairs: Pairs, names: Names = NAMELESS) -> tuple[Worst, ...]:
    """The prompts for which most irrelevant memories are injected, by all systems together; a memory counts once."""
    said = {prompt_id: tuple(found.values()) for prompt_id, found in pairs.items()}
    return worst([(name, found.count(False), found.count(True)) for name, found in said.items()], names.prompts)
