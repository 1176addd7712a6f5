"""The parts of a report, in the order in which it is read. Text, Markdown, HTML and the app's screen all show these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.measure.forms.comparison_section import comparison_section
from labels.measure.forms.curve_sections import curve_sections
from labels.measure.forms.figures import counted, decimal, part_of, percent, rate, share, span
from labels.measure.forms.judge_section import judge_sections
from labels.measure.forms.people_section import people_section
from labels.measure.forms.section import Section, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from labels.measure.groups import Group
    from labels.measure.report import Report
    from labels.measure.systems import SystemReport
    from labels.measure.worst import Worst


def sections(report: Report) -> tuple[Section, ...]:
    """Everything that *report* says below its summary; parts about which nothing is known are left out."""
    if not report.systems:
        return tuple(limits(report))
    return (
        precision(report),
        injecting(report),
        recall(report),
        *([comparison_section(report.comparisons)] if report.comparisons else []),
        *grouped("confidence", "Precision by confidence", report, lambda one: one.by_confidence),
        *grouped("kind", "Precision by kind of prompt", report, lambda one: one.by_kind),
        *curve_sections(report),
        *ranking(report),
        *judges(report),
        *([people_section(report.people)] if report.people else []),
        *worst("memory", "memories", report.worst_memories),
        *worst("prompt", "prompts", report.worst_prompts),
        running(report),
        *limits(report),
    )


def summary(report: Report) -> str:
    """One paragraph: prompts, and if there are labels how many, whose and how blind."""
    replayed = f"{counted(report.prompts, 'prompt')} replayed, {report.labelled_prompts:,} of them with labels."
    total = sum(report.labels.values())
    if not total and not report.stale:
        return replayed
    verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in report.labels.items())
    by = f" by {', '.join(report.annotators)}" if report.annotators else ""
    blind = f" {percent(report.blind.part, report.blind.whole)} were given blind." if report.blind.whole else ""
    weighed = " Numbers with a ~ are weighed: the last part says why." if has_weights(report) else ""
    return f"{replayed} {counted(total, 'label')}{by}: {verdicts}; {report.stale:,} more are stale.{blind}{weighed}"


def has_weights(report: Report) -> bool:
    """Whether any prompt or memory counts for more than one."""
    ratios = [ratio for one in report.systems for ratio in (one.precision, one.lost_per_prompt, one.recall_in_pool)]
    ratios += [one.agreement.raw for one in report.systems if one.agreement]
    return any(ratio.weighted is not None for ratio in ratios)


def precision(report: Report) -> Section:
    live = has_order(report)
    looks = ": in the first if one looks once, when all labels are there; in the second however often one looks"
    return Section(
        "precision",
        "Precision: how much of what was injected is relevant",
        "Relevant of what was injected and labelled, over all prompts. The true precision is in the 95 % interval 19 "
        f"times of 20{looks if live else ''}. Could be: if every unlabelled memory were irrelevant, or every one "
        "relevant.",
        table_of(
            report,
            {
                "precision": lambda one: rate(one.precision),
                ("95 %\none look" if live else "95 % interval"): lambda one: span(one.interval),
                **({"95 %\nany look": lambda one: span(one.live)} if live else {}),
                "relevant": lambda one: part_of(one.precision),
                "could be": lambda one: span(one.bounds),
            },
        ),
    )


def has_order(report: Report) -> bool:
    return any(one.live for one in report.systems)


def injecting(report: Report) -> Section:
    measured = max(one.irrelevant_per_prompt.whole for one in report.systems)
    return Section(
        "injecting",
        "Injecting: how often a system speaks, and how often in vain",
        "Fires: prompts that got a memory, of all. Fires in vain: the same of prompts for which nothing is relevant. "
        f"Per prompt: irrelevant memories, over the {counted(measured, 'prompt that is', 'prompts that are')} "
        "measured. Polluted: prompts with an irrelevant memory that a single word had found.",
        table_of(
            report,
            {
                "fires": lambda one: share(one.fire_rate),
                "fires in vain": lambda one: share(one.false_fire_rate),
                "irrelevant\nper prompt": lambda one: rate(one.irrelevant_per_prompt),
                "polluted": lambda one: share(one.polluted_rate),
            },
        ),
    )


def recall(report: Report) -> Section:
    beyond = any(one.recall_of_known.whole != one.recall_in_pool.whole for one in report.systems)
    return Section(
        "recall",
        "Recall: how much of what is relevant was injected",
        "In the pool: of what any system brought up and people call relevant. "
        f"{'Of all known: with what else the labels call relevant. ' if beyond else ''}"
        "Lost per prompt: relevant memories of the pool that were not injected.",
        table_of(
            report,
            {
                "in the pool": lambda one: share(one.recall_in_pool),
                **({"of all known": lambda one: share(one.recall_of_known)} if beyond else {}),
                "lost per prompt": lambda one: share(one.lost_per_prompt),
            },
        ),
    )


def running(report: Report) -> Section:
    return Section(
        "running",
        "Running",
        "Silent: prompts that got no memory. Injected: memories, of which some have no label. Judge failed: of the "
        "prompts on which it was asked. It rejects nothing then: what was injected instead is what was measured.",
        table_of(
            report,
            {
                "prompts": lambda one: f"{one.prompts:,}",
                "silent": lambda one: f"{one.silent:,}",
                "injected": lambda one: f"{one.unjudged.whole:,}",
                "unlabelled": lambda one: f"{one.unjudged.part:,}",
                "judge failed": lambda one: f"{one.fallbacks.part:,} of {one.asked:,}" if one.asked else "",
                "median time": lambda one: f"{one.median_ms:,.1f} ms",
            },
        ),
    )


def table_of(report: Report, columns: dict[str, Callable[[SystemReport], str]]) -> Table:
    """A row for each system."""
    rows = ((one.system, *(write(one) for write in columns.values())) for one in report.systems)
    return Table(("", *columns), tuple(rows))


def grouped(
    name: str, title: str, report: Report, groups: Callable[[SystemReport], Sequence[Group]]
) -> Iterator[Section]:
    """Precision of the groups of each system, if any has more than one."""
    if max((len(groups(one)) for one in report.systems), default=0) < 2:
        return
    head = ("", name, "precision", "95 % interval", "relevant", "prompts")
    rows = [
        (one.system if at == 0 else "", *group_cells(group))
        for one in report.systems
        for at, group in enumerate(groups(one))
    ]
    yield Section(name, title, "", Table(head, tuple(rows), names=2))


def group_cells(group: Group) -> tuple[str, ...]:
    found = group.precision.ratio
    return group.name, rate(found), span(group.precision.interval), part_of(found), f"{group.prompts:,}"


def judges(report: Report) -> Iterator[Section]:
    for one in report.systems:
        if one.agreement:
            yield from judge_sections(one.system, one.agreement, report.names)


def ranking(report: Report) -> Iterator[Section]:
    found = [(one.system, one.ranked) for one in report.systems if one.ranked and one.ranked.prompts]
    if found:
        measures = list(found[0][1].means)
        rows = tuple((system, *(decimal(ranked.means[name]) for name in measures)) for system, ranked in found)
        yield Section(
            "ranking",
            "Ranking, as TREC counts it",
            f"Means over the {counted(found[0][1].prompts, 'prompt')} with something relevant, to compare with other "
            "collections. P@k divides by k and AP by all that is relevant, so both punish a system for holding back.",
            Table(("", *measures), rows),
        )


def worst(one: str, many: str, found: Sequence[Worst]) -> Iterator[Section]:
    if found:
        about = {
            "memory": "Memories that were injected for most prompts without being relevant, by any system.",
            "prompt": "Prompts that drew most irrelevant memories, from all systems together.",
        }[one]
        rows = tuple((each.text or each.id, f"{each.irrelevant:,}", f"{each.relevant:,}") for each in found)
        yield Section(f"worst-{many}", f"Worst {many}", about, Table((one, "irrelevant", "relevant"), rows))


def limits(report: Report) -> Iterator[Section]:
    if report.notes:
        yield Section("limits", "What these numbers cannot say", lines=report.notes)
