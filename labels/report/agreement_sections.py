"""The sections on agreement: the judge against people, and people with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.wording import counted
from labels.report.charts import confusion_rows
from labels.report.section import ReportSection, ReportTable, decimal, give_or_take, share, span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.agreement import Agreement, Concord, Graded, People
    from labels.measure.intervals import Interval
    from labels.measure.metrics import Ratio
    from labels.measure.report import Captions

SHOWN_DISAGREEMENTS = 10


def judge_sections(system: str, agreement: Agreement, captions: Captions, assumed: int = 0) -> Iterator[ReportSection]:
    """The confusion table with the grades of the judge, and the memories on which it and people differ.

    *assumed* is the number of memories that are assumed to be irrelevant.
    """
    rows = tuple((name, *(f"{count:,}" for count in counts)) for name, counts in confusion_rows(agreement.confusion))
    yield ReportSection(
        f"judge-{system}",
        f"The judge against people: {system}",
        "Memories that the judge was asked about and that have a label"
        f"{', or count as not relevant without one' if assumed else ''}.",
        ReportTable(("", "relevant", "irrelevant"), rows),
        tuple(grade_lines(agreement)),
    )
    if agreement.disagreements:
        yield differences(system, agreement.disagreements, captions)


def differences(system: str, disagreements: Sequence[Graded], captions: Captions) -> ReportSection:
    shown = disagreements[:SHOWN_DISAGREEMENTS]
    rest = "" if len(shown) == len(disagreements) else f" The first {len(shown)} of {len(disagreements):,}."
    rows = tuple(
        (
            captions.memories.get(memory.memory_id, memory.memory_id),
            captions.prompts.get(memory.prompt_id, memory.prompt_id),
            decision(memory),
        )
        for memory in shown
    )
    flagged = " Flagged: it failed or was not sure." if any(memory.is_deployed for memory in shown) else ""
    about = f"People call irrelevant what it kept, and relevant what it dropped.{flagged}{rest}"
    title = f"Where judge and people differ: {system}"
    return ReportSection(
        f"differences-{system}", title, about, ReportTable(("memory", "prompt", "the judge"), rows, names=3)
    )


def decision(memory: Graded) -> str:
    if memory.is_deployed:
        return "flagged, injected" if memory.judge else "flagged, left out"
    return "kept" if memory.judge else "dropped"


def grade_lines(agreement: Agreement) -> Iterator[str]:
    kept = graded(agreement.sensitivity, agreement.sensitivity_interval)
    yield f"Of the relevant ones it kept (sensitivity): {kept}."
    dropped = graded(agreement.specificity, agreement.specificity_interval)
    yield f"Of the irrelevant ones it dropped (specificity): {dropped}."
    yield (
        f"Of all it and people agree on {share(agreement.raw)}. Beyond chance (0 is chance, 1 perfect): Cohen's kappa "
        f"{kappa(agreement.kappa, agreement.kappa_se)}; Gwet's AC1, which one rare answer moves less, "
        f"{decimal(agreement.ac1)}."
    )
    if agreement.deployed:
        yield (
            f"On {counted(agreement.deployed, 'memory')} it failed or was not sure: what was injected "
            "stands for its decision."
        )


def kappa(value: float | None, error: float | None) -> str:
    written = give_or_take(value, error)
    return written if written == decimal(value) else f"{written} (standard error)"


def graded(ratio: Ratio, interval: Interval | None) -> str:
    return "unknown" if interval is None else f"{share(ratio)}, 95 % interval {span(interval)}"


def people_section(people: People) -> ReportSection:
    """Each person with himself, each two people, and all together."""
    head = ("", "same\nanswer", "where one\nsays yes", "where one\nsays no", "kappa", "AC1")
    rows = tuple(people_row(person) for person in (*people.selves, *people.others))
    return ReportSection(
        "people",
        "People: how sure the labels are",
        "Memories that came again unannounced (once the ranks of their prompt were shown, so this is at its best), and "
        "memories that two people labelled. No judge can be expected to agree with them more. Kappa (± its standard "
        "error) and AC1 are agreement beyond chance: 0 is chance, 1 perfect.",
        ReportTable(head, rows),
        tuple(alpha_lines(people)),
    )


def people_row(people: Concord) -> tuple[str, ...]:
    who = f"{people.first}, again" if people.first == people.second else f"{people.first} and {people.second}"
    kappa = give_or_take(people.kappa, people.kappa_se)
    shares = (share(people.same), decimal(people.if_relevant), decimal(people.if_not))
    return who, *shares, kappa, decimal(people.ac1)


def alpha_lines(people: People) -> Iterator[str]:
    if people.alpha:
        interval = f" (95 % interval {span(people.alpha.interval)})" if people.alpha.interval else ""
        memories = counted(people.alpha.memories, "memory")
        yield f"All together, on {memories}: Krippendorff's alpha {decimal(people.alpha.value)}{interval}."
