"""The sections of a report, in the order of reading. Text, Markdown, HTML and the screen of the app all show these."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from engine.config import CUTS, DEFAULT, TUNED, is_injected
from engine.wording import counted
from labels.measure.metrics import estimated
from labels.report.agreement_sections import judge_sections, people_section
from labels.report.notes import notes
from labels.report.section import (
    TEXTS,
    UNKNOWN,
    ReportSection,
    ReportTable,
    decimal,
    part_of,
    range_of,
    rate,
    section,
    sentence,
    share,
    span,
    system_rows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from labels.measure.comparison import Difference, SystemComparison
    from labels.measure.curves import Coverage, Moment, ReliabilityCurve
    from labels.measure.groups import Group, KindGroup, Worst
    from labels.measure.metrics import Ratio
    from labels.measure.report import Report, SystemReport
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
        *([comparison_section(report.comparisons)] if report.comparisons else []),
        *worst("memory", "memories", report.worst_memories),
        *worst("prompt", "prompts", report.worst_prompts),
        *by_kind(report),
        *by_agent(report),
        *by_confidence(report),
        *judges(report),
        running(report),
        *ranking(report),
        *limits(report),
        *([people_section(report.people)] if report.people else []),
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
    weighed = (
        f" Numbers with a ~ are weighed: “{TEXTS['sections']['limits']['title']}” says why."
        if has_weights(report)
        else ""
    )
    labels = f"{counted(total, 'label')}{by}{f': {verdicts}' if verdicts else ''}{stale}."
    return f"{replayed} {labels}{agreed(report)}{blind(report.blind, report.blind_unknown)}{weighed}"


def agreed(report: Report) -> str:
    """The consensus, where more than one person labelled."""
    if len(report.annotators) < 2:
        return ""
    memories = counted(report.judged.whole, "memory")
    return f" Together they decide on {memories}: {report.judged.part:,} relevant."


def blind(given: Ratio, unknown: int) -> str:
    whole = given.whole + unknown
    if not whole:
        return ""
    number = "All" if given.part == whole else f"{given.part:,} of {whole:,}"
    rest = f"; of {unknown:,} it is not known" if unknown else ""
    return f" {number} were given blind, before ranks and verdicts were shown{rest}."


def has_weights(report: Report) -> bool:
    """Whether any prompt or memory counts for more than one."""
    ratios = [
        ratio
        for system in report.systems
        for ratio in (system.precision, system.lost_per_prompt, system.recall_in_pool)
    ]
    ratios += [system.agreement.raw for system in report.systems if system.agreement]
    return any(ratio.weighted is not None for ratio in ratios)


def precision(report: Report) -> ReportSection:
    live = has_order(report)
    table = table_of(
        report,
        {
            "precision": lambda system: rate(system.precision),
            "relevant": lambda system: part_of(system.precision),
            ("95 %\nasked once" if live else "95 % range"): lambda system: span(system.interval),
            **({"95 %\nany time": lambda system: span(system.live)} if live else {}),
            "no label": lambda system: f"{system.unjudged.part:,}",
        },
        lambda system: range_of(system.precision.value, system.interval, system.live),
    )
    looks = sentence("looks") if live else ""
    words = {"unlabelled": unlabelled(report), "partly": partly(report), "looks": looks, "cutoffs": cutoffs(report)}
    return section("precision", table, **words)


def cutoffs(report: Report) -> str:
    """The meaning of the endings in the systems' names that stand for a cutoff, and of records of injections."""
    names = " ".join(system.system for system in report.systems)
    said = [f"{CUTS[kind]} is {model}" for kind, model in CUTOFFS.items() if CUTS[kind] in names]
    meaning = f" In a system's name, {' and '.join(said)}." if said else ""
    return meaning + (sentence("records") if any(is_injected(system.system) for system in report.systems) else "")


def partly(report: Report) -> str:
    """Why the first lines have another precision, if they have."""
    if all(system.headline.relevant.whole == system.precision.whole for system in report.systems):
        return ""
    return sentence("partly")


def unlabelled(report: Report) -> str:
    """How injected memories without a label are counted, if there are any."""
    missing = [system for system in report.systems if system.unjudged.part]
    if not missing:
        return ""
    is_assumed = any(system.precision.whole == system.unjudged.whole for system in missing)
    return "; what has no label counts as not relevant" if is_assumed else " and has a label that counts"


def has_order(report: Report) -> bool:
    return any(system.live for system in report.systems)


def comparison_section(comparisons: Sequence[SystemComparison]) -> ReportSection:
    head = ("system", "instead\nof", "precision", "95 %\nfrom", "95 %\nto", "not\nrelevant", "relevant")
    table = ReportTable(head, tuple(map(comparison_row, comparisons)), names=2, is_whole=True)
    return section("comparison", table, map(prompts_line, comparisons))


def prompts_line(comparison: SystemComparison) -> str:
    """The prompts behind a row. The test is of the precision per prompt, which has no interval in the table."""
    line = f"{comparison.second} against {comparison.first}: {counted(comparison.prompts, 'prompt')}."
    if comparison.p_value is None:
        return line
    p = p_value(comparison.p_value)
    return sentence("sign_flip", line=line, compared=comparison.compared, p_value=p)


def comparison_row(comparison: SystemComparison) -> tuple[str, ...]:
    changes = (signed(comparison.irrelevant), signed(comparison.relevant))
    return comparison.second, comparison.first, signed(comparison.precision), *ends_of(comparison.precision), *changes


def signed(difference: Difference | None) -> str:
    return UNKNOWN if difference is None else f"{difference.value:+.2f}"


def ends_of(difference: Difference | None) -> tuple[str, str]:
    if difference is None or difference.interval is None:
        return UNKNOWN, UNKNOWN
    return f"{difference.interval.low:+.2f}", f"{difference.interval.high:+.2f}"


def p_value(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"<{SMALLEST_P}" if value < SMALLEST_P else f"{value:.3f}"


def injecting(report: Report) -> ReportSection:
    columns: dict[str, Callable[[SystemReport], str]] = {
        "fires": lambda system: share(system.fire_rate),
        "false fires": lambda system: share(system.false_fire_rate),
        "irrelevant\nper prompt": lambda system: share(system.irrelevant_per_prompt),
        "for one\nword": lambda system: share(system.polluted_rate),
    }
    return section("injecting", table_of(report, columns))


def recall(report: Report) -> ReportSection:
    beyond = any(system.recall_of_known.whole != system.recall_in_pool.whole for system in report.systems)
    table = table_of(
        report,
        {
            "served": served,
            "95 %\nany time": lambda system: span(system.served.live if system.served.estimate else None),
            "in the pool": lambda system: share(system.recall_in_pool),
            **({"of all known": lambda system: share(system.recall_of_known)} if beyond else {}),
            "lost per prompt": lambda system: share(system.lost_per_prompt),
        },
        lambda system: range_of(system.served.estimate.value, system.served.live) if system.served.estimate else None,
    )
    known = "Of all known: with what else the labels call relevant. "
    return section("recall", table, beyond=known if beyond else "")


def served(system: SystemReport) -> str:
    found = system.served
    return share(estimated(found.relevant, found.estimate.value, 1.0)) if found.estimate else UNKNOWN


def running(report: Report) -> ReportSection:
    columns: dict[str, Callable[[SystemReport], str]] = {
        "prompts": lambda system: f"{system.prompts:,}",
        "silent": lambda system: f"{system.silent:,}",
        "injected": lambda system: f"{system.unjudged.whole:,}",
        "judge failed": lambda system: part_of(system.fallbacks) if system.fallbacks.whole else "",
        "median time": lambda system: "" if is_injected(system.system) else f"{system.median_ms:,.1f} ms",
    }
    return section("running", table_of(report, columns))


def table_of(
    report: Report,
    columns: dict[str, Callable[[SystemReport], str]],
    ranged: Callable[[SystemReport], Range | None] | None = None,
) -> ReportTable:
    """A row for each system."""
    rows = ((system.system, *(write(system) for write in columns.values())) for system in report.systems)
    ranges = tuple(map(ranged, report.systems)) if ranged else ()
    return ReportTable(("", *columns), tuple(rows), ranges=ranges)


def by_confidence(report: Report) -> Iterator[ReportSection]:
    columns: dict[str, Callable[[Group], str]] = {
        "precision": lambda group: rate(group.precision.ratio),
        "95 %\ninterval": lambda group: span(group.precision.interval),
        "relevant": lambda group: part_of(group.precision.ratio),
        "prompts": lambda group: f"{group.prompts:,}",
    }
    return by_group("confidence", {system.system: system.by_confidence for system in report.systems}, columns)


OF_PROMPTS: Mapping[str, Callable[[KindGroup], str]] = {
    "precision": lambda group: share(group.precision.ratio),
    "95 %\ninterval": lambda group: span(group.precision.interval if group.precision.ratio.whole else None),
    "served": lambda group: share(group.served),
    "false fires": lambda group: share(group.false_fires),
}
"""The columns about a group of prompts."""


def by_kind(report: Report) -> Iterator[ReportSection]:
    return by_group("kind", {system.system: system.by_kind for system in report.systems}, OF_PROMPTS)


def by_agent(report: Report) -> Iterator[ReportSection]:
    return by_group("agent", {system.system: system.by_agent for system in report.systems}, OF_PROMPTS)


def by_group(
    name: str, groups: Mapping[str, Sequence[AnyGroup]], columns: Mapping[str, Callable[[AnyGroup], str]]
) -> Iterator[ReportSection]:
    """The known groups of each system, if a system has more than one of them."""
    known = {system: [group for group in own if group.is_known] for system, own in groups.items()}
    if max(map(len, known.values()), default=0) < 2:
        return
    every = (group.precision for own in known.values() for group in own)
    rows = system_rows(known.items(), lambda group: (group.name, *(write(group) for write in columns.values())))
    ranges = tuple(range_of(found.ratio.value, found.interval) for found in every)
    yield section(name, ReportTable(("", name, *columns), rows, names=2, ranges=ranges))


def judges(report: Report) -> Iterator[ReportSection]:
    for system in report.systems:
        if system.agreement:
            yield from judge_sections(system.system, system.agreement, report.captions, system.assumed)


def ranking(report: Report) -> Iterator[ReportSection]:
    found = [(system.system, system.ranked) for system in report.systems if system.ranked]
    if report.lacking:
        yield replace(section("ranking", prompts=""), about=report.lacking)
    elif found and found[0][1].prompts:
        measures = list(found[0][1].means)
        rows = tuple((system, *(decimal(ranked.means.get(name)) for name in measures)) for system, ranked in found)
        yield section("ranking", ReportTable(("", *measures), rows), prompts=counted(found[0][1].prompts, "prompt"))


def worst(one: str, many: str, found: Sequence[Worst]) -> Iterator[ReportSection]:
    if found:
        rows = tuple((row.text or row.id, f"{row.irrelevant:,}", f"{row.relevant:,}") for row in found)
        yield section(f"worst-{many}", ReportTable((one, "irrelevant", "relevant"), rows))


def limits(report: Report) -> Iterator[ReportSection]:
    if lines := notes(report):
        yield section("limits", lines=lines)


SHOWN_POINTS = 6
T = TypeVar("T")


def curve_sections(report: Report) -> Iterator[ReportSection]:
    """Precision against coverage, precision over time, and reliability, as far as they are known."""
    found = [(system.system, system.curves) for system in report.systems if system.curves]
    yield from coverage([(name, curves.coverage) for name, curves in found if curves.coverage])
    yield from history([(name, curves.history) for name, curves in found if curves.history])
    yield from reliability([(name, curves.reliability) for name, curves in found if curves.reliability])


def reliability(found: Sequence[tuple[str, ReliabilityCurve]]) -> Iterator[ReportSection]:
    rows = system_rows(
        [(name, curve.bins) for name, curve in found],
        lambda bucket: (f"{bucket.said:.2f}", f"{bucket.found:.2f}", span(bucket.interval), f"{bucket.memories:,}"),
    )
    if rows:
        ranges = tuple(range_of(bucket.found, bucket.interval) for _, curve in found for bucket in curve.bins)
        table = ReportTable(("", "said", "found", "95 % interval", "memories"), rows, ranges=ranges)
        yield section("reliability", table, (f"{name}: Brier score {curve.brier:.3f}." for name, curve in found))


def coverage(curves: Sequence[tuple[str, Coverage]]) -> Iterator[ReportSection]:
    rows = system_rows(
        [(name, some(curve.points)) for name, curve in curves],
        lambda at: (*map(decimal, (at.least, at.precision, at.recall, at.fires)), f"{at.judged:,}"),
    )
    if rows:
        along = " or ".join(sorted({curve.by for _, curve in curves}))
        table = ReportTable(("", "at least", "precision", "recall", "fires", "labelled"), rows)
        yield section("coverage", table, along=along)


def history(found: Sequence[tuple[str, Sequence[Moment]]]) -> Iterator[ReportSection]:
    rows = system_rows(
        [(name, some(moments)) for name, moments in found],
        lambda moment: (f"{moment.prompts:,}", decimal(moment.precision), span(moment.live)),
    )
    if rows:
        ranges = tuple(range_of(moment.precision, moment.live) for _, moments in found for moment in some(moments))
        yield section("history", ReportTable(("", "prompts", "precision", "95 %, any time"), rows, ranges=ranges))


def some(points: Sequence[T]) -> list[T]:
    """At most SHOWN_POINTS of them, evenly spread, the first and the last among them."""
    if len(points) <= SHOWN_POINTS:
        return list(points)
    return [points[round(at * (len(points) - 1) / (SHOWN_POINTS - 1))] for at in range(SHOWN_POINTS)]
