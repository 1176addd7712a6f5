"""The sections on agreement: the judge against people, and people with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.wording import counted
from labels.report.charts import confusion_rows
from labels.report.section import ReportTable, decimal, give_or_take, section, sentence, share, span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.agreement import Agreement, Concord, Graded, People
    from labels.measure.intervals import Interval
    from labels.measure.metrics import Ratio
    from labels.measure.report import Captions
    from labels.report.section import ReportSection

SHOWN_DISAGREEMENTS = 10


def judge_sections(system: str, agreement: Agreement, captions: Captions, assumed: int = 0) -> Iterator[ReportSection]:
    """The confusion table with the grades of the judge, and the memories on which it and people differ.

    *assumed* is the number of memories that are assumed to be irrelevant.
    """
    rows = tuple((name, *(f"{count:,}" for count in counts)) for name, counts in confusion_rows(agreement.confusion))
    table, without = ReportTable(("", "relevant", "irrelevant"), rows), ", or count as not relevant without one"
    words = {"system": system, "assumed": without if assumed else ""}
    yield section("judge", table, grade_lines(agreement), anchor=f"judge-{system}", **words)
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
    table = ReportTable(("memory", "prompt", "the judge"), rows, names=3)
    return section("differences", table, anchor=f"differences-{system}", system=system, flagged=flagged, rest=rest)


def decision(memory: Graded) -> str:
    if memory.is_deployed:
        return "flagged, injected" if memory.judge else "flagged, left out"
    return "kept" if memory.judge else "dropped"


def grade_lines(agreement: Agreement) -> Iterator[str]:
    kept = graded(agreement.sensitivity, agreement.sensitivity_interval)
    yield f"Of the relevant ones it kept (sensitivity): {kept}."
    dropped = graded(agreement.specificity, agreement.specificity_interval)
    yield f"Of the irrelevant ones it dropped (specificity): {dropped}."
    beyond = kappa(agreement.kappa, agreement.kappa_se)
    yield sentence("agreement", share=share(agreement.raw), kappa=beyond, ac1=decimal(agreement.ac1))
    if agreement.deployed:
        yield sentence("deployed", memories=counted(agreement.deployed, "memory"))


def kappa(value: float | None, error: float | None) -> str:
    written = give_or_take(value, error)
    return written if written == decimal(value) else f"{written} (standard error)"


def graded(ratio: Ratio, interval: Interval | None) -> str:
    return "unknown" if interval is None else f"{share(ratio)}, 95 % interval {span(interval)}"


def people_section(people: People) -> ReportSection:
    """Each person with himself, each two people, and all together."""
    head = ("", "same\nanswer", "where one\nsays yes", "where one\nsays no", "kappa", "AC1")
    rows = tuple(people_row(person) for person in (*people.selves, *people.others))
    return section("people", ReportTable(head, rows), alpha_lines(people))


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
