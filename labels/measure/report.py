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
from labels.measure.evidence import Evidence, evidence_from_store
from labels.measure.intervals import ANYTIME, ONCE, Interval, design_effect
from labels.measure.metrics import (
    NO_AGENT,
    NO_KIND,
    Group,
    Headline,
    KindGroup,
    RankingMeasures,
    Ratio,
    Worst,
    by_confidence,
    estimate,
    group,
    headline,
    injected_pairs,
    precision_bounds,
    tally,
    unjudged_share,
    worst_memories,
    worst_of,
)
from labels.records import BY_TIME, VERDICTS, grouped
from labels.run_settings import differences

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.measure.judgements import Digests
    from labels.measure.metrics import Tally
    from labels.records import Outcome
    from labels.store import LabelStore

FEW_PROMPTS = 20
"""Labelled prompts below which one odd prompt moves a number by more than most differences that matter."""

MAX_UNJUDGED = 0.05
"""The share of memories without a judgement above which a report or gate says so."""

FEW_LATER = 0.1
"""The share of later prompts that a random sample of the prompts may well leave: a report does not name them."""


class Outdated(NamedTuple):
    """The prompts of a system that were replayed with other settings than the present ones, out of `whole` prompts."""

    prompts: int
    whole: int
    changes: tuple[str, ...]


class Gaps(NamedTuple):
    """Injected `memories` without a judgement, of all on prompts with a label; `left` counts them by prompt.

    `prompts` have no label at all, of those for which the system injects anything.
    """

    memories: Ratio
    left: Mapping[str, int]
    prompts: Ratio


class Later(NamedTuple):
    """The `prompts` without a label that were typed after the day `until`, of all for which a system injects anything.

    `until` is the day of the newest prompt with a label.
    """

    prompts: Ratio
    until: str


def gaps_in(evidence: Evidence, system: str) -> Gaps:
    """The gaps of *system*: no label, or only labels that do not count (unsure, split, or of an edited text).

    If the last prompt of a person is unfinished, it is left out. The order of prompts is fixed, so an unfinished last
    prompt says nothing about its memories. Imported labels do not tell which prompt was the last.
    """
    given_here = [label for label in sorted(evidence.labels, key=BY_TIME) if not label.source]
    stopped_at = {label.annotator: label.prompt_id for label in given_here}.values()
    left: dict[str, int] = {}
    rows, whole = [row for row in evidence.tallied.get(system, ()) if row.tally.injected], 0
    for row in rows:
        name, missing = row.tally.prompt_id, row.tally.unjudged
        if name in evidence.begun and (row.moment is not None or name not in stopped_at):
            whole += row.tally.injected
            left |= {name: missing} if missing else {}
    none = sum(row.tally.prompt_id not in evidence.begun for row in rows)
    return Gaps(Ratio(sum(left.values()), whole), left, Ratio(none, len(rows)))


def later_prompts(evidence: Evidence, system: str) -> Later | None:
    """The prompts of *system* that are newer than the labels; None where they are few, or the days are not known."""
    days = evidence.days
    until = max((days[name] for name in evidence.begun & evidence.prompts & days.keys()), default="")
    firing = [row.prompt_id for row in evidence.of(system) if row.injected]
    later = sum(days.get(name, "") > until for name in firing) if until else 0
    prompts = above(Ratio(later, len(firing)), FEW_LATER)
    return Later(prompts, until) if prompts else None


def same_prompts(evidence: Evidence) -> bool:
    """Whether all systems were replayed on the same prompts."""
    prompts = grouped((row.system, row.prompt_id) for row in evidence.rows)
    return len({frozenset(own) for own in prompts.values()}) < 2


def outdated_prompts(evidence: Evidence, system: str) -> Outdated | None:
    """The prompts of *system* that were replayed with other settings than the present ones; None if there are none."""
    rows = evidence.of(system)
    other = [row for row in rows if row.run_id in evidence.changed]
    return Outdated(len(other), len(rows), evidence.changed[other[-1].run_id]) if other else None


def mixed_runs(evidence: Evidence, system: str) -> list[tuple[int, tuple[str, ...]]]:
    """(runs, their differences in words) of each root whose results of *system* come from runs with other settings."""
    made = evidence.made
    runs = [made[run_id] for run_id in sorted({row.run_id for row in evidence.of(system)} & made.keys())]
    roots = [[run for run in runs if run.root == root] for root in sorted({run.root for run in runs})]
    return [(len(own), mixed) for own in roots if (mixed := differences(system, own))]


def above(share: Ratio, most: float) -> Ratio | None:
    """*share*, or None where it is not above *most*."""
    return share if share.part > most * share.whole else None


def unsure_share(evidence: Evidence, system: str) -> Ratio | None:
    """Injected memories that people labelled and could not judge, of all in the prompts that count; None if few."""
    finished = [row.tally for row in evidence.tallied.get(system, ()) if row.moment is not None]
    return above(unjudged_share(finished), MAX_UNJUDGED)


def assumed_memories(evidence: Evidence, system: str) -> tuple[Ratio, float] | None:
    """Injected memories that are assumed to be irrelevant, and the precision if all of them were relevant."""
    if evidence.explicit is None:
        return None
    tallies = given_tallies(evidence, system)
    share, bounds = above(unjudged_share(tallies), MAX_UNJUDGED), precision_bounds(tallies)
    return (share, bounds.high) if share and bounds else None


def given_tallies(evidence: Evidence, system: str) -> list[Tally]:
    """The counts of *system* without assumed judgements."""
    if evidence.explicit is None:
        return [row.tally for row in evidence.tallied[system]]
    return [tally(row.prompt_id, row.injected, evidence.explicit) for row in evidence.of(system)]


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

    def kind(self, row: Outcome) -> str:
        """The kind of a prompt, from its outcome or beside it; empty if unknown."""
        return row.kind or self.kinds.get(row.prompt_id, "")

    def agent(self, row: Outcome) -> str:
        """The agent in which a prompt was typed; empty if unknown."""
        return self.agents.get(row.prompt_id, "")


PLAIN, NO_CAPTIONS = ReportOptions(), Captions()


@dataclass(frozen=True)
class SystemReport:
    """The numbers of one system; README.md beside this file and `labels.measure.metrics` define them.

    `headline` is the precision that people read, of the prompts that are completely judged, with an interval that holds
    at any look, or for a single look where the order of labelling is not known. `precision` counts every judged memory,
    and `interval` is its 95 % interval for a single look, None when nothing was judged. `bounds` are the lowest and the
    highest possible precision, None when nothing was injected. `served`: of the prompts that need a memory, those that
    get one they need. The `per_prompt` ratios are over labelled prompts, `fallbacks` over prompts on which a judge was
    asked. `assumed` counts the memories in `agreement` without a judgement. `median_ms` is the median time of a
    retrieval.
    """

    system: str
    prompts: int
    headline: Headline
    precision: Ratio
    interval: Interval | None
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
    phrases: Collection[str] = (),
) -> Report:
    """The report of the newest replays of *root*. Arguments as for `labels.measure.evidence.evidence_from_store`."""
    evidence = evidence_from_store(store, root, digests, config, cutoff, phrases)
    return build_report(evidence, replace(captions, prompts=store.prompt_texts(), agents=store.agents()), options)


def build_report(evidence: Evidence, captions: Captions = NO_CAPTIONS, options: ReportOptions = PLAIN) -> Report:
    """The numbers of every system, and what is known of the people who gave the labels."""
    lacking = ""
    if options.ranking:
        try:
            import ir_measures  # noqa: F401 - only its presence counts
        except ImportError as error:
            lacking, options = str(missing_library(error) or error), replace(options, ranking=False)
    injected = injected_pairs(evidence.rows, evidence.judgements)
    verdicts = Counter(label.verdict for label in evidence.labels)
    return Report(
        systems=tuple(system_report(name, evidence, captions, options) for name in evidence.systems),
        configured=evidence.configured,
        prompts=len(evidence.prompts),
        labelled_prompts=sum(bool(evidence.given.get(prompt_id)) for prompt_id in evidence.prompts),
        labels={verdict: verdicts[verdict] for verdict in VERDICTS},
        judged=evidence.judged,
        stale=evidence.facts.stale,
        blind=evidence.facts.blind,
        blind_unknown=evidence.facts.blind_unknown,
        annotators=tuple(sorted({label.annotator for label in evidence.labels})),
        comparisons=comparisons(evidence),
        people=people_agreement(evidence.labels, evidence.repeats),
        worst_memories=worst_memories(injected, captions.memories),
        worst_prompts=worst_of(injected, captions.prompts),
        captions=captions,
        evidence=evidence,
        lacking=lacking,
    )


def system_report(system: str, evidence: Evidence, captions: Captions, options: ReportOptions) -> SystemReport:
    """The numbers of *system*, which must have an outcome in *evidence*."""
    judgements, measured, ordered = evidence.judgements, evidence.measured, evidence.ordered
    rows, tallies = evidence.of(system), [row.tally for row in evidence.tallied[system]]
    judged, in_pools = estimate(tallies), evidence.relevant_in_pools
    sample, has_order = ordered.sample(system), evidence.moments is not None
    found = headline(sample, ANYTIME if has_order else ONCE)
    return SystemReport(
        system=system,
        prompts=len(rows),
        headline=found,
        precision=judged.ratio,
        interval=judged.interval,
        design_effect=design_effect([(row.relevant, row.judged) for row in tallies if row.judged]),
        bounds=metrics.precision_bounds(tallies),
        fire_rate=metrics.fire_rate(tallies),
        false_fire_rate=metrics.false_fire_rate(tallies, evidence.without_relevant),
        served=headline(ordered.served_sample(system), ANYTIME),
        irrelevant_per_prompt=metrics.irrelevant_per_prompt(tallies, measured),
        polluted_rate=metrics.polluted_rate(rows, tallies, measured),
        lost_per_prompt=metrics.lost_per_prompt(tallies, in_pools, measured & evidence.looked_through),
        recall_in_pool=metrics.recall_in_pool(tallies, in_pools),
        recall_of_known=metrics.recall_of_known(tallies, judgements),
        unjudged=unjudged_share(given_tallies(evidence, system)),
        silent=sum(not row.injected for row in tallies),
        fallbacks=evidence.failures(system),
        median_ms=median(row.elapsed_ms for row in rows) if rows else 0.0,
        by_confidence=by_confidence(rows, tallies),
        by_kind=by_name(system, evidence, captions.kind, NO_KIND),
        by_agent=by_name(system, evidence, captions.agent, NO_AGENT, least=2),
        ranked=metrics.rank_measures(rows, evidence.given) if options.ranking else None,
        curves=curves(rows, judgements, sample if has_order else None) if options.curves else None,
        agreement=judge_agreement(rows, judgements),
        assumed=sum(
            decision is not None and memory_id not in evidence.given.get(row.prompt_id, {})
            for row in (rows if evidence.explicit is not None else ())
            for memory_id, decision in zip(row.candidates, row.decisions, strict=True)
        ),
    )


def by_name(
    system: str, evidence: Evidence, name_of: Callable[[Outcome], str], unknown: str, *, least: int = 1
) -> tuple[KindGroup, ...]:
    """Precision, served and false fires of the prompts of each name; empty below *least* names besides *unknown*."""
    found = grouped((name_of(row.outcome) or unknown, row.tally) for row in evidence.tallied[system])
    if len(found.keys() - {unknown}) < least:
        return ()
    needing = evidence.ordered.served_sample(system).judged
    made = []
    for name, tallies in sorted(found.items()):
        served = [needing[tally.prompt_id][0] for tally in tallies if tally.prompt_id in needing]
        need = Ratio(sum(served), len(served))
        false_fires = metrics.false_fire_rate(tallies, evidence.without_relevant)
        made.append(KindGroup(**vars(group(name, tallies)), served=need, false_fires=false_fires))
    return tuple(made)
