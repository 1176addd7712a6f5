"""Every number of one system."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from labels.measure import metrics
from labels.measure.agreement import Agreement, agreement
from labels.measure.curves import Curves, curves
from labels.measure.estimates import estimate, live_interval, per_prompt
from labels.measure.groups import Group, by_confidence, by_kind
from labels.measure.intervals import Interval, design_effect
from labels.measure.metrics import Ratio, tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from labels.measure.basis import Basis
    from labels.measure.extras import Extras
    from labels.measure.ranked import Ranked
    from labels.records import Outcome


@dataclass(frozen=True)
class SystemReport:
    """The numbers of one system; the functions of `labels.measure.metrics` that make them say what each is.

    `interval` is the 95 % interval of precision, None when nothing was judged; `live` the one that holds however often
    one looks, None where it is not known in which order the prompts were labelled; `bounds` what precision could be at
    worst and at best, None when nothing was injected. `per_prompt` ratios are over the prompts that have labels.
    `fallbacks` are of the prompts on which a judge was asked; `assumed` counts the memories in `agreement` that nobody
    judged.
    `median_ms` is the median time of a retrieval.
    """

    system: str
    prompts: int
    precision: Ratio
    interval: Interval | None
    live: Interval | None
    design_effect: float | None
    bounds: Interval | None
    fire_rate: Ratio
    false_fire_rate: Ratio
    irrelevant_per_prompt: Ratio
    polluted_rate: Ratio
    lost_per_prompt: Ratio
    recall_in_pool: Ratio
    recall_of_known: Ratio
    unjudged: Ratio
    silent: int
    fallbacks: Ratio
    median_ms: float
    by_confidence: tuple[Group, ...]
    by_kind: tuple[Group, ...]
    ranked: Ranked | None
    curves: Curves | None
    agreement: Agreement | None
    assumed: int


def system_report(
    system: str, own: Sequence[Outcome], basis: Basis, kinds: Mapping[str, str], extras: Extras
) -> SystemReport:
    """The numbers of *system* from its *own* outcomes, one for each prompt, at least one."""
    judgements, weights, measured = basis.judgements, basis.weights, basis.measured
    evidence = basis.evidence
    tallies = [each.tally for each in evidence.known[system]] if evidence else [tally(row, judgements) for row in own]
    judged = estimate(tallies, weights)
    sample = evidence.sample(system) if evidence else None
    given = tallies if basis.explicit is judgements else [tally(row, basis.explicit) for row in own]
    return SystemReport(
        system=system,
        prompts=len(own),
        precision=judged.ratio,
        interval=judged.interval,
        live=live_interval(sample) if sample else None,
        design_effect=design_effect(per_prompt(tallies)),
        bounds=metrics.precision_bounds(tallies),
        fire_rate=metrics.fire_rate(tallies),
        false_fire_rate=metrics.false_fire_rate(tallies, basis.without_relevant, weights),
        irrelevant_per_prompt=metrics.irrelevant_per_prompt(tallies, measured, weights),
        polluted_rate=metrics.polluted_rate(own, tallies, measured, weights),
        lost_per_prompt=metrics.lost_per_prompt(tallies, basis.in_pools, measured, weights),
        recall_in_pool=metrics.recall_in_pool(tallies, basis.in_pools, weights),
        recall_of_known=metrics.recall_of_known(tallies, judgements),
        unjudged=metrics.unjudged_share(given),
        silent=metrics.silent_prompts(tallies),
        fallbacks=metrics.judge_failures(own),
        median_ms=median(row.elapsed_ms for row in own),
        by_confidence=by_confidence(own, tallies, weights),
        by_kind=by_kind(own, tallies, kinds, weights),
        ranked=ranking_of(own, basis) if extras.ranking else None,
        curves=curves(own, basis, sample) if extras.curves else None,
        agreement=agreement(own, judgements, weights),
        assumed=assumed_decisions(own, basis),
    )


def ranking_of(rows: Sequence[Outcome], basis: Basis) -> Ranked:
    from labels.measure.ranked import ranked

    return ranked(rows, basis.explicit)


def assumed_decisions(rows: Iterable[Outcome], basis: Basis) -> int:
    """How many memories the judge's grades count that nobody judged: they are assumed not to be relevant."""
    if basis.explicit is basis.judgements:
        return 0
    return sum(
        decision is not None
        and memory_id in basis.judgements.get(row.prompt_id, {})
        and memory_id not in basis.explicit.get(row.prompt_id, {})
        for row in rows
        for memory_id, decision in zip(row.candidates, row.decisions, strict=True)
    )
