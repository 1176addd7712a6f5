"""The gate: the evidence that it decides on, the facts that forbid or limit an answer, and its report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from engine.config import JUDGED
from engine.judge.verdict import MAX_UNANSWERED
from labels.measure.caveats import FEW_PROMPTS, MAX_UNJUDGED, Outdated, blind_share, outdated_prompts, sighted
from labels.measure.decision import UNDECIDED, Gate, GateDecision, JudgeCase, decide, headline, judge_case, verdict_of
from labels.measure.evidence import AS_NOT, Evidence, judged_pairs, qrels_evidence
from labels.measure.judgements import drawn, judged_labels, without_adjudication
from labels.measure.metrics import (
    Ratio,
    false_fire_rate,
    precision_bounds,
    tally,
    unjudged_share,
)
from labels.records import BY_TIME
from labels.run_settings import changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.records import JudgeCall, Judgements, Label, Outcome
    from labels.store import LabelStore


@dataclass(frozen=True)
class GateEvidence(Evidence):
    """The evidence, with the facts that a gate has to mention.

    `stale` labels are about another text than the memory's present or replayed one, and `disputed` pairs have no
    majority; neither counts. `labels` is the number of labels that count; `blind` and `blind_unknown` are their
    `blind_share`, without adjudicated ones. `underway` are the prompts at which people stopped; None for files.
    `changed` says how the settings of a run differ from the present. `imported` and `by_hand` are as in
    `labels.measure.judgements.LabelFacts`.
    """

    calls: Sequence[JudgeCall] = ()
    stale: int = 0
    disputed: int = 0
    labels: int = 0
    blind: Ratio = field(default_factory=lambda: Ratio(0, 0))
    blind_unknown: int = 0
    underway: Set[str] | None = None
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    imported: int = 0
    by_hand: int = 0


class Gaps(NamedTuple):
    """Injected memories without a label, on prompts that were begun: `missing` of `whole`; `left` is by prompt.

    `matters`: the verdict of the gate would be another one if all of them were relevant, or if none were.
    """

    missing: int
    whole: int
    left: Mapping[str, int]
    matters: bool


class Assumed(NamedTuple):
    """Injected memories that are assumed to be irrelevant, and the precision if all of them were relevant."""

    memories: Ratio
    highest: float


@dataclass(frozen=True)
class Caveats:
    """The facts that limit the answer for one system; None, 0 or empty where they do not.

    `outdated`, `unanswered` (a judge that gave no answer on many prompts), `sighted` (labels given with rank, score or
    verdict in view) and `gaps` that matter forbid an answer: it would be about something else than the question.
    The others are warnings. `few` is a small number of judged prompts. `failures` of the judge and `unsure` labels
    are shares. `outside` counts prompts outside of the order of labelling, `unseen` are strata without a judged
    prompt. `is_from_files`: gaps are filled in the qrels, not in a label store. `imported` labels, labels of which it
    is not known whether they were given blind, and prompts chosen `by_hand` are counts.
    """

    outdated: Outdated | None
    unanswered: Ratio | None
    sighted: Ratio | None
    gaps: Gaps | None
    few: int
    failures: Ratio | None
    stale: int
    disputed: int
    unsure: Ratio | None
    assumed: Assumed | None
    outside: int
    unseen: tuple[str, ...]
    is_from_files: bool
    imported: int
    blind_unknown: int
    by_hand: int

    @property
    def forbid(self) -> bool:
        return bool(self.outdated or self.unanswered or self.sighted or (self.gaps and self.gaps.matters))


@dataclass(frozen=True)
class GateReport:
    """The decision on one system.

    `relevant` are the relevant memories, of those judged in the prompts that count; `silent` the prompts for which the
    system injects nothing, of all replayed ones; `false_fires` the prompts for which it injects something, of those for
    which nothing is relevant. `labels` is the number of labels. `failures` are the prompts without an answer of the
    judge, of those on which it was asked. Where `caveats` forbid an answer, the verdict is UNDECIDED.
    """

    system: str
    gate: Gate
    decision: GateDecision
    relevant: Ratio
    silent: Ratio
    false_fires: Ratio
    labels: int
    failures: Ratio
    caveats: Caveats
    judge: JudgeCase | None


def gate_report(evidence: GateEvidence, system: str, gate: Gate, worth: float | None = None) -> GateReport:
    """The answer for *system*, which must be one of the evidence's."""
    sample, caveats = evidence.sample(system), caveats_of(evidence, system, gate)
    decision, rows = decide(sample, gate), evidence.of(system)
    tallies = [row.tally for row in evidence.tallied[system]]
    plain = system.removesuffix(JUDGED)
    has_both = {plain, plain + JUDGED} <= set(evidence.systems) and not evidence.is_dead(plain + JUDGED)
    return GateReport(
        system=system,
        gate=gate,
        decision=replace(decision, verdict=UNDECIDED) if caveats.forbid else decision,
        relevant=headline(sample, gate.confidence).relevant,
        silent=Ratio(sum(not row.injected for row in rows), len(rows)),
        false_fires=false_fire_rate(tallies, evidence.without_relevant, evidence.weights),
        labels=evidence.labels,
        failures=evidence.failures(system),
        caveats=caveats,
        judge=judge_case(evidence, evidence.calls, plain, plain + JUDGED, worth) if has_both else None,
    )


# Evidence


def evidence_from_store(
    store: LabelStore,
    root: str,
    digests: Mapping[str, str],
    config: Config | None = None,
    cutoff: Cutoff | None = None,
) -> GateEvidence:
    """The newest replays of *root* and the labels on the memories that they returned.

    *digests* are the present ones by memory id: labels about another text do not count. *config* and *cutoff* are the
    present ones of the root; without *config* nothing is compared.
    """
    rows = drawn(store, root)
    labels = judged_labels(store, rows, root, digests)
    given = without_adjudication(labels.given, labels.settling)
    counted = without_adjudication(labels.labels, labels.settled)
    blind, unknown = blind_share(counted)
    replayed = {row.prompt_id for row in rows}
    return GateEvidence(
        rows=rows,
        judgements=labels.consensus.judgements,
        moments=labels.moments,
        strata={name: stratum for name, stratum in store.strata(root).items() if name in replayed},
        calls=[call for call in store.judge_calls(root) if call.prompt_id in replayed],
        stale=len(given) + len(labels.settling) - len(counted) - len(labels.settled),
        disputed=labels.consensus.disputed,
        labels=len(labels.labels),
        blind=blind,
        blind_unknown=unknown,
        underway=underway(labels.labels),
        changed=changes(rows, store.run_settings(root), config, cutoff) if config else {},
        imported=labels.facts.imported,
        by_hand=labels.facts.by_hand,
    )


def evidence_from_qrels(
    rows: Sequence[Outcome], given: Judgements, calls: Sequence[JudgeCall] = (), unjudged: str = AS_NOT
) -> GateEvidence:
    """The outcomes in a run file and the judgements in a qrels file, with the prompts in seeded random order.

    *unjudged* is `labels.measure.evidence`'s AS_NOT or EXCLUDE.
    """
    known = qrels_evidence(rows, given, unjudged).ordered
    return GateEvidence(
        *(rows, known.judgements, known.moments),
        explicit=known.explicit,
        is_qrels=True,
        calls=calls,
        labels=judged_pairs(known).whole,
    )


def underway(labels: Iterable[Label]) -> frozenset[str]:
    """The prompt of each person's latest label.

    A person who stops leaves this prompt open whatever its memories are like, as the order of prompts was fixed before.
    Imported labels do not tell where a person stopped.
    """
    given_here = [label for label in sorted(labels, key=BY_TIME) if not label.source]
    return frozenset({label.annotator: label.prompt_id for label in given_here}.values())


# Caveats


def caveats_of(evidence: GateEvidence, system: str, gate: Gate) -> Caveats:
    judged = len(evidence.sample(system).judged)
    injecting, rows = evidence.injecting(system), evidence.of(system)
    return Caveats(
        outdated=outdated_prompts(rows, evidence.changed),
        unanswered=above(evidence.failures(system), MAX_UNANSWERED),
        sighted=sighted(evidence.blind, evidence.blind_unknown),
        gaps=gaps_in(evidence, system, gate),
        few=judged if judged < FEW_PROMPTS else 0,
        failures=above(evidence.failures(system), 0),
        stale=evidence.stale,
        disputed=evidence.disputed,
        unsure=above(unsure_share(evidence, system), MAX_UNJUDGED),
        assumed=assumed_memories(evidence, system),
        outside=sum(bool(row.injected) for row in rows) - len(injecting),
        unseen=unseen_strata(evidence, system),
        is_from_files=evidence.underway is None,
        imported=evidence.imported,
        blind_unknown=evidence.blind_unknown,
        by_hand=evidence.by_hand,
    )


def above(share: Ratio, most: float) -> Ratio | None:
    """*share*, or None where it is not above *most*."""
    return share if share.part > most * share.whole else None


def gaps_in(evidence: GateEvidence, system: str, gate: Gate) -> Gaps | None:
    """The gaps, without the prompts at which people stopped; None up to MAX_UNJUDGED."""
    stopped_at = evidence.underway or ()
    unlabelled = [(row, number_of_unlabelled(evidence, row)) for row in evidence.injecting(system)]
    begun = [
        (row, number)
        for row, number in unlabelled
        if number < len(row.injected) and (row.prompt_id not in stopped_at or evidence.is_finished(row))
    ]
    left = {row.prompt_id: number for row, number in begun if number}
    missing, whole = sum(left.values()), sum(len(row.injected) for row, _ in begun)
    if missing <= MAX_UNJUDGED * whole:
        return None
    gapped = [row for row, number in begun if number]
    cases = [evidence, *(filled(evidence, gapped, is_relevant=is_relevant) for is_relevant in (True, False))]
    verdicts = {verdict_of(headline(case.sample(system), gate.confidence), gate) for case in cases}
    return Gaps(missing, whole, left, len(verdicts) > 1)


def filled(evidence: Evidence, rows: Iterable[Outcome], *, is_relevant: bool) -> Evidence:
    """The evidence if every injected memory of *rows* without a label were relevant, or if none were."""
    judgements, moments = dict(evidence.judgements), dict(evidence.moments or {})
    for row in rows:
        known = moments[row.prompt_id]
        missing = [memory_id for memory_id in row.injected if memory_id not in known]
        judgements[row.prompt_id] = dict.fromkeys(missing, is_relevant) | dict(judgements.get(row.prompt_id, {}))
        moments[row.prompt_id] = dict.fromkeys(missing, max(known.values())) | dict(known)
    return replace(evidence, judgements=judgements, moments=moments)


def number_of_unlabelled(evidence: Evidence, row: Outcome) -> int:
    return len(set(row.injected) - (evidence.moments or {}).get(row.prompt_id, {}).keys())


def unsure_share(evidence: Evidence, system: str) -> Ratio:
    """Injected memories that people labelled and could not judge, of all in the prompts that count."""
    rows = [row for row in evidence.injecting(system) if evidence.is_finished(row)]
    return unjudged_share([tally(row, evidence.judgements) for row in rows])


def assumed_memories(evidence: Evidence, system: str) -> Assumed | None:
    if evidence.explicit is None:
        return None
    tallies = [tally(row, evidence.explicit) for row in evidence.of(system)]
    share, bounds = above(unjudged_share(tallies), MAX_UNJUDGED), precision_bounds(tallies)
    return Assumed(share, bounds.high) if share and bounds else None


def unseen_strata(evidence: Evidence, system: str) -> tuple[str, ...]:
    """The strata for which the system injects something, and of which no prompt is judged."""
    if not evidence.is_stratified:
        return ()
    present = {evidence.strata[row.prompt_id] for row in evidence.injecting(system)}
    return tuple(sorted(present - {evidence.strata[name] for name in evidence.sample(system).judged}))
