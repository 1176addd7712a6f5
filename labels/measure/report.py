"""The report: every number of every system, and what the numbers cannot say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from labels.measure import notes
from labels.measure.basis import AS_NOT, EXCLUDE, Basis, qrels_basis, weighted_basis
from labels.measure.comparisons import comparisons
from labels.measure.extras import NONE, Extras
from labels.measure.gate.evidence import Evidence
from labels.measure.metrics import Ratio
from labels.measure.names import NAMELESS, Names
from labels.measure.outcomes import by_system
from labels.measure.people import People, people_of
from labels.measure.said import Said, said_of
from labels.measure.systems import SystemReport, system_report
from labels.measure.worst import Worst, injected_pairs, worst_memories, worst_prompts
from labels.records import VERDICTS
from labels.run_settings import changes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.config import Config
    from engine.cutoff import Cutoff
    from labels.measure.agreement import Agreement
    from labels.measure.comparison import SystemComparison
    from labels.records import Judgements, Outcome, Repeat
    from labels.store import LabelStore


@dataclass(frozen=True)
class Report:
    """What was measured. `labels` counts by verdict those that count; `stale` ones do not. `labelled_prompts` have at
    least one judgement. `notes` are plain sentences on what the numbers cannot say. `names` are for showing only."""

    systems: tuple[SystemReport, ...]
    prompts: int
    labelled_prompts: int
    labels: Mapping[str, int]
    stale: int
    blind: Ratio
    annotators: tuple[str, ...]
    comparisons: tuple[SystemComparison, ...]
    people: People | None
    worst_memories: tuple[Worst, ...]
    worst_prompts: tuple[Worst, ...]
    notes: tuple[str, ...]
    names: Names

    @property
    def agreement(self) -> Agreement | None:
        """The judge against people in the first system that has a judge."""
        return next((each.agreement for each in self.systems if each.agreement is not None), None)


def build_report(rows: Sequence[Outcome], basis: Basis, names: Names = NAMELESS, extras: Extras = NONE) -> Report:
    """The report of *rows* without labels and notes; systems come by name, the plainest first.

    *extras* say what else is computed.
    """
    systems = by_system(rows)
    prompts = {row.prompt_id for row in rows}
    injected = injected_pairs(rows, basis.judgements)
    return Report(
        systems=tuple(system_report(name, systems[name], basis, names.kinds, extras) for name in sorted(systems)),
        prompts=len(prompts),
        labelled_prompts=sum(bool(basis.explicit.get(prompt_id)) for prompt_id in prompts),
        labels=dict.fromkeys(VERDICTS, 0),
        stale=0,
        blind=Ratio(0, 0),
        annotators=(),
        comparisons=comparisons(rows, basis) if extras.comparing else (),
        people=None,
        worst_memories=worst_memories(injected, names),
        worst_prompts=worst_prompts(injected, names),
        notes=(),
        names=names,
    )


def report_from_store(
    store: LabelStore,
    root: str | None = None,
    digests: Mapping[str, str] | None = None,
    annotator: str | None = None,
    names: Names = NAMELESS,
    extras: Extras = NONE,
    config: Config | None = None,
    cutoff: Cutoff | None = None,
) -> Report:
    """The report of the newest replays of *root* (None: of all roots) and of the labels about what they returned.

    *digests* are the memories' present ones by id: a label counts if its memory still reads as it did when it was
    labelled and when it was replayed. None compares with the replays only. *annotator* None takes the majority.
    *config* and *cutoff* are the root's present ones, with which those of the runs are compared; without a
    configuration there is no comparison.
    """
    rows = store.outcomes(root)
    said = said_of(store, rows, root, digests, annotator)
    judgements = said.agreed.judgements
    basis = weighted_basis(rows, judgements, store.strata(root) if root else {}, store.inclusion())
    basis = replace(basis, evidence=Evidence(rows, judgements, said.moments, basis.weights.strata))
    shown = replace(names, prompts={**store.prompt_texts(), **names.prompts})
    report = with_labels(build_report(rows, basis, shown, extras), said, store.repeats(root, annotator))
    made = store.run_settings(root)
    runs = notes.RunFacts(made, changes(rows, made, config, cutoff) if config else {})
    return replace(report, notes=notes.of_labels(report, rows, said.facts, basis.weights, runs))


def with_labels(report: Report, said: Said, repeats: Sequence[Repeat]) -> Report:
    verdicts = [label.verdict for label in said.labels]
    return replace(
        report,
        labels={verdict: verdicts.count(verdict) for verdict in VERDICTS},
        stale=said.facts.stale,
        blind=Ratio(sum(label.blind for label in said.labels), len(verdicts)),
        annotators=tuple(sorted({label.annotator for label in said.labels})),
        people=people_of(said.labels, repeats),
    )


def report_from_judgements(
    rows: Sequence[Outcome],
    judgements: Judgements,
    unjudged: str = AS_NOT,
    names: Names = NAMELESS,
    extras: Extras = NONE,
) -> Report:
    """The report of the outcomes in a run file against the judgements in a qrels file.

    *unjudged* is AS_NOT or EXCLUDE. Nothing is relevant for a prompt that has no relevant memory in *judgements*.
    """
    if unjudged not in (AS_NOT, EXCLUDE):
        raise ValueError(f"unjudged is {AS_NOT!r} or {EXCLUDE!r}, not {unjudged!r}")
    report = build_report(rows, qrels_basis(rows, judgements, unjudged), names, extras)
    return replace(report, notes=notes.of_qrels(report, rows, excluded=unjudged == EXCLUDE))
