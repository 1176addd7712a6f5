"""How many prompts and memories each judged one stands for, where they were not all equally likely to be judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Set


@dataclass(frozen=True)
class Weights:
    """Horvitz-Thompson weights: 1 / the probability of having been judged, at least 1; what is absent counts as 1.

    `strata` says for every prompt of the frame in which stratum it stood when the order of labelling was made, and is
    empty where the prompts are one random draw. `prompts` are the weights N_h / n_h that follow from it. `pairs` are
    prompt id -> memory id -> weight of a memory of which only a sample was put before people.
    """

    strata: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, float] = field(default_factory=dict)
    pairs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def of_prompt(self, prompt_id: str) -> float:
        return self.prompts.get(prompt_id, 1.0)


EQUAL = Weights()
"""Everything judged was equally likely to be judged."""


def prompt_weights(strata: Mapping[str, str], judged: Set[str]) -> dict[str, float]:
    """N_h / n_h of every *judged* prompt that stands in one of *strata*: how many of its stratum it stands for."""
    frame = Counter(strata.values())
    drawn = Counter(stratum for prompt_id, stratum in strata.items() if prompt_id in judged)
    # in the order of the strata: a set's would change the last bit of a sum from one process to the next
    return {name: frame[stratum] / drawn[stratum] for name, stratum in strata.items() if name in judged}


def pair_weights(
    inclusion: Mapping[str, Mapping[str, float]], certain: Mapping[str, Set[str]]
) -> dict[str, dict[str, float]]:
    """1 / probability of every memory whose probability of coming into its pool is under 1 and that is not *certain*.

    Only of the prompts that *certain* names.
    """
    found: dict[str, dict[str, float]] = {}
    for prompt_id, sure in certain.items():
        for memory_id, probability in inclusion.get(prompt_id, {}).items():
            if probability < 1 and memory_id not in sure:
                found.setdefault(prompt_id, {})[memory_id] = 1 / probability
    return found
