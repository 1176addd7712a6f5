"""The report for a screen: precision with its interval drawn to scale, a table, and what it cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from labels.measure.text import share, span
from tui.plain import cells, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from labels.measure.agreement import Agreement
    from labels.measure.metrics import Ratio
    from labels.measure.report import Report, SystemReport

MUTED = "$foreground-muted"
NAME_WIDTH = 26
SYSTEM_WIDTH = 14
VALUE_WIDTH = 15
INTERVAL_WIDTH = 11
FIGURES_WIDTH = 30
MIN_SCALE, MAX_SCALE = 14, 60

ROWS: tuple[tuple[str, Callable[[SystemReport], Ratio]], ...] = (
    ("prompts given a memory", lambda one: one.fire_rate),
    ("… with none relevant", lambda one: one.false_fire_rate),
    ("irrelevant per prompt", lambda one: one.irrelevant_per_prompt),
    ("relevant lost per prompt", lambda one: one.lost_per_prompt),
    ("recall within the pool", lambda one: one.recall_in_pool),
    ("injected but unjudged", lambda one: one.unjudged),
    ("judge failed", lambda one: one.fallbacks),
)
NOTHING_REPLAYED = (
    "No prompt was replayed yet.\n\n"
    "Press r to run every prompt through every system, then F4 to label what they return."
)
NOTHING_LABELLED = "Nothing is labelled yet, so precision is unknown. Press F4 to label."


def report_text(report: Report, width: int) -> Content:
    """The whole report, *width* cells wide."""
    if not report.systems:
        return plain(NOTHING_REPLAYED)
    lines = [*_summary(report), Content(""), *_precision(report, width), Content(""), *_table(report)]
    for system in report.systems:
        if system.agreement:
            lines += [Content(""), *_judge(system.system, system.agreement)]
    if report.notes:
        lines += [Content(""), _heading("What these numbers cannot say")]
        lines += [plain(f"- {note}").stylize_before(MUTED) for note in report.notes]
    return Content("\n").join(lines)


def _summary(report: Report) -> Iterator[Content]:
    counts = {name: number for name, number in report.labels.items() if number}
    total = sum(counts.values())
    yield plain(f"{_count(report.prompts, 'prompt')} replayed, {report.labelled_prompts:,} of them with labels.")
    if not total:
        yield plain(NOTHING_LABELLED)
        return
    verdicts = ", ".join(f"{number:,} {name}" for name, number in counts.items())
    blind = f"; {100 * report.blind.part / report.blind.whole:.0f} % given blind" if report.blind.whole else ""
    stale = f"; {report.stale:,} more are stale" if report.stale else ""
    yield plain(f"{_count(total, 'label')}: {verdicts}{blind}{stale}.")


def _precision(report: Report, width: int) -> Iterator[Content]:
    scale = max(MIN_SCALE, min(MAX_SCALE, width - SYSTEM_WIDTH - FIGURES_WIDTH))
    yield _heading("Precision: relevant among the injected (95 % interval)")
    for system in report.systems:
        yield _precision_line(system, scale)
    ends = "0" + "1".rjust(scale - 1)
    middle = ends[: scale // 2 - 1] + "0.5" + ends[scale // 2 + 2 :]
    yield plain(" " * (SYSTEM_WIDTH + 6) + middle).stylize_before(MUTED)


def _precision_line(system: SystemReport, scale: int) -> Content:
    name = plain(cells(system.system, SYSTEM_WIDTH))
    value = system.precision.value
    if value is None or system.interval is None:
        return name + plain("  -   nothing judged yet").stylize_before(MUTED)
    bar = interval_bar(system.interval.low, value, system.interval.high, scale)
    figures = f" {span(system.interval):<{INTERVAL_WIDTH}}{system.precision.part} of {system.precision.whole}"
    return name + plain(f"{value:.2f}  ").stylize_before("bold") + bar + plain(figures)


def interval_bar(low: float, point: float, high: float, width: int) -> Content:
    """An interval on a scale from 0 to 1 that is *width* cells wide; the point is a dot."""
    first, dot, last = (round(share_of_scale * (width - 1)) for share_of_scale in (low, point, high))
    drawn = "".join(_sign(i, first, dot, last) for i in range(width))
    return Content(drawn).stylize(MUTED).stylize("$text-success", first, last + 1).stylize("bold", dot, dot + 1)


def _sign(i: int, first: int, dot: int, last: int) -> str:
    if i == dot:
        return "●"
    if i == first:
        return "├"
    if i == last:
        return "┤"
    return "─" if first < i < last else "·"


def _table(report: Report) -> Iterator[Content]:
    names = "".join(cells(one.system, VALUE_WIDTH) for one in report.systems)
    yield _heading(cells("Per system", NAME_WIDTH) + names)
    for name, ratio in ROWS:
        values = "".join(cells(share(ratio(one)), VALUE_WIDTH) for one in report.systems)
        yield plain(cells(name, NAME_WIDTH) + values)
    times = "".join(cells(f"{one.median_ms:,.1f} ms", VALUE_WIDTH) for one in report.systems)
    yield plain(cells("median time", NAME_WIDTH) + times)


def _judge(system: str, agreement: Agreement) -> Iterator[Content]:
    counts = agreement.confusion
    yield _heading(f"The judge of {system}, against people")
    yield plain(cells("", NAME_WIDTH) + cells("relevant", VALUE_WIDTH) + "irrelevant").stylize_before(MUTED)
    yield plain(cells("kept", NAME_WIDTH) + cells(str(counts.kept_relevant), VALUE_WIDTH) + str(counts.kept_irrelevant))
    dropped = cells(str(counts.dropped_relevant), VALUE_WIDTH) + str(counts.dropped_irrelevant)
    yield plain(cells("dropped", NAME_WIDTH) + dropped)
    kappa = "unknown" if agreement.kappa is None else f"{agreement.kappa:.2f} (0 is chance, 1 is perfect)"
    yield plain(f"They agree on {share(agreement.raw)}; Cohen's kappa {kappa}.")
    yield plain(
        f"Of the relevant it kept {share(agreement.sensitivity)}, of the irrelevant it dropped "
        f"{share(agreement.specificity)}."
    )


def _heading(text: str) -> Content:
    return plain(text).stylize_before("bold $text-primary")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
