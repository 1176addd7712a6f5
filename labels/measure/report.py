"""The report: every number of every system, from the label store or from qrels, and facts that limit their meaning."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import missing_library
from labels.measure import metrics
from labels.measure.agreement import Agreement, People, judge_agreement, people_agreement
from labels.measure.comparison import SystemComparison, comparisons
from labels.measure.curves import Curves, curves
from labels.measure.evidence import Evidence, evidence_from_store, judged_pairs
from labels.measure.groups import (
    Group,
    Headline,
    KindGroup,
    Worst,
    by_agent,
    by_confidence,
    by_kind,
    estimate,
    headline,
    injected_pairs,
    per_prompt,
    worst_memories,
    worst_prompts,
)
from labels.measure.intervals import Interval, design_effect, one_stratum
from labels.measure.metrics import RankingMeasures, Ratio, precision_bounds, tally, unjudged_share
from labels.records import VERDICTS
from labels.run_settings import differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.measure.evidence import Evidence
    from labels.measure.judgements import Digests
    from labels.records import Outcome
    from labels.store import LabelStore

FEW_PROMPTS = 20
"""Labelled prompts below which one odd prompt moves a number by more than most differences that matter."""

MAX_UNJUDGED = 0.05
"""The share of memories without a judgement above which a report or gate says so."""


class Outdated(NamedTuple):
    """The prompts of a system that were replayed with other settings than the present ones, out of `whole` prompts."""

    prompts: int
    whole: int
    changes: tuple[str, ...]


class MixedRuns(NamedTuple):
    """Runs of one system over one root, and the settings in which they differ, in words."""

    runs: int
    differences: tuple[str, ...]


class Assumed(NamedTuple):
    """Injected memories that are assumed to be irrelevant, and the precision if all of them were relevant."""

    memories: Ratio
    highest: float


def same_prompts(evidence: Evidence) -> bool:
    """Whether all systems were replayed on the same prompts."""
    prompts: dict[str, set[str]] = {}
    for row in evidence.rows:
        prompts.setdefault(row.system, set()).add(row.prompt_id)
    return len(set(map(frozenset, prompts.values()))) < 2


def outdated_prompts(evidence: Evidence, system: str) -> Outdated | None:
    """The prompts of *system* that were replayed with other settings than the present ones; None if there are none."""
    rows = evidence.of(system)
    other = [row for row in rows if row.run_id in evidence.changed]
    return Outdated(len(other), len(rows), evidence.changed[other[-1].run_id]) if other else None


def mixed_runs(evidence: Evidence, system: str) -> list[MixedRuns]:
    """The roots whose results of *system* come from runs with different settings."""
    made = evidence.made
    runs = [made[run_id] for run_id in sorted({row.run_id for row in evidence.of(system)} & made.keys())]
    roots = [[run for run in runs if run.root == root] for root in sorted({run.root for run in runs})]
    return [MixedRuns(len(own), mixed) for own in roots if (mixed := differences(system, own))]


def above(share: Ratio, most: float) -> Ratio | None:
    """*share*, or None where it is not above *most*."""
    return share if share.part > most * share.whole else None


def unsure_share(evidence: Evidence, system: str) -> Ratio | None:
    """Injected memories that people labelled and could not judge, of all in the prompts that count; None if few."""
    rows = [row for row in evidence.injecting(system) if evidence.moment(row) is not None]
    return above(unjudged_share([tally(row, evidence.judgements) for row in rows]), MAX_UNJUDGED)


def assumed_memories(evidence: Evidence, system: str) -> Assumed | None:
    if evidence.explicit is None:
        return None
    tallies = [tally(row, evidence.explicit) for row in evidence.of(system)]
    share, bounds = above(unjudged_share(tallies), MAX_UNJUDGED), precision_bounds(tallies)
    return Assumed(share, bounds.high) if share and bounds else None


def outside_order(evidence: Evidence, system: str) -> int:
    """Prompts for which the system injects something and that came after the order of labelling was made."""
    return sum(bool(row.injected) for row in evidence.of(system)) - len(evidence.injecting(system))


def unseen_strata(evidence: Evidence, system: str) -> tuple[str, ...]:
    """The strata in which the system injects something and no prompt is judged."""
    if not evidence.is_stratified:
        return ()
    present = {evidence.strata[row.prompt_id] for row in evidence.injecting(system)}
    return tuple(sorted(present - {evidence.strata[name] for name in evidence.sample(system).judged}))


@dataclass(frozen=True)
class ReportOptions:
    """The parts of a report that are computed only on request.

    `ranking` are the measures of TREC (which loads ir-measures), `curves` the points of the charts.
    """

    ranking: bool = False
    curves: bool = False


@dataclass(frozen=True)
class Captions:
    """Texts to show instead of ids: prompts' texts, kinds and agents, memories' titles. A missing one is not known."""

    prompts: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    memories: Mapping[str, str] = field(default_factory=dict)
    agents: Mapping[str, str] = field(default_factory=dict)


PLAIN, NO_CAPTIONS = ReportOptions(), Captions()


@dataclass(frozen=True)
class SystemReport:
    """The numbers of one system; README.md beside this file and `labels.measure.metrics` define them.

    `headline` is the precision that the gate gives, too: of the prompts that are completely judged. `precision` counts
    every judged memory. `interval` is its 95 % interval, None when nothing was judged. `live` holds at any look, None
    where the order of labelling is not known. `bounds` are the lowest and the highest possible precision, None when
    nothing was injected. `served`: of the prompts that need a memory, those that get one they need. The `per_prompt`
    ratios are over labelled prompts, `fallbacks` over prompts on which a judge was asked. `assumed` counts the memories
    in `agreement` without a judgement. `median_ms` is the median time of a retrieval.
    """

    system: str
    prompts: int
    headline: Headline
    precision: Ratio
    interval: Interval | None
    live: Interval | None
    design_effect: float | None
    bounds: Interval | None
    fire_rate: Ratio
    false_fire_rate: Ratio
    served: Headline
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
    by_kind: tuple[KindGroup, ...]
    by_agent: tuple[KindGroup, ...]
    ranked: RankingMeasures | None
    curves: Curves | None
    agreement: Agreement | None
    assumed: int


@dataclass(frozen=True)
class Report:
    """The systems by name, the plainest first, and the labels that they were measured with.

    `configured` is the name of the root's configured system, empty where it is not known. `labels` counts the labels
    that count by verdict; `stale`, `blind` and `blind_unknown` are as in `labels.measure.evidence.LabelFacts`. `judged`
    is the consensus of the annotators: relevant memories, of all judged ones. `labelled_prompts` have at least one
    judgement. `captions` are for showing only. `lacking` is the reason why the ranking is missing although it was asked
    for, or empty.
    """

    systems: tuple[SystemReport, ...]
    configured: str
    prompts: int
    labelled_prompts: int
    labels: Mapping[str, int]
    judged: Ratio
    stale: int
    blind: Ratio
    blind_unknown: int
    annotators: tuple[str, ...]
    comparisons: tuple[SystemComparison, ...]
    people: People | None
    worst_memories: tuple[Worst, ...]
    worst_prompts: tuple[Worst, ...]
    captions: Captions
    evidence: Evidence
    lacking: str = ""


def report_from_store(
    store: LabelStore,
    root: str | None = None,
    digests: Digests | None = None,
    captions: Captions = NO_CAPTIONS,
    options: ReportOptions = PLAIN,
    config: Config | None = None,
    cutoff: Cutoff | None = None,
) -> Report:
    """The report of the newest replays of *root*. Arguments as for `labels.measure.evidence.evidence_from_store`."""
    evidence = evidence_from_store(store, root, digests, config, cutoff)
    return build_report(
        evidence, replace(captions, prompts=store.prompt_texts(), agents=store.prompt_agents()), options
    )


def build_report(evidence: Evidence, captions: Captions = NO_CAPTIONS, options: ReportOptions = PLAIN) -> Report:
    """The numbers of every system, and what is known of the people who gave the labels."""
    lacking = missing_for_ranking() if options.ranking else ""
    options = replace(options, ranking=options.ranking and not lacking)
    prompts = {row.prompt_id for row in evidence.rows}
    injected = injected_pairs(evidence.rows, evidence.judgements)
    verdicts = Counter(label.verdict for label in evidence.labels)
    return Report(
        systems=tuple(system_report(name, evidence, captions, options) for name in evidence.systems),
        configured=evidence.configured,
        prompts=len(prompts),
        labelled_prompts=sum(bool(evidence.given.get(prompt_id)) for prompt_id in prompts),
        labels={verdict: verdicts[verdict] for verdict in VERDICTS},
        judged=judged_pairs(evidence),
        stale=evidence.facts.stale,
        blind=evidence.facts.blind,
        blind_unknown=evidence.facts.blind_unknown,
        annotators=tuple(sorted({label.annotator for label in evidence.labels})),
        comparisons=comparisons(evidence),
        people=people_agreement(evidence.labels, evidence.repeats),
        worst_memories=worst_memories(injected, captions.memories),
        worst_prompts=worst_prompts(injected, captions.prompts),
        captions=captions,
        evidence=evidence,
        lacking=lacking,
    )


def system_report(system: str, evidence: Evidence, captions: Captions, options: ReportOptions) -> SystemReport:
    """The numbers of *system*, which must have an outcome in *evidence*."""
    judgements, weights, measured = evidence.judgements, evidence.weights, evidence.measured
    rows, tallies = evidence.of(system), [row.tally for row in evidence.tallied[system]]
    judged = estimate(tallies, weights)
    sample = evidence.ordered.sample(system)
    found, has_order = headline(sample), evidence.moments is not None
    given = tallies if evidence.explicit is None else [tally(row, evidence.given) for row in rows]
    return SystemReport(
        system=system,
        prompts=len(rows),
        headline=found,
        precision=judged.ratio,
        interval=judged.interval,
        live=found.live if has_order and sample.judged else None,
        design_effect=design_effect(one_stratum(per_prompt(tallies))),
        bounds=metrics.precision_bounds(tallies),
        fire_rate=metrics.fire_rate(tallies),
        false_fire_rate=metrics.false_fire_rate(tallies, evidence.without_relevant, weights),
        served=headline(evidence.ordered.served_sample(system)),
        irrelevant_per_prompt=metrics.irrelevant_per_prompt(tallies, measured, weights),
        polluted_rate=metrics.polluted_rate(rows, tallies, measured, weights),
        lost_per_prompt=metrics.lost_per_prompt(tallies, evidence.in_pools, measured, weights),
        recall_in_pool=metrics.recall_in_pool(tallies, evidence.in_pools, weights),
        recall_of_known=metrics.recall_of_known(tallies, judgements),
        unjudged=metrics.unjudged_share(given),
        silent=metrics.silent_prompts(tallies),
        fallbacks=evidence.failures(system),
        median_ms=median(row.elapsed_ms for row in rows) if rows else 0.0,
        by_confidence=by_confidence(rows, tallies, weights),
        by_kind=by_kind(system, evidence, captions.kinds),
        by_agent=by_agent(system, evidence, captions.agents),
        ranked=metrics.ranked(rows, evidence.given) if options.ranking else None,
        curves=curves(rows, evidence, sample if has_order else None) if options.curves else None,
        agreement=judge_agreement(rows, judgements, weights),
        assumed=assumed_decisions(rows, evidence),
    )


def missing_for_ranking() -> str:
    """What to install for the measures of TREC; empty if it is there."""
    try:
        import ir_measures  # noqa: F401 - only its presence counts
    except ImportError as error:
        return str(missing_library(error) or error)
    return ""


def assumed_decisions(rows: Sequence[Outcome], evidence: Evidence) -> int:
    """The number of memories in the grades of the judge whose judgement was assumed."""
    if evidence.explicit is None:
        return 0
    return sum(
        decision is not None and memory_id not in evidence.given.get(row.prompt_id, {})
        for row in rows
        for memory_id, decision in zip(row.candidates, row.decisions, strict=True)
    )
