"""The sentences on what the numbers of a report and of a gate cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.wording import counted, listed
from labels.measure.report import (
    FEW_PROMPTS,
    MAX_UNJUDGED,
    assumed_memories,
    mixed_runs,
    outdated_prompts,
    same_prompts,
    unsure_share,
)
from labels.report.first_lines import AS_NOW, BLINDLY, BY_REPLAY, REPLAY, Step, finish_step, later_step
from labels.report.section import part_of, percent, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from labels.measure.evidence import Evidence, LabelFacts
    from labels.measure.gate import Caveats, GateReport
    from labels.measure.report import Gaps, Outdated, Report


WORDS = {
    "stale": ("label is", "labels are"),
    "unmatched": ("label is", "labels are"),
    "disputed": ("memory splits", "memories split"),
    "imported": ("label was", "labels were"),
    "blind_unknown": ("imported label was", "imported labels were"),
    "by_hand": ("prompt chosen by hand is", "prompts chosen by hand are"),
    "preferred": ("labelled prompt is", "labelled prompts are"),
}
"""The fact -> the words for one and for several, with which its sentence begins."""

NAMED = 3
"""The number of unfinished prompts that are named."""


def notes(report: Report) -> tuple[str, ...]:
    """The limits of *report*, a sentence or two each."""
    if report.evidence.is_qrels:
        return (*on_emptiness(report), *on_convention(report), *on_systems(report))
    return (
        *on_emptiness(report),
        *label_notes(report.evidence.facts),
        *on_people(report),
        *on_drift(report),
        *on_runs(report),
        *on_systems(report),
        *on_pool(report),
    )


def on_emptiness(report: Report) -> Iterator[str]:
    if not report.systems:
        yield "Nothing has been replayed yet: there is no outcome to measure."
    elif not report.labelled_prompts:
        yield "None of these prompts has a label: precision cannot be known."
    elif report.labelled_prompts < FEW_PROMPTS:
        yield few_note(counted(report.labelled_prompts, "prompt has", "prompts have") + " labels")


def few_note(prompts: str) -> str:
    return f"Only {prompts}: below {FEW_PROMPTS}, a few odd ones weigh much."


def label_notes(facts: LabelFacts) -> Iterator[str]:
    """Labels that do not count, and labels about which something is not known. Report and gate say the same."""
    for name, words in WORDS.items():
        if number := getattr(facts, name):
            yield sentence(name, counted(number, *words))


def on_people(report: Report) -> Iterator[str]:
    if not report.people and report.labelled_prompts:
        yield "Nobody labelled anything twice: how sure the labels themselves are is not known."
    if seen := report.evidence.facts.sighted:
        yield sentence("sighted", given=f"{seen.part} of {seen.whole} labels were given")


def on_drift(report: Report) -> Iterator[str]:
    facts = report.evidence.facts
    if facts.drifted is None:
        if report.labelled_prompts:
            yield "The labels were not compared with the memories as they are now: some may be stale."
    elif facts.drifted:
        memories = f"{facts.drifted:,} of the {counted(facts.brought_up, 'memory')}"
        edited = "was edited or removed since" if facts.drifted == 1 else "were edited or removed since"
        yield f"{memories} that the replays brought up {edited}: these numbers are of the memories as they were."


def on_runs(report: Report) -> Iterator[str]:
    """Results that were made with other settings than the present ones, or not all with the same."""
    for system in report.evidence.systems:
        if outdated := outdated_prompts(report.evidence, system):
            yield f"{system}: {outdated_note(outdated)}"
        for runs, different in mixed_runs(report.evidence, system):
            yield f"{system}: results of {runs} runs that were not made alike: {'; '.join(different)}."


def outdated_note(outdated: Outdated) -> str:
    changes = "; ".join(outdated.changes)
    return sentence("outdated", prompts=outdated.prompts, whole=outdated.whole, changes=changes)


def on_systems(report: Report) -> Iterator[str]:
    for system in report.systems:
        failed, asked = system.fallbacks.part, system.fallbacks.whole
        if failed:
            prompts = counted(asked, "prompt")
            yield sentence("fallbacks", system=system.system, failed=failed, prompts=prompts)
    if not same_prompts(report.evidence):
        yield "The systems were not replayed on the same prompts, so their numbers do not compare."


def on_pool(report: Report) -> Iterator[str]:
    for system in report.systems:
        part, whole, bounds = system.unjudged.part, system.unjudged.whole, system.bounds
        if bounds and system.precision.whole and part > MAX_UNJUDGED * whole:
            memories = counted(whole, "injected memory")
            words = {"system": system.system, "memories": memories, "low": bounds.low, "high": bounds.high}
            yield sentence("unjudged", part=part, **words)
    if listed := report.evidence.listed:
        yield sentence("listed", counted(len(listed), "prompt"))
    elif report.labelled_prompts:
        yield sentence("no_list")


def on_convention(report: Report) -> Iterator[str]:
    for system in report.systems:
        part, whole = system.unjudged.part, system.unjudged.whole
        if part:
            is_assumed = report.evidence.explicit is not None
            done = "count as not relevant, by TREC's convention" if is_assumed else "are left out"
            of = f"{part} of {whole} injected memories ({percent(part, whole)})"
            yield f"{system.system}: {of} are not in the qrels and {done}."
        if system.assumed and system.agreement:
            decided = f"{system.assumed} of the {system.agreement.confusion.total} memories that its judge is graded on"
            yield f"{system.system}: {decided} are not in the qrels and count as not relevant."


# Reasons against an answer, and warnings


class Refusal(NamedTuple):
    """A fact for which any answer would be about something else than the question.

    `short` ends the first line of the gate, `reason` says all, and `step` is what to do about it.
    """

    short: str
    reason: str
    step: Step


def refusals(system: str, caveats: Caveats, evidence: Evidence) -> Iterator[Refusal]:
    """The *caveats* of *system* that forbid an answer, the gravest first."""
    if outdated := caveats.outdated:
        yield Refusal(f"{system} was replayed with other settings.", outdated_note(outdated), AS_NOW)
    if caveats.unanswered:
        none = f"judge gave no answer on {part_of(caveats.unanswered)} prompts"
        step = Step("ask the judge again about the prompts without an answer", REPLAY, BY_REPLAY)
        yield Refusal(f"the {none}.", f"The {none}, and the others may be another kind.", step)
    if caveats.sighted:
        labels = part_of(caveats.sighted)
        reason = sentence("sighted_again", labels=labels)
        yield Refusal(f"{labels} labels were given after you had seen the ranks.", reason, BLINDLY)
    if gaps := caveats.gaps:
        short = f"{part_of(gaps.memories)} injected memories have no label."
        reason = f"{missing_labels(gaps)}. {finishing(gaps.left, evidence)}"
        yield Refusal(short, reason, finish_step(gaps, evidence))
    if later := caveats.later:
        prompts = part_of(later.prompts)
        reason = sentence("later", prompts=prompts)
        yield Refusal(f"{prompts} prompts are later than the labels.", reason, later_step(later))


def missing_labels(gaps: Gaps) -> str:
    memories = f"{gaps.memories.part:,} of {gaps.memories.whole:,} injected memories on labelled prompts"
    return f"{memories} have no label that counts: none, unsure, split, or about an edited text"


def finishing(left: Mapping[str, int], evidence: Evidence) -> str:
    """Which prompts to finish, those with most memories *left* first, and how."""
    most = sorted(left, key=lambda name: (-left[name], name))
    named = [f"{name} ({left[name]:,} left)" for name in most[:NAMED]]
    more = [counted(len(most) - NAMED, "other")] if len(most) > NAMED else []
    which = f"Finish {listed([*named, *more])}"
    if evidence.is_qrels:
        return f"{which} in the qrels."
    settle = " What people are split on, memsift label --adjudicate settles." if evidence.facts.disputed else ""
    replay = "Replay for those that were skipped twice, and shows those you were unsure about"
    return f"{which}: Label in the app asks for the open labels, {replay}.{settle}"


def warnings(report: GateReport) -> Iterator[str]:
    """Facts that limit the answer without forbidding it."""
    evidence, system = report.evidence, report.system
    judged = report.decision.estimate.prompts if report.decision.estimate else 0
    if 0 < judged < FEW_PROMPTS:
        yield few_note(counted(judged, "prompt counts", "prompts count"))
    if report.failures.part:
        yield f"The judge gave no answer on {part_of(report.failures)} prompts; these are left out."
    yield from label_notes(evidence.facts)
    if unsure := unsure_share(evidence, system):
        yield f"{part_of(unsure)} memories were labelled unsure or unrateable, and count nowhere."
    if assumed := assumed_memories(evidence, system):
        yield sentence("assumed", memories=part_of(assumed[0]), highest=assumed[1])
