"""The report: every number of every system, and what the numbers cannot say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from engine.judge.verdict import APPROVED, REJECTED
from labels.exchange.qrels import read_qrels
from labels.exchange.runs import read_runs
from labels.measure import metrics, notes
from labels.measure import outcomes as known
from labels.measure.agreement import Agreement, agreement
from labels.measure.intervals import Interval, design_effect, headline_interval
from labels.measure.metrics import Ratio, Tally, tally
from labels.records import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set
    from pathlib import Path

    from labels.measure.outcomes import Judgements, Outcome, Pools
    from labels.records import Label
    from labels.store import LabelStore

AS_NOT, EXCLUDE = "not", "exclude"
"""What an unjudged memory counts as in a qrels report: not relevant (TREC's convention), or nothing at all."""


@dataclass(frozen=True)
class SystemReport:
    """The numbers of one system; the functions of `labels.measure.metrics` that make them say what each is.

    `interval` is the 95 % interval of precision, None when nothing was judged; `bounds` what precision could be at
    worst and at best, None when nothing was injected. `per_prompt` ratios are over the prompts that have judgements.
    `median_ms` is the median time of a retrieval. `assumed` counts the memories in `agreement` that nobody judged.
    """

    system: str
    prompts: int
    precision: Ratio
    interval: Interval | None
    design_effect: float | None
    bounds: Interval | None
    fire_rate: Ratio
    false_fire_rate: Ratio
    irrelevant_per_prompt: Ratio
    lost_per_prompt: Ratio
    recall_in_pool: Ratio
    recall_of_known: Ratio
    unjudged: Ratio
    silent: int
    fallbacks: Ratio
    median_ms: float
    agreement: Agreement | None
    assumed: int


@dataclass(frozen=True)
class Report:
    """What was measured. `labels` counts by verdict those that count; `stale` ones do not. `labelled_prompts` have at
    least one judgement. `notes` are plain sentences on what the numbers cannot say."""

    systems: tuple[SystemReport, ...]
    prompts: int
    labelled_prompts: int
    labels: Mapping[str, int]
    stale: int
    blind: Ratio
    annotators: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def agreement(self) -> Agreement | None:
        """The judge against people in the first system that has a judge."""
        return next((each.agreement for each in self.systems if each.agreement is not None), None)


@dataclass(frozen=True)
class Basis:
    """What the numbers stand on: judgements, the pools, prompts with nothing relevant, and prompts that are measured.

    `explicit` are the judgements that somebody gave; `judgements` may hold assumed ones too.
    """

    judgements: Judgements
    explicit: Judgements
    pools: Pools
    without_relevant: Set[str]
    measured: Set[str]


def labelled_basis(rows: Sequence[Outcome], judgements: Judgements) -> Basis:
    """From labels: nothing is assumed, and a prompt is measured once a memory of its pool is judged."""
    pools = known.pools(rows, judgements)
    measured = {prompt_id for prompt_id, pool in pools.items() if pool & judgements.get(prompt_id, {}).keys()}
    return Basis(judgements, judgements, pools, known.prompts_without_relevant(pools, judgements), measured)


def qrels_basis(rows: Sequence[Outcome], judgements: Judgements, unjudged: str) -> Basis:
    """From qrels: a prompt without a relevant row has nothing relevant; *unjudged* memories count as it says."""
    counted = known.assuming_not_relevant(rows, judgements) if unjudged == AS_NOT else judgements
    prompts = {row.prompt_id for row in rows}
    without = {prompt_id for prompt_id in prompts if not any(judgements.get(prompt_id, {}).values())}
    basis = labelled_basis(rows, counted)
    measured = prompts if unjudged == AS_NOT else basis.measured
    return replace(basis, explicit=judgements, without_relevant=without, measured=measured)


def build_report(rows: Sequence[Outcome], basis: Basis) -> Report:
    """The report of *rows* without labels and notes; systems come by name, the plainest first."""
    systems = tuple(system_report(name, rows, basis) for name in sorted({row.system for row in rows}))
    prompts = {row.prompt_id for row in rows}
    labelled = sum(bool(basis.explicit.get(prompt_id)) for prompt_id in prompts)
    return Report(systems, len(prompts), labelled, dict.fromkeys(VERDICTS, 0), 0, Ratio(0, 0), (), ())


def system_report(system: str, rows: Sequence[Outcome], basis: Basis) -> SystemReport:
    own = [row for row in rows if row.system == system]
    tallies = [tally(row, basis.judgements) for row in own]
    return SystemReport(
        system=system,
        prompts=len(own),
        precision=metrics.precision(tallies),
        interval=headline_interval(per_prompt(tallies)),
        design_effect=design_effect(per_prompt(tallies)),
        bounds=metrics.precision_bounds(tallies),
        fire_rate=metrics.fire_rate(tallies),
        false_fire_rate=metrics.false_fire_rate(tallies, basis.without_relevant),
        irrelevant_per_prompt=metrics.irrelevant_per_prompt(tallies, basis.measured),
        lost_per_prompt=metrics.lost_per_prompt(tallies, basis.pools, basis.judgements, basis.measured),
        recall_in_pool=metrics.recall_in_pool(tallies, basis.pools, basis.judgements),
        recall_of_known=metrics.recall_of_known(tallies, basis.judgements),
        unjudged=metrics.unjudged_share([tally(row, basis.explicit) for row in own]),
        silent=metrics.silent_prompts(tallies),
        fallbacks=Ratio(sum(bool(row.fallback) for row in own), len(own)),
        median_ms=median(row.elapsed_ms for row in own),
        agreement=agreement(own, basis.judgements),
        assumed=assumed_decisions(own, basis),
    )


def assumed_decisions(rows: Sequence[Outcome], basis: Basis) -> int:
    """How many memories the judge's grades count that nobody judged: they are assumed not to be relevant."""
    return sum(
        decision in (APPROVED, REJECTED)
        and memory_id in basis.judgements.get(row.prompt_id, {})
        and memory_id not in basis.explicit.get(row.prompt_id, {})
        for row in rows
        for memory_id, decision in row.candidates
    )


def per_prompt(tallies: Sequence[Tally]) -> list[tuple[int, int]]:
    return [(each.relevant, each.judged) for each in tallies if each.judged]


def report_from_store(
    store: LabelStore, root: str | None = None, digests: Mapping[str, str] | None = None, annotator: str | None = None
) -> Report:
    """The report of the newest replays of *root* (None: of all roots) and of the labels about what they returned.

    *digests* are the memories' present ones by id: a label counts if its memory still reads as it did when it was
    labelled and when it was replayed. None compares with the replays only. *annotator* None takes the majority.
    """
    rows = store.outcomes(root)
    labels = store.labels(annotator=annotator, root=root)
    fresh = [label for label in labels if digests is None or digests.get(label.memory_id) == label.digest]
    counted = matching(fresh, store.result_digests(root))
    agreed = known.consensus(counted)
    about = notes.LabelFacts(
        stale=len(labels) - len(fresh),
        unmatched=len(fresh) - len(counted),
        disputed=agreed.disputed,
        sampled=not store.sampled_prompts().isdisjoint(row.prompt_id for row in rows),
        compared=digests is not None,
    )
    report = with_labels(build_report(rows, labelled_basis(rows, agreed.judgements)), counted, about.stale)
    return replace(report, notes=notes.of_labels(report, rows, about))


def matching(labels: Sequence[Label], seen: Mapping[str, Mapping[str, str]]) -> list[Label]:
    """The labels about the text that the newest replay saw, and those about memories that it did not return."""
    return [
        label for label in labels if seen.get(label.prompt_id, {}).get(label.memory_id, label.digest) == label.digest
    ]


def with_labels(report: Report, labels: Sequence[Label], stale: int) -> Report:
    verdicts = [label.verdict for label in labels]
    return replace(
        report,
        labels={verdict: verdicts.count(verdict) for verdict in VERDICTS},
        stale=stale,
        blind=Ratio(sum(label.blind for label in labels), len(labels)),
        annotators=tuple(sorted({label.annotator for label in labels})),
    )


def report_from_files(run_path: Path, qrels_path: Path, unjudged: str = AS_NOT) -> Report:
    """The report of a run file against qrels; ExchangeError if either does not say what it should.

    *unjudged* is AS_NOT or EXCLUDE. A prompt without a relevant row in the qrels is one for which nothing is relevant.
    """
    if unjudged not in (AS_NOT, EXCLUDE):
        raise ValueError(f"unjudged is {AS_NOT!r} or {EXCLUDE!r}, not {unjudged!r}")
    rows = read_runs(run_path)
    basis = qrels_basis(rows, read_qrels(qrels_path), unjudged)
    report = build_report(rows, basis)
    return replace(report, notes=notes.of_qrels(report, rows, excluded=unjudged == EXCLUDE))
