"""What a report's numbers cannot say, in plain sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.outcomes import Outcome
    from labels.measure.report import Report, SystemReport

FEW_PROMPTS = 20
"""Below this the interval of precision covers less than it says (93 % or less, simulated)."""

MAX_UNJUDGED = 0.05
MAX_FALLBACKS = 0.05
MIN_BLIND = 0.9


@dataclass(frozen=True)
class LabelFacts:
    """What is known of the labels beside their counts.

    `stale` labels are about a text that has changed or is gone, `unmatched` ones about another text than was replayed,
    `disputed` pairs are those on which people are split. `sampled`: only a sample of what the judge dropped was pooled.
    `compared`: whether the labels were compared with the memories as they are now.
    """

    stale: int
    unmatched: int
    disputed: int
    sampled: bool
    compared: bool


def of_labels(report: Report, rows: Sequence[Outcome], facts: LabelFacts) -> tuple[str, ...]:
    """The notes of a report from a label store."""
    return (*on_emptiness(report), *on_labels(report, facts), *on_systems(report, rows), *on_pool(report, facts))


def of_qrels(report: Report, rows: Sequence[Outcome], *, excluded: bool) -> tuple[str, ...]:
    """The notes of a report from a run file and qrels; *excluded*: unjudged memories count as nothing."""
    return (*on_emptiness(report), *on_convention(report, excluded), *on_systems(report, rows))


def on_emptiness(report: Report) -> Iterator[str]:
    if not report.systems:
        yield "Nothing has been replayed yet: there is no outcome to measure."
    elif not report.labelled_prompts:
        yield "None of these prompts has a judgement: precision cannot be known."
    elif report.labelled_prompts < FEW_PROMPTS:
        count = counted(report.labelled_prompts, "prompt has", "prompts have")
        yield f"Only {count} judgements: below {FEW_PROMPTS} the true precision is outside its interval more often."


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
    if report.blind.part < MIN_BLIND * report.blind.whole:
        seen = f"{report.blind.whole - report.blind.part} of {report.blind.whole} labels"
        yield f"{seen} were given with rank, score or verdict in view, which pulls answers towards what is shown."
    if not facts.compared and report.labelled_prompts:
        yield "The labels were not compared with the memories as they are now: some may be stale."


def on_systems(report: Report, rows: Sequence[Outcome]) -> Iterator[str]:
    for system in report.systems:
        yield from on_failures(system)
        runs = {row.run_id for row in rows if row.system == system.system}
        if len(runs) > 1:
            yield f"{system.system}: results of {len(runs)} runs; the configuration or the memories changed in between."
    if len({frozenset(row.prompt_id for row in rows if row.system == each.system) for each in report.systems}) > 1:
        yield "The systems were not replayed on the same prompts, so their numbers do not compare."


def on_failures(system: SystemReport) -> Iterator[str]:
    part, whole = system.fallbacks.part, system.fallbacks.whole
    if part > MAX_FALLBACKS * whole:
        yield (
            f"{system.system}: the judge failed on {part} of {counted(whole, 'prompt', 'prompts')}; "
            "what was injected instead is what was measured."
        )


def on_unjudged(system: SystemReport) -> Iterator[str]:
    part, whole = system.unjudged.part, system.unjudged.whole
    if system.precision.whole and part > MAX_UNJUDGED * whole:
        memories = f"{part} of {whole} injected memories"
        yield (
            f"{system.system}: {memories} are unjudged. Unless the judged prompts are a random draw, "
            "precision is only sure within its lowest and highest."
        )


def on_pool(report: Report, facts: LabelFacts) -> Iterator[str]:
    for system in report.systems:
        yield from on_unjudged(system)
    if facts.sampled and report.agreement is not None:
        yield (
            "Only a sample of what the judge dropped was put before people: its true sensitivity is likely lower, its "
            "specificity higher, and more relevant memories are lost than these numbers show."
        )
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


def counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
