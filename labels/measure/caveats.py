"""Facts that limit the meaning of the numbers of a report or a gate; labels/report puts them into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from labels.measure.metrics import Ratio
from labels.measure.strata import EQUAL, PairWeights
from labels.run_settings import differences

if TYPE_CHECKING:
    from labels.measure.evidence import Evidence
    from labels.measure.judgements import LabelFacts
    from labels.records import Label, Outcome, RunSettings

FEW_PROMPTS = 20
"""Labelled prompts below which one odd prompt moves a number by more than most differences that matter."""

MAX_UNJUDGED = 0.05
MIN_BLIND = 0.9


def blind_share(labels: Sequence[Label]) -> tuple[Ratio, int]:
    """The labels given blind, of those of which it is known; and the number of the others, which were imported."""
    known = [label.blind for label in labels if label.blind is not None]
    return Ratio(sum(known), len(known)), len(labels) - len(known)


def sighted(blind: Ratio, unknown: int) -> Ratio | None:
    """The labels given with ranks in view, of all labels; None where they are few.

    *blind* and *unknown* are a `blind_share`. Labels of which it is not known count as given blind.
    """
    seen, whole = blind.whole - blind.part, blind.whole + unknown
    return Ratio(seen, whole) if whole - seen < MIN_BLIND * whole else None


Changes = Mapping[str, tuple[str, ...]]
"""run id -> how its settings differ from the present ones, in words; only runs with a difference."""


class Outdated(NamedTuple):
    """The prompts of a system that were replayed with other settings than the present ones, out of `whole` prompts."""

    prompts: int
    whole: int
    changes: tuple[str, ...]


class MixedRuns(NamedTuple):
    """Runs of one system over one root, and the settings in which they differ, in words."""

    runs: int
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Limits:
    """Beside the counts in the report itself.

    `labels` is None for a report from qrels, of which unjudged memories are left out if `is_excluding`. `outdated` and
    `mixed` are by system. `same_prompts`: all systems were replayed on the same prompts.
    """

    labels: LabelFacts | None = None
    outdated: Mapping[str, Outdated] = field(default_factory=dict)
    mixed: Mapping[str, Sequence[MixedRuns]] = field(default_factory=dict)
    same_prompts: bool = True
    weights: PairWeights = EQUAL
    is_excluding: bool = False


def limits_from_store(
    evidence: Evidence, labels: LabelFacts, made: Mapping[str, RunSettings], changed: Changes
) -> Limits:
    """*made* are the settings of each run, *changed* their differences from the present ones."""
    systems = evidence.systems
    outdated = {name: rows for name in systems if (rows := outdated_prompts(evidence.of(name), changed))}
    return Limits(
        labels,
        outdated,
        mixed={name: mixed_runs(name, evidence.of(name), made) for name in systems},
        same_prompts=same_prompts(evidence),
        weights=evidence.weights,
    )


def same_prompts(evidence: Evidence) -> bool:
    prompts: dict[str, set[str]] = {}
    for row in evidence.rows:
        prompts.setdefault(row.system, set()).add(row.prompt_id)
    return len(set(map(frozenset, prompts.values()))) < 2


def outdated_prompts(rows: Sequence[Outcome], changed: Changes) -> Outdated | None:
    """The prompts among one system's *rows* that were replayed with other settings; None if there are none."""
    other = [row for row in rows if row.run_id in changed]
    return Outdated(len(other), len(rows), changed[other[-1].run_id]) if other else None


def mixed_runs(system: str, rows: Sequence[Outcome], made: Mapping[str, RunSettings]) -> list[MixedRuns]:
    """The roots whose results of *system* come from runs with different settings."""
    runs = [made[run_id] for run_id in sorted({row.run_id for row in rows} & made.keys())]
    roots = [[run for run in runs if run.root == root] for root in sorted({run.root for run in runs})]
    return [MixedRuns(len(own), mixed) for own in roots if (mixed := differences(system, own))]
