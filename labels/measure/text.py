"""A report as text, Markdown or JSON. Ids and names come from files, so nothing of them reaches a terminal raw."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from labels.measure.metrics import Ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from labels.measure.agreement import Agreement, Comparison
    from labels.measure.intervals import Interval
    from labels.measure.report import Report, SystemReport

UNKNOWN = "-"
SHOWN_DISAGREEMENTS = 10

ROWS: tuple[tuple[str, Callable[[SystemReport], str]], ...] = (
    ("precision (relevant / judged injected)", lambda each: share(each.precision)),
    ("  95 % interval", lambda each: span(each.interval)),
    ("  lowest - highest by what is unjudged", lambda each: span(each.bounds)),
    ("injected memories unjudged", lambda each: share(each.unjudged)),
    ("fire rate: prompts that got a memory", lambda each: share(each.fire_rate)),
    ("false-fire rate: if nothing is relevant", lambda each: share(each.false_fire_rate)),
    ("silent prompts: got no memory", lambda each: str(each.silent)),
    ("irrelevant memories per judged prompt", lambda each: share(each.irrelevant_per_prompt)),
    ("relevant lost per judged prompt", lambda each: share(each.lost_per_prompt)),
    ("recall in the pool of all systems", lambda each: share(each.recall_in_pool)),
    ("recall of all known to be relevant", lambda each: share(each.recall_of_known)),
    ("prompts on which the judge failed", lambda each: share(each.fallbacks)),
    ("median time", lambda each: f"{each.median_ms:.1f} ms"),
)
"""The table's rows: what a number is, and how to write it for one system."""


def format_text(report: Report) -> str:
    """The report for a terminal: a headline for each system, a table, the judge's grades and the notes."""
    parts = [summary(report), headlines(report), table(report)]
    parts += [f"Judge of {printable(system)}, against people\n{grades(agreed)}" for system, agreed in graded(report)]
    if report.notes:
        parts.append("What these numbers cannot say\n" + "\n".join(f"- {printable(note)}" for note in report.notes))
    return "\n\n".join(part for part in parts if part) + "\n"


def format_markdown(report: Report) -> str:
    """The report as Markdown with a table of all systems."""
    parts = [
        "# memsift report",
        escaped_lines(summary(report)),
        markdown_list(headlines(report)),
        markdown_table(report),
    ]
    for system, agreed in graded(report):
        parts += [f"## Judge of {escaped(system)}, against people", markdown_list(grades(agreed))]
    if report.notes:
        parts += ["## What these numbers cannot say", markdown_list("\n".join(report.notes))]
    return "\n\n".join(part for part in parts if part) + "\n"


def format_json(report: Report) -> str:
    """Every field of the report; a ratio is {"value", "part", "whole"}, its value null where it is unknown."""
    return json.dumps(plain(report), indent=2) + "\n"


def plain(value: Any) -> Any:
    if isinstance(value, Ratio):
        return {"value": value.value, "part": value.part, "whole": value.whole}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return dict(value) if hasattr(value, "items") else value


def summary(report: Report) -> str:
    """One or two lines: prompts, and if there are labels how many, whose and how blind."""
    lines = [f"{report.prompts} prompts replayed, {report.labelled_prompts} of them with judgements."]
    total = sum(report.labels.values())
    if total or report.stale:
        verdicts = ", ".join(f"{number} {verdict}" for verdict, number in report.labels.items())
        by = f" by {', '.join(map(printable, report.annotators))}" if report.annotators else ""
        lines.append(f"{total} labels{by}: {verdicts}; {report.stale} more are stale. {blindness(report.blind)}")
    return "\n".join(line.rstrip() for line in lines)


def blindness(blind: Ratio) -> str:
    return f"{100 * blind.part / blind.whole:.0f} % were given blind." if blind.whole else ""


def headlines(report: Report) -> str:
    width = max((len(printable(each.system)) for each in report.systems), default=0)
    return "\n".join(f"{printable(each.system):<{width}}  {headline(each)}" for each in report.systems)


def headline(system: SystemReport) -> str:
    """The precision of a system in one sentence."""
    ratio = system.precision
    if ratio.value is None:
        return f"precision unknown: none of {system.unjudged.whole} injected memories is judged"
    unjudged = f", {system.unjudged.part} more unjudged" if system.unjudged.whole > ratio.whole else ""
    return (
        f"precision {ratio.value:.2f} (95 % interval {span(system.interval)}): "
        f"{ratio.part} of {ratio.whole} injected were relevant{unjudged}"
    )


def table(report: Report) -> str:
    """Rows of numbers, a column for each system, aligned to the right."""
    if not report.systems:
        return ""
    rows = [("", [printable(each.system) for each in report.systems]), *cells(report)]
    name_width = max(len(name) for name, _ in rows)
    widths = [max(len(row[column]) for _, row in rows) for column in range(len(report.systems))]
    return "\n".join(
        "   ".join([f"{name:<{name_width}}", *(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))])
        for name, row in rows
    )


def markdown_table(report: Report) -> str:
    if not report.systems:
        return ""
    head = ["", *(escaped(each.system) for each in report.systems)]
    rule = ["---", *("---:" for _ in report.systems)]
    body = [[name.strip(), *row] for name, row in cells(report)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


def cells(report: Report) -> list[tuple[str, list[str]]]:
    rows = [(name, [write(each) for each in report.systems]) for name, write in ROWS]
    return [("prompts", [str(each.prompts) for each in report.systems]), *rows]


def graded(report: Report) -> list[tuple[str, Agreement]]:
    return [(each.system, each.agreement) for each in report.systems if each.agreement is not None]


def grades(agreement: Agreement) -> str:
    """The judge's confusion with people, its rates and the first disagreements."""
    return "\n".join([*grade_lines(agreement), *disagreement_lines(agreement)])


def grade_lines(agreement: Agreement) -> Iterator[str]:
    counts, sensitivity, specificity = agreement.confusion, agreement.sensitivity, agreement.specificity
    yield f"kept    {counts.kept_relevant:>5} relevant, {counts.kept_irrelevant:>5} irrelevant"
    yield f"dropped {counts.dropped_relevant:>5} relevant, {counts.dropped_irrelevant:>5} irrelevant"
    yield f"sensitivity {share(sensitivity)}: relevant ones it kept{within(agreement.sensitivity_interval)}"
    yield f"specificity {share(specificity)}: irrelevant ones it dropped{within(agreement.specificity_interval)}"
    yield f"agreement {share(agreement.raw)}, Cohen's kappa {kappa(agreement)} (0 is chance, 1 is perfect)"
    if agreement.flagged:
        yield f"no decision on {agreement.flagged} labelled memories because it failed; they are not counted here"


def disagreement_lines(agreement: Agreement) -> Iterator[str]:
    shown = agreement.disagreements[:SHOWN_DISAGREEMENTS]
    if shown:
        yield f"first {len(shown)} of {len(agreement.disagreements)} disagreements:"
    for each in shown:
        yield f"  {disagreement(each)}"


def disagreement(each: Comparison) -> str:
    person = "relevant" if each.person else "not relevant"
    judge = "kept" if each.judge else "dropped"
    where = f"prompt {printable(each.prompt_id)}, memory {printable(each.memory_id)}"
    return f"{where}: people say {person}, the judge {judge} it"


def share(ratio: Ratio) -> str:
    return UNKNOWN if ratio.value is None else f"{ratio.value:.2f} ({ratio.part}/{ratio.whole})"


def span(interval: Interval | None) -> str:
    return UNKNOWN if interval is None else f"{interval.low:.2f}-{interval.high:.2f}"


def within(interval: Interval | None) -> str:
    return "" if interval is None else f", 95 % interval {span(interval)}"


def kappa(agreement: Agreement) -> str:
    if agreement.kappa is None:
        return "unknown"
    return f"{agreement.kappa:.2f}" + ("" if agreement.kappa_se is None else f" +- {agreement.kappa_se:.2f}")


def printable(text: str) -> str:
    """*text* without control characters, which could command a terminal."""
    return "".join(char if char.isprintable() else "�" for char in text)


def escaped(text: str) -> str:
    """*text* as Markdown shows it literally, in a table too."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#" else char for char in printable(text))


def escaped_lines(lines: str) -> str:
    return "\n".join(escaped(line) for line in lines.split("\n"))


def markdown_list(lines: str) -> str:
    return "\n".join(f"- {escaped(line.strip())}" for line in lines.split("\n") if line)
