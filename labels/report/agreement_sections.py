"""The sections on agreement: the judge against people, and people with each other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from engine.wording import counted
from labels.report.charts import confusion_rows
from labels.report.section import (
    CountedPrompts,
    ReportRow,
    ReportTable,
    decided,
    decimal,
    give_or_take,
    percent,
    section,
    sentence,
    share,
    span,
    weighed_by,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.agreement import Agreement, Graded, People
    from labels.measure.report import Captions, Report
    from labels.report.section import ReportSection

SHOWN_DISAGREEMENTS = 10


def judge_sections(report: Report) -> Iterator[ReportSection]:
    """For each system with a judge the confusion table with its grades, and the memories where it and people differ."""
    for system in report.systems:
        if not (agreement := system.agreement):
            continue
        own, decisions = (system.system,), [partial(decided, report.evidence, is_kept=kept) for kept in (True, False)]
        rows = tuple(
            ReportRow((name, *(f"{count:,}" for count in counts)), None, weighed_by(report.evidence, own, weight))
            for (name, counts), weight in zip(confusion_rows(agreement.confusion), decisions, strict=True)
        )
        table, without = ReportTable(("", "relevant", "irrelevant"), rows), ", or count as not relevant without one"
        words = {"system": system.system, "assumed": without if system.assumed else ""}
        yield section("judge", table, grade_lines(agreement), anchor=f"judge-{system.system}", **words)
        if agreement.disagreements:
            yield differences(system.system, agreement.disagreements, report.captions)


def differences(system: str, disagreements: Sequence[Graded], captions: Captions) -> ReportSection:
    shown = disagreements[:SHOWN_DISAGREEMENTS]
    rest = "" if len(shown) == len(disagreements) else f" The first {len(shown)} of {len(disagreements):,}."
    rows = []
    for memory in shown:
        name, prompt = memory.memory_id, memory.prompt_id
        cells = (captions.memories.get(name, name), captions.prompts.get(prompt, prompt), decision(memory))
        rows.append(ReportRow(cells, None, CountedPrompts(partial(tuple, [prompt]))))
    flagged = " Flagged: it failed or was not sure." if any(memory.is_deployed for memory in shown) else ""
    table = ReportTable(("memory", "prompt", "the judge"), tuple(rows), names=3)
    return section("differences", table, anchor=f"differences-{system}", system=system, flagged=flagged, rest=rest)


def decision(memory: Graded) -> str:
    if memory.is_deployed:
        return "flagged, injected" if memory.judge else "flagged, left out"
    return "kept" if memory.judge else "dropped"


def grade_lines(agreement: Agreement) -> Iterator[str]:
    for ratio, interval, kind, verb, name in (
        (agreement.sensitivity, agreement.sensitivity_interval, "relevant", "kept", "sensitivity"),
        (agreement.specificity, agreement.specificity_interval, "irrelevant", "dropped", "specificity"),
    ):
        if interval:
            found = f"{percent(ratio.part, ratio.whole)} ({100 * interval.low:.0f} to {percent(interval.high, 1)})"
            memories = counted(ratio.whole, f"{kind} memory")
            yield f"Of {memories} the judge {verb} {ratio.part:,}: a {name} of {found}."
        else:
            yield f"The {name} of the judge is not known: no {kind} memory."
    kappa = give_or_take(agreement.kappa, agreement.kappa_se)
    kappa += "" if kappa == decimal(agreement.kappa) else " (standard error)"
    agreed = percent(agreement.raw.part, agreement.raw.whole)
    yield sentence("agreement", share=agreed, kappa=kappa, ac1=decimal(agreement.ac1))
    if agreement.deployed:
        yield sentence("deployed", memories=counted(agreement.deployed, "memory"))


def people_sections(people: People | None) -> Iterator[ReportSection]:
    """Each person with himself, each two people, and all together."""
    if people is None:
        return
    head = ("", "same\nanswer", "where one\nsays yes", "where one\nsays no", "kappa", "AC1")
    rows = []
    for own in (*people.selves, *people.others):
        who = f"{own.first}, again" if own.first == own.second else f"{own.first} and {own.second}"
        shares = (share(own.same), decimal(own.if_relevant), decimal(own.if_not))
        rows.append(ReportRow((who, *shares, give_or_take(own.kappa, own.kappa_se), decimal(own.ac1))))
    lines = []
    if alpha := people.alpha:
        interval = f" (95 % interval {span(alpha.interval)})" if alpha.interval else ""
        on = f"All together, on {counted(alpha.memories, 'memory')}"
        lines = [f"{on}: Krippendorff's alpha {decimal(alpha.value)}{interval}."]
    yield section("people", ReportTable(head, tuple(rows)), lines)
