"""What a report's numbers cannot say, in plain sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.report.figures import counted, percent
from labels.run_settings import differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from labels.measure.report import Report
    from labels.measure.systems import SystemReport
    from labels.measure.weights import Weights
    from labels.records import Outcome, RunSettings

FEW_PROMPTS = 20
"""Below this, one odd prompt moves a number by more than most differences that matter."""

MAX_UNJUDGED = 0.05
MAX_FALLBACKS = 0.05
MIN_BLIND = 0.9


@dataclass(frozen=True)
class LabelFacts:
    """What is known of the labels beside their counts.

    `stale` labels are about a text that has changed or is gone, `unmatched` ones about another text than was replayed,
    `disputed` pairs are those on which people are split. `drifted` counts the memories that the replays brought up and
    that were edited or removed since, of `brought_up`; None where it is not known how the memories read now.
    """

    stale: int
    unmatched: int
    disputed: int
    drifted: int | None
    brought_up: int


@dataclass(frozen=True)
class RunFacts:
    """By run id: what it was made with, and how its configuration differs from the present one, where it does."""

    made: Mapping[str, RunSettings]
    changed: Mapping[str, tuple[str, ...]]


def of_labels(
    report: Report, rows: Sequence[Outcome], facts: LabelFacts, weights: Weights, runs: RunFacts
) -> tuple[str, ...]:
    """The notes of a report from a label store."""
    return (
        *on_emptiness(report),
        *on_labels(report, facts),
        *on_drift(report, facts),
        *on_runs(report, rows, runs),
        *on_systems(report, rows),
        *on_weights(report, weights),
        *on_pool(report),
    )


def of_qrels(report: Report, rows: Sequence[Outcome], *, excluded: bool) -> tuple[str, ...]:
    """The notes of a report from a run file and qrels; *excluded*: unjudged memories count as nothing."""
    return (*on_emptiness(report), *on_convention(report, excluded), *on_systems(report, rows))


def on_emptiness(report: Report) -> Iterator[str]:
    if not report.systems:
        yield "Nothing has been replayed yet: there is no outcome to measure."
    elif not report.labelled_prompts:
        yield "None of these prompts has a label: precision cannot be known."
    elif report.labelled_prompts < FEW_PROMPTS:
        count = counted(report.labelled_prompts, "prompt has", "prompts have")
        yield f"Only {count} labels: below {FEW_PROMPTS}, a few odd ones weigh much."


def on_labels(report: Report, facts: LabelFacts) -> Iterator[str]:
    if facts.stale:
        labels = counted(facts.stale, "label is", "labels are")
        yield f"{labels} stale: the memory was edited or removed since. Stale labels do not count."
    if facts.unmatched:
        labels = counted(facts.unmatched, "label is", "labels are")
        yield f"{labels} about a newer or older text than the one replayed, and wait for the next replay."
    if facts.disputed:
        memories = counted(facts.disputed, "memory splits", "memories split")
        yield f"{memories} the annotators evenly, so nothing is counted there."
    if not report.people and report.labelled_prompts:
        yield "Nobody labelled anything twice: how sure the labels themselves are is not known."
    if report.blind.part < MIN_BLIND * report.blind.whole:
        seen = f"{report.blind.whole - report.blind.part} of {report.blind.whole} labels"
        yield f"{seen} were given with rank, score or verdict in view, which pulls answers towards what is shown."


def on_drift(report: Report, facts: LabelFacts) -> Iterator[str]:
    if facts.drifted is None:
        if report.labelled_prompts:
            yield "The labels were not compared with the memories as they are now: some may be stale."
    elif facts.drifted:
        memories = f"{facts.drifted:,} of the {counted(facts.brought_up, 'memory', 'memories')}"
        edited = "was edited or removed since" if facts.drifted == 1 else "were edited or removed since"
        yield f"{memories} that the replays brought up {edited}: these numbers are of the memories as they were."


def on_runs(report: Report, rows: Sequence[Outcome], runs: RunFacts) -> Iterator[str]:
    """Where results were not made with what is configured now, or not all with the same."""
    for system in (each.system for each in report.systems):
        own = [row for row in rows if row.system == system]
        if outdated := with_other_settings(own, runs.changed):
            yield f"{system}: {outdated}"
        made = [runs.made[each] for each in sorted({row.run_id for row in own} & runs.made.keys())]
        for root in sorted({each.root for each in made}):
            over = [each for each in made if each.root == root]
            if mixed := differences(system, over):
                yield f"{system}: results of {len(over)} runs that were not made alike: {'; '.join(mixed)}."


def with_other_settings(rows: Sequence[Outcome], changed: Mapping[str, tuple[str, ...]]) -> str:
    """How many of a system's *rows* were made with another configuration than the present one; empty if none was."""
    other = [row for row in rows if row.run_id in changed]
    if not other:
        return ""
    return (
        f"{len(other):,} of {len(rows):,} prompts were replayed with another configuration than the present one "
        f"({'; '.join(changed[other[-1].run_id])}). Replay them again with memsift replay --save; the labels stay."
    )


def on_systems(report: Report, rows: Sequence[Outcome]) -> Iterator[str]:
    for system in report.systems:
        yield from on_failures(system)
    if len({frozenset(row.prompt_id for row in rows if row.system == each.system) for each in report.systems}) > 1:
        yield "The systems were not replayed on the same prompts, so their numbers do not compare."


def on_failures(system: SystemReport) -> Iterator[str]:
    failed, asked = system.fallbacks.part, system.fallbacks.whole
    if failed > MAX_FALLBACKS * asked:
        yield (
            f"{system.system}: the judge failed on {failed:,} of {counted(asked, 'prompt')} on which it was asked; "
            "what was injected instead is what was measured."
        )


def on_unjudged(system: SystemReport) -> Iterator[str]:
    part, whole = system.unjudged.part, system.unjudged.whole
    if system.precision.whole and part > MAX_UNJUDGED * whole:
        yield (
            f"{system.system}: {part:,} of {counted(whole, 'injected memory', 'injected memories')} have no label that "
            f"counts: none yet, unsure, disputed or stale.{within(system)}"
        )


def within(system: SystemReport) -> str:
    """What precision comes to if none of the unlabelled memories were relevant, and if all were."""
    if system.bounds is None:
        return ""
    none, every = f"{system.bounds.low:.2f}", f"{system.bounds.high:.2f}"
    return f" Unless chance left them out, precision is only sure to be from {none} (none relevant) to {every} (all)."


def on_weights(report: Report, weights: Weights) -> Iterator[str]:
    """What the sign before a number says, where there is one."""
    why = []
    if weights.strata:
        why.append("the prompts were not labelled in plain random order")
    if weights.pairs and report.labelled_prompts:
        why.append("of what the judge dropped only a random sample was put before people")
    if why:
        yield (
            f"In numbers with a ~ each prompt or memory counts for as many as it stands for: {', and '.join(why)}. "
            "They are not the quotient of the counts beside them."
        )
    untouched = set(weights.strata.values()) - {weights.strata[prompt_id] for prompt_id in weights.prompts}
    if untouched and weights.prompts:
        prompts = sum(stratum in untouched for stratum in weights.strata.values())
        yield (
            f"Nothing is labelled yet in {counted(len(untouched), 'stratum', 'strata')} "
            f"({', '.join(sorted(untouched))}; {percent(prompts, len(weights.strata))} of the prompts): the numbers "
            "say nothing of those prompts."
        )


def on_pool(report: Report) -> Iterator[str]:
    for system in report.systems:
        yield from on_unjudged(system)
    if report.labelled_prompts:
        yield "What no system returned was never looked at: recall and losses are within the pool."


def on_convention(report: Report, excluded: bool) -> Iterator[str]:
    for system in report.systems:
        part, whole = system.unjudged.part, system.unjudged.whole
        if part:
            done = "are left out" if excluded else "count as not relevant, by TREC's convention"
            share = f"{100 * part / whole:.0f} %"
            yield f"{system.system}: {part} of {whole} injected memories ({share}) are not in the qrels and {done}."
        if system.assumed and system.agreement:
            decided = f"{system.assumed} of the {system.agreement.confusion.total} memories that its judge is graded on"
            yield f"{system.system}: {decided} are not in the qrels and count as not relevant."
