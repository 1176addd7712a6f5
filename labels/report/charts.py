"""The sections on agreement and on curves, and all charts of a report: drawn as SVG in a page, as text in the app."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from engine.wording import counted
from labels.measure.curves import bin_number, strengths
from labels.report.section import (
    CountedPrompts,
    ReportRow,
    ReportTable,
    decided,
    decimal,
    give_or_take,
    marks,
    range_of,
    section,
    sentence,
    share,
    span,
    system_rows,
    weighed_by,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.agreement import Agreement, Confusion, Graded, People
    from labels.measure.curves import Bin, Curves, CutPoint, Moment
    from labels.measure.intervals import Interval
    from labels.measure.metrics import Worst
    from labels.measure.report import Captions, Report, SystemReport
    from labels.records import Outcome
    from labels.report.section import ReportSection


TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
RECALL, FIRES = "recall", "fires"
ACROSS = {RECALL: "recall of all known to be relevant", FIRES: "prompts that get a memory"}


class PrecisionChart(NamedTuple):
    """A row for each system: its precision between 0 and 1, with the intervals for one look and for any look."""

    systems: Sequence[SystemReport]


class WorstChart(NamedTuple):
    """A bar for each memory or prompt: its irrelevant pairs, and after them the relevant ones."""

    name: str
    title: str
    rows: Sequence[Worst]

    @property
    def longest(self) -> int:
        """The pairs of the longest bar."""
        return max(row.irrelevant + row.relevant for row in self.rows)


def confusion_rows(counts: Confusion) -> tuple[tuple[str, tuple[int, int]], ...]:
    """The decisions of the judge, with the numbers of memories that people call relevant, and irrelevant."""
    return (
        ("the judge kept it", (counts.kept_relevant, counts.kept_irrelevant)),
        ("the judge dropped it", (counts.dropped_relevant, counts.dropped_irrelevant)),
    )


class ConfusionChart(NamedTuple):
    """A square for each of the `confusion_rows` of a system's judge. It and people agree on the diagonal."""

    system: str
    counts: Confusion
    number: int


class ChartLine(NamedTuple):
    """The points (x, y) of a system, the interval of each where it has one, and the number of the system."""

    system: str
    number: int
    points: tuple[tuple[float, float], ...]
    spans: tuple[Interval, ...] = ()


class LineChart(NamedTuple):
    """Lines over an axis from 0 to `far`; y goes from 0 to 1. `across` is the title of the axis.

    `is_band`: the intervals of a line make a band around it, else each stands at its point. `has_diagonal`: what is
    right lies on the diagonal. Without intervals, the last point of a line is the system as it is.
    """

    name: str
    title: str
    across: str
    lines: tuple[ChartLine, ...]
    far: float = 1.0
    is_band: bool = False
    has_diagonal: bool = False


def charts_of(section: str, report: Report) -> Iterator[PrecisionChart | WorstChart | ConfusionChart | LineChart]:
    """The charts of the section of that name; most sections have none."""
    if section == "precision" and report.labelled_prompts:
        yield PrecisionChart(report.systems)
    elif section == "worst-memories":
        yield WorstChart(section, "Worst memories: irrelevant and relevant injections", report.worst_memories)
    elif section == "worst-prompts":
        yield WorstChart(section, "Worst prompts: irrelevant and relevant memories", report.worst_prompts)
    elif section == "coverage":
        yield from coverage_charts(report)
    for number, figures in enumerate(report.systems):
        if section == f"judge-{figures.system}" and figures.agreement:
            yield ConfusionChart(figures.system, figures.agreement.confusion, number)
        elif figures.curves:
            yield from curve_chart(section, figures.system, figures.curves, number)


def coverage_charts(report: Report) -> Iterator[LineChart]:
    found = [
        (number, figures.system, figures.curves.coverage.points)
        for number, figures in enumerate(report.systems)
        if figures.curves and figures.curves.coverage
    ]
    for against, across in ACROSS.items() if found else ():
        lines = (
            ChartLine(system, number, tuple((getattr(point, against), point.precision) for point in points))
            for number, system, points in found
        )
        title = "Precision, if only stronger memories were injected"
        yield LineChart(f"coverage-{against}", title, across, tuple(lines))


def curve_chart(section: str, system: str, curves: Curves, number: int) -> Iterator[LineChart]:
    """The chart of one system for the sections on its history and its reliability."""
    if section == "history" and curves.history:
        points = tuple((moment.prompts, moment.precision) for moment in curves.history)
        line = ChartLine(system, number, points, tuple(moment.live for moment in curves.history))
        title = "Precision so far, between the ends of its interval"
        yield LineChart(f"history-{number}", title, "labelled prompts", (line,), points[-1][0], is_band=True)
    elif section == "reliability" and curves.reliability:
        bins = curves.reliability.bins
        spans = tuple(bucket.interval for bucket in bins)
        line = ChartLine(system, number, tuple((bucket.said, bucket.found) for bucket in bins), spans)
        title, across = "Relevant share, with its 95 % interval", "said probability; true on the diagonal"
        yield LineChart(f"reliability-{number}", title, across, (line,), has_diagonal=True)


SHOWN_DISAGREEMENTS, SHOWN_POINTS = 10, 6
T = TypeVar("T")


# The sections on agreement: the judge against people, and people with each other


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
    for ratio, interval, words in (
        (agreement.sensitivity, agreement.sensitivity_interval, "relevant ones it kept (sensitivity)"),
        (agreement.specificity, agreement.specificity_interval, "irrelevant ones it dropped (specificity)"),
    ):
        grade = "unknown" if interval is None else f"{share(ratio)}, 95 % interval {span(interval)}"
        yield f"Of the {words}: {grade}."
    kappa = give_or_take(agreement.kappa, agreement.kappa_se)
    kappa += "" if kappa == decimal(agreement.kappa) else " (standard error)"
    yield sentence("agreement", share=share(agreement.raw), kappa=kappa, ac1=decimal(agreement.ac1))
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


# The sections on curves: what a stricter cutoff would cost, how precision became known, and whether P is true


def curve_sections(report: Report) -> Iterator[ReportSection]:
    """Precision against coverage, precision over time, and reliability, as far as they are known."""
    evidence, found = report.evidence, [(system.system, system.curves) for system in report.systems if system.curves]

    def above(by: str, least: float, row: Outcome) -> float:
        stronger = zip(row.injected, strengths(row, by), strict=False)
        return marks(evidence, row, [name for name, own in stronger if own is not None and own >= least])

    def cut(system: str, at: tuple[str, CutPoint]) -> ReportRow:
        by, point = at
        cells = (*map(decimal, (point.least, point.precision, point.recall, point.fires)), f"{point.judged:,}")
        return ReportRow(cells, None, weighed_by(evidence, (system,), partial(above, by, point.least)))

    covered = [(name, own.coverage) for name, own in found if own.coverage]
    if rows := system_rows([(name, [(own.by, point) for point in some(own.points)]) for name, own in covered], cut):
        along = " or ".join(sorted({own.by for _, own in covered}))
        table = ReportTable(("", "at least", "precision", "recall", "fires", "labelled"), rows)
        yield section("coverage", table, along=along)

    def moment(system: str, at: Moment) -> ReportRow:
        behind = CountedPrompts(lambda: [*evidence.sample(system).judged][: at.prompts], (system,))
        cells = (f"{at.prompts:,}", decimal(at.precision), span(at.live))
        return ReportRow(cells, range_of(at.precision, at.live), behind)

    if rows := system_rows([(name, some(own.history)) for name, own in found], moment):
        yield section("history", ReportTable(("", "prompts", "precision", "95 %, any time"), rows))

    def in_bin(number: int, row: Outcome) -> float:
        return marks(evidence, row, [name for name, p in row.probabilities.items() if bin_number(p) == number])

    def bucket(system: str, own: Bin) -> ReportRow:
        cells = (f"{own.said:.2f}", f"{own.found:.2f}", span(own.interval), f"{own.memories:,}")
        behind = weighed_by(evidence, (system,), partial(in_bin, bin_number(own.said)))
        return ReportRow(cells, range_of(own.found, own.interval), behind)

    reliable = [(name, own.reliability) for name, own in found if own.reliability]
    if rows := system_rows([(name, own.bins) for name, own in reliable], bucket):
        table = ReportTable(("", "said", "found", "95 % interval", "memories"), rows)
        yield section("reliability", table, (f"{name}: Brier score {own.brier:.3f}." for name, own in reliable))


def some(points: Sequence[T]) -> list[T]:
    """At most SHOWN_POINTS of them, evenly spread, the first and the last among them."""
    if len(points) <= SHOWN_POINTS:
        return list(points)
    return [points[round(at * (len(points) - 1) / (SHOWN_POINTS - 1))] for at in range(SHOWN_POINTS)]
