"""Facts that limit the meaning of the numbers of a report or a gate; labels/report puts them into words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from labels.measure.metrics import Ratio, precision_bounds, tally, unjudged_share
from labels.run_settings import differences

if TYPE_CHECKING:
    from labels.measure.evidence import Evidence

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
