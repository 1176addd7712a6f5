"""What numbers stand on: judgements, pools, and which prompts can be measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from labels.measure import outcomes as known
from labels.measure.metrics import InPools, in_pools
from labels.measure.weights import EQUAL, Weights, pair_weights, prompt_weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from labels.measure.gate.evidence import Evidence
    from labels.measure.outcomes import Pools
    from labels.records import Judgements, Outcome

AS_NOT, EXCLUDE = "not", "exclude"
"""What an unjudged memory counts as in a qrels report: not relevant (TREC's convention), or nothing at all."""


@dataclass(frozen=True)
class Basis:
    """What the numbers stand on: judgements, the pools, prompts with nothing relevant, and prompts that are measured.

    `explicit` are the judgements that somebody gave; `judgements` may hold assumed ones too. `weights` say how many
    prompts and memories each judged one stands for. `evidence` says when, with the same judgements of the same
    outcomes, None where that is not known.
    """

    judgements: Judgements
    explicit: Judgements
    pools: Pools
    without_relevant: Set[str]
    measured: Set[str]
    weights: Weights = EQUAL
    evidence: Evidence | None = None

    @cached_property
    def in_pools(self) -> InPools:
        """What is relevant in the pools, which is the same for every system."""
        return in_pools(self.pools, self.judgements, self.weights)


def labelled_basis(rows: Sequence[Outcome], judgements: Judgements) -> Basis:
    """From labels: nothing is assumed, and a prompt is measured once a memory of its pool is judged."""
    pools = known.pools(rows, judgements)
    measured = {prompt_id for prompt_id, pool in pools.items() if not pool.isdisjoint(judgements.get(prompt_id, ()))}
    return Basis(judgements, judgements, pools, known.prompts_without_relevant(pools, judgements), measured)


def weighted_basis(
    rows: Sequence[Outcome],
    judgements: Judgements,
    strata: Mapping[str, str],
    inclusion: Mapping[str, Mapping[str, float]],
) -> Basis:
    """A labelled basis whose prompts were offered by *strata* (prompt id -> stratum) and whose pools hold samples.

    *inclusion* is prompt id -> memory id -> probability of coming into the pool. What a system injects is in its
    prompt's pool for certain, whatever an older pool says; a prompt that was not replayed is in no frame.
    """
    basis = labelled_basis(rows, judgements)
    replayed = {prompt_id: stratum for prompt_id, stratum in strata.items() if prompt_id in basis.pools}
    injected: dict[str, set[str]] = {}
    for row in rows:
        if row.prompt_id in inclusion:
            injected.setdefault(row.prompt_id, set()).update(row.injected)
    pairs = pair_weights(inclusion, injected)
    frame = replayed if len(set(replayed.values())) > 1 else {}
    return replace(basis, weights=Weights(frame, prompt_weights(frame, basis.measured), pairs))


def qrels_basis(rows: Sequence[Outcome], judgements: Judgements, unjudged: str) -> Basis:
    """From qrels: a prompt without a relevant row has nothing relevant; *unjudged* memories count as it says."""
    counted = known.assuming_not_relevant(rows, judgements) if unjudged == AS_NOT else judgements
    prompts = {row.prompt_id for row in rows}
    without = {prompt_id for prompt_id in prompts if not any(judgements.get(prompt_id, {}).values())}
    basis = labelled_basis(rows, counted)
    measured = prompts if unjudged == AS_NOT else basis.measured
    return replace(basis, explicit=judgements, without_relevant=without, measured=measured)
