"""The sections of a report, in the order of reading. Text, Markdown, HTML and the screen of the app all show these."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from engine.config import CUTS, DEFAULT, TUNED, is_injected
from engine.wording import counted
from labels.measure.metrics import NO_AGENT, NO_KIND
from labels.report.charts import curve_sections, judge_sections, people_sections
from labels.report.notes import notes
from labels.report.section import (
    UNKNOWN,
    CountedPrompts,
    ReportRow,
    ReportSection,
    ReportTable,
    decimal,
    difference,
    doubt,
    false_fire,
    injected_with,
    known_relevant,
    lost,
    marks,
    part_of,
    range_of,
    section,
    sentence,
    share,
    span,
    system_rows,
    trouble,
    weighed_by,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from labels.measure.comparison import SystemComparison
    from labels.measure.evidence import Evidence
    from labels.measure.metrics import Group, KindGroup, Ratio
    from labels.measure.report import Report, SystemReport
    from labels.records import Outcome
    from labels.report.section import Range

    AnyGroup = TypeVar("AnyGroup", bound=Group)

ANSWER, CAUSES, TRUST = "Answer", "Causes", "Trust"
IN_TRUST = ("limits", "history", "reliability", "people")
CUTOFFS = {DEFAULT: "the default model of memsift", TUNED: "the model tuned to labels of this root"}
SMALLEST_P = 0.001


def sections(report: Report) -> tuple[ReportSection, ...]:
    """The sections below the summary, without those about which nothing is known."""
    if not report.systems:
        return tuple(limits(report))
    found = (
        precision(report),
        recall(report),
        injecting(report),
        *comparison_sections(report),
        *worst(report),
        *groups(report),
        *judge_sections(report),
        running(report),
        *ranking(report),
        *limits(report),
        *people_sections(report.people),
        *curve_sections(report),
    )
    return tuple(sorted(found, key=lambda section: (ANSWER, CAUSES, TRUST).index(group_of(section))))


def group_of(section: ReportSection) -> str:
    """The question that a section answers: how good it is, why it is not better, or how sure that is."""
    if section.name in ("precision", "recall", "injecting", "comparison"):
        return ANSWER
    return TRUST if section.name in IN_TRUST else CAUSES


def summary(report: Report) -> str:
    """One paragraph: the numbers of prompts and labels, the annotators and their consensus, and blind labels."""
    replayed = f"{counted(report.prompts, 'prompt')} replayed, {report.labelled_prompts:,} of them with labels."
    total = sum(report.labels.values())
    if not total and not report.stale:
        return replayed
    by = f" by {', '.join(report.annotators)}" if report.annotators else ""
    verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in report.labels.items() if number)
    stale = f"; {report.stale:,} more {'is' if report.stale == 1 else 'are'} stale" if report.stale else ""
    labels = f"{counted(total, 'label')}{by}{f': {verdicts}' if verdicts else ''}{stale}."
    memories = counted(report.judged.whole, "memory")
    agreed = f" Together they decide on {memories}: {report.judged.part:,} relevant." if report.annotators[1:] else ""
    return f"{replayed} {labels}{agreed}{blind(report.blind, report.blind_unknown)}"


def blind(given: Ratio, unknown: int) -> str:
    whole = given.whole + unknown
    if not whole:
        return ""
    number = "All" if given.part == whole else f"{given.part:,} of {whole:,}"
    rest = f"; of {unknown:,} it is not known" if unknown else ""
    return f" {number} were given blind, before ranks and verdicts were shown{rest}."


# A row for each system


def table_of(
    report: Report,
    columns: Mapping[str, Callable[[SystemReport], str]],
    weight: Callable[[Evidence, Outcome], float],
    ranged: Callable[[SystemReport], Range | None] = lambda _: None,
) -> ReportTable:
    """A row for each system. It counts the prompts with a *weight* above 0."""
    rows = (
        ReportRow(
            (system.system, *(write(system) for write in columns.values())),
            ranged(system),
            weighed_by(report.evidence, (system.system,), partial(weight, report.evidence)),
        )
        for system in report.systems
    )
    return ReportTable(("", *columns), tuple(rows))


def precision(report: Report) -> ReportSection:
    columns: dict[str, Callable[[SystemReport], str]] = {
        "precision": lambda system: decimal(system.headline.relevant.value),
        "relevant": lambda system: part_of(system.headline.relevant),
        "95 % range": lambda system: span(system.headline.interval),
        "no label": lambda system: f"{system.unjudged.part:,}",
    }
    table = table_of(
        report, columns, doubt, lambda system: range_of(system.headline.relevant.value, system.headline.interval)
    )
    return section("precision", table, unlabelled=unlabelled(report), cutoffs=cutoffs(report))


def cutoffs(report: Report) -> str:
    """The meaning of the endings in the systems' names that stand for a cutoff, and of records of injections."""
    names = " ".join(system.system for system in report.systems)
    meanings = [f"{CUTS[kind]} is {model}" for kind, model in CUTOFFS.items() if CUTS[kind] in names]
    meaning = f" In a system's name, {' and '.join(meanings)}." if meanings else ""
    return meaning + (sentence("records") if any(is_injected(system.system) for system in report.systems) else "")


def unlabelled(report: Report) -> str:
    """How injected memories without a label are counted, if there are any."""
    missing = [system for system in report.systems if system.unjudged.part]
    if not missing:
        return ""
    is_assumed = any(system.precision.whole == system.unjudged.whole for system in missing)
    return "; what has no label counts as not relevant" if is_assumed else " and has a label that counts"


def injecting(report: Report) -> ReportSection:
    columns: dict[str, Callable[[SystemReport], str]] = {
        "fires": lambda system: share(system.fire_rate),
        "false fires": lambda system: share(system.false_fire_rate),
        "irrelevant\nper prompt": lambda system: share(system.irrelevant_per_prompt),
        "for one\nword": lambda system: share(system.polluted_rate),
    }
    return section("injecting", table_of(report, columns, false_fire), listed=listed(report))


def listed(report: Report) -> str:
    """The prompts of which needs are known."""
    return "prompts" if report.evidence.listed is None else "prompts with a list card"


def recall(report: Report) -> ReportSection:
    columns: dict[str, Callable[[SystemReport], str]] = {
        "served": lambda system: share(system.served.relevant) if system.served.estimate else UNKNOWN,
        "95 %\nany time": lambda system: span(system.served.interval),
        "in the pool": lambda system: share(system.recall_in_pool),
        "of all known": lambda system: share(system.recall_of_known),
        "lost per prompt": lambda system: share(system.lost_per_prompt),
    }
    if is_known := all(system.recall_of_known.whole == system.recall_in_pool.whole for system in report.systems):
        del columns["of all known"]
    table = table_of(
        report,
        columns,
        lost,
        lambda system: range_of(system.served.estimate.value, system.served.live) if system.served.estimate else None,
    )
    known = "Of all known: with what else the labels call relevant. "
    return section("recall", table, beyond="" if is_known else known, listed=listed(report))


def running(report: Report) -> ReportSection:
    columns: dict[str, Callable[[SystemReport], str]] = {
        "prompts": lambda system: f"{system.prompts:,}",
        "silent": lambda system: f"{system.silent:,}",
        "injected": lambda system: f"{system.unjudged.whole:,}",
        "judge failed": lambda system: part_of(system.fallbacks) if system.fallbacks.whole else "",
        "median time": lambda system: "" if is_injected(system.system) else f"{system.median_ms:,.1f} ms",
    }
    return section("running", table_of(report, columns, trouble))


def ranking(report: Report) -> Iterator[ReportSection]:
    found = [system.ranked for system in report.systems if system.ranked]
    if report.lacking:
        yield replace(section("ranking", prompts=""), about=report.lacking)
    elif found and found[0].prompts:

        def mean(name: str, system: SystemReport) -> str:
            return decimal(system.ranked.means.get(name) if system.ranked else None)

        columns = {name: partial(mean, name) for name in found[0].means}
        yield section("ranking", table_of(report, columns, known_relevant), prompts=counted(found[0].prompts, "prompt"))


# Comparisons


def comparison_sections(report: Report) -> Iterator[ReportSection]:
    rows = []
    for comparison in report.comparisons:
        interval = comparison.precision.interval if comparison.precision else None
        numbers = [comparison.precision and comparison.precision.value]
        numbers += [interval.low, interval.high] if interval else [None, None]
        numbers += [comparison.irrelevant.value, comparison.relevant.value]
        cells = (UNKNOWN if number is None else f"{number:+.2f}" for number in numbers)
        systems, weight = (comparison.first, comparison.second), difference(report.evidence, comparison.first)
        rows.append(ReportRow((*systems[::-1], *cells), None, weighed_by(report.evidence, systems, weight)))
    if rows:
        head = ("system", "instead\nof", "precision", "95 %\nfrom", "95 %\nto", "not\nrelevant", "relevant")
        table = ReportTable(head, tuple(rows), names=2, is_whole=True)
        yield section("comparison", table, map(prompts_line, report.comparisons))


def prompts_line(comparison: SystemComparison) -> str:
    """The prompts behind a row. The test is of the precision per prompt, which has no interval in the table."""
    line = f"{comparison.second} against {comparison.first}: {counted(comparison.prompts, 'prompt')}."
    p = comparison.p_value
    if p is None:
        return line
    shown = f"<{SMALLEST_P}" if p < SMALLEST_P else f"{p:.3f}"
    return sentence("sign_flip", line=line, compared=comparison.compared, p_value=shown)


# Rows for parts of the prompts


BY_CONFIDENCE: Mapping[str, Callable[[Group], str]] = {
    "precision": lambda group: decimal(group.precision.ratio.value),
    "95 %\ninterval": lambda group: span(group.precision.interval),
    "relevant": lambda group: part_of(group.precision.ratio),
    "prompts": lambda group: f"{group.prompts:,}",
}
OF_PROMPTS: Mapping[str, Callable[[KindGroup], str]] = {
    "precision": lambda group: share(group.precision.ratio),
    "95 %\ninterval": lambda group: span(group.precision.interval if group.precision.ratio.whole else None),
    "served": lambda group: share(group.served),
    "false fires": lambda group: share(group.false_fires),
}
"""The columns about the memories of a confidence, and about a group of prompts."""


def by_group(
    name: str,
    report: Report,
    groups: Mapping[str, Sequence[AnyGroup]],
    columns: Mapping[str, Callable[[AnyGroup], str]],
    weight: Callable[[str, Outcome], float],
) -> Iterator[ReportSection]:
    """The known groups of each system, if a system has more than one of them. *weight* gets the name of the group."""
    known = {system: [group for group in own if group.is_known] for system, own in groups.items()}
    if max(map(len, known.values()), default=0) < 2:
        return

    def row_of(system: str, group: AnyGroup) -> ReportRow:
        precision = group.precision
        return ReportRow(
            (group.name, *(write(group) for write in columns.values())),
            range_of(precision.ratio.value, precision.interval),
            weighed_by(report.evidence, (system,), partial(weight, group.name)),
        )

    yield section(name, ReportTable(("", name, *columns), system_rows(known.items(), row_of), names=2))


def groups(report: Report) -> Iterator[ReportSection]:
    """By kind of prompt, by agent, and by confidence."""
    evidence, captions = report.evidence, report.captions

    def of_confidence(name: str, row: Outcome) -> float:
        at_level = zip(row.injected, row.confidences, strict=False)
        return marks(evidence, row, [memory_id for memory_id, level in at_level if level == name])

    def named(name_of: Callable[[Outcome], str], unknown: str, name: str, row: Outcome) -> float:
        """Prompts with an injected memory, and after them those that lack a relevant one."""
        if (name_of(row) or unknown) != name:
            return 0
        return marks(evidence, row, row.injected) + (lost(evidence, row) > 0) / 1000

    kinds, agents = partial(named, captions.kind, NO_KIND), partial(named, captions.agent, NO_AGENT)
    yield from by_group("kind", report, {own.system: own.by_kind for own in report.systems}, OF_PROMPTS, kinds)
    yield from by_group("agent", report, {own.system: own.by_agent for own in report.systems}, OF_PROMPTS, agents)
    levels = {own.system: own.by_confidence for own in report.systems}
    yield from by_group("confidence", report, levels, BY_CONFIDENCE, of_confidence)


def worst(report: Report) -> Iterator[ReportSection]:
    for one, many, found in (
        ("memory", "memories", report.worst_memories),
        ("prompt", "prompts", report.worst_prompts),
    ):
        if found:
            rows = []
            for row in found:
                alone = CountedPrompts(partial(tuple, [row.id]))
                behind = injected_with(report.evidence, row.id) if one == "memory" else alone
                rows.append(ReportRow((row.text or row.id, f"{row.irrelevant:,}", f"{row.relevant:,}"), None, behind))
            yield section(f"worst-{many}", ReportTable((one, "irrelevant", "relevant"), tuple(rows)))


def limits(report: Report) -> Iterator[ReportSection]:
    if lines := notes(report):
        yield section("limits", lines=lines)
