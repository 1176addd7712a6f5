"""The report: every number of every system, and what the numbers cannot say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from labels.exchange.qrels import read_qrels
from labels.exchange.runs import read_runs
from labels.measure import notes
from labels.measure import outcomes as known
from labels.measure.basis import AS_NOT, EXCLUDE, Basis, qrels_basis, weighted_basis
from labels.measure.metrics import Ratio
from labels.measure.names import NAMELESS, Names
from labels.measure.people import People, people_of
from labels.measure.systems import SystemReport, system_report
from labels.measure.worst import Worst, worst_memories, worst_prompts
from labels.records import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from labels.measure.agreement import Agreement
    from labels.measure.outcomes import Outcome
    from labels.records import Label
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
    people: People | None
    worst_memories: tuple[Worst, ...]
    worst_prompts: tuple[Worst, ...]
    notes: tuple[str, ...]
    names: Names

    @property
    def agreement(self) -> Agreement | None:
        """The judge against people in the first system that has a judge."""
        return next((each.agreement for each in self.systems if each.agreement is not None), None)


def build_report(rows: Sequence[Outcome], basis: Basis, names: Names = NAMELESS, *, ranking: bool = False) -> Report:
    """The report of *rows* without labels and notes; systems come by name, the plainest first.

    With *ranking* the measures of TREC are computed, too.
    """
    by_system: dict[str, list[Outcome]] = {}
    for row in rows:
        by_system.setdefault(row.system, []).append(row)
    prompts = {row.prompt_id for row in rows}
    return Report(
        systems=tuple(
            system_report(name, by_system[name], basis, names.kinds, ranking=ranking) for name in sorted(by_system)
        ),
        prompts=len(prompts),
        labelled_prompts=sum(bool(basis.explicit.get(prompt_id)) for prompt_id in prompts),
        labels=dict.fromkeys(VERDICTS, 0),
        stale=0,
        blind=Ratio(0, 0),
        annotators=(),
        people=None,
        worst_memories=worst_memories(rows, basis.judgements, names),
        worst_prompts=worst_prompts(rows, basis.judgements, names),
        notes=(),
        names=names,
    )


def report_from_store(
    store: LabelStore,
    root: str | None = None,
    digests: Mapping[str, str] | None = None,
    annotator: str | None = None,
    names: Names = NAMELESS,
    *,
    ranking: bool = False,
) -> Report:
    """The report of the newest replays of *root* (None: of all roots) and of the labels about what they returned.

    *digests* are the memories' present ones by id: a label counts if its memory still reads as it did when it was
    labelled and when it was replayed. None compares with the replays only. *annotator* None takes the majority.
    """
    rows = store.outcomes(root)
    labels = store.labels(annotator=annotator, root=root)
    fresh = current(labels, digests)
    seen = store.result_digests(root)
    counted = matching(fresh, seen)
    settled = [] if annotator else matching(current(store.adjudications(root), digests), seen)
    agreed = known.consensus(counted, settled)
    about = notes.LabelFacts(
        stale=len(labels) - len(fresh),
        unmatched=len(fresh) - len(counted),
        disputed=agreed.disputed,
        drifted=None if digests is None else drifted(seen, digests),
        brought_up=len({memory_id for found in seen.values() for memory_id in found}),
    )
    order = [label.prompt_id for label in counted]
    strata = store.strata(root) if root else {}
    basis = weighted_basis(rows, agreed.judgements, strata, store.inclusion(), order)
    shown = replace(names, prompts={**store.prompt_texts(), **names.prompts})
    repeats = store.repeats(root, annotator)
    report = build_report(rows, basis, shown, ranking=ranking)
    report = with_labels(report, counted, about.stale, people_of(counted, repeats))
    return replace(report, notes=notes.of_labels(report, rows, about, basis.weights))


def current(labels: Sequence[Label], digests: Mapping[str, str] | None) -> Sequence[Label]:
    """The labels of memories that still read as they did."""
    return [label for label in labels if digests is None or digests.get(label.memory_id) == label.digest]


def drifted(seen: Mapping[str, Mapping[str, str]], digests: Mapping[str, str]) -> int:
    """How many of the memories that were *seen* in a replay read otherwise now, or are gone."""
    return len({id_ for found in seen.values() for id_, digest in found.items() if digests.get(id_) != digest})


def matching(labels: Sequence[Label], seen: Mapping[str, Mapping[str, str]]) -> list[Label]:
    """The labels about the text that the newest replay saw, and those about memories that it did not return."""
    return [
        label for label in labels if seen.get(label.prompt_id, {}).get(label.memory_id, label.digest) == label.digest
    ]


def with_labels(report: Report, labels: Sequence[Label], stale: int, people: People | None) -> Report:
    verdicts = [label.verdict for label in labels]
    return replace(
        report,
        labels={verdict: verdicts.count(verdict) for verdict in VERDICTS},
        stale=stale,
        blind=Ratio(sum(label.blind for label in labels), len(labels)),
        annotators=tuple(sorted({label.annotator for label in labels})),
        people=people,
    )


def report_from_files(
    run_path: Path,
    qrels_path: Path,
    unjudged: str = AS_NOT,
    names: Names = NAMELESS,
    *,
    ranking: bool = False,
) -> Report:
    """The report of a run file against qrels; ExchangeError if either does not say what it should.

    *unjudged* is AS_NOT or EXCLUDE. A prompt without a relevant row in the qrels is one for which nothing is relevant.
    """
    if unjudged not in (AS_NOT, EXCLUDE):
        raise ValueError(f"unjudged is {AS_NOT!r} or {EXCLUDE!r}, not {unjudged!r}")
    rows = read_runs(run_path)
    report = build_report(rows, qrels_basis(rows, read_qrels(qrels_path), unjudged), names, ranking=ranking)
    return replace(report, notes=notes.of_qrels(report, rows, excluded=unjudged == EXCLUDE))
