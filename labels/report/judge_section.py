"""What a report says of a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.report.figures import counted, decimal, give_or_take, share, span
from labels.report.section import Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.agreement import Agreement, Comparison
    from labels.measure.intervals import Interval
    from labels.measure.metrics import Ratio
    from labels.measure.names import Names

SHOWN_DISAGREEMENTS = 10


def judge_sections(system: str, agreement: Agreement, names: Names, assumed: int = 0) -> Iterator[Section]:
    """The judge's confusion with people and its rates, and where it and people differ. Of *assumed* memories nobody
    said that they are not relevant."""
    counts = agreement.confusion
    rows = (
        ("the judge kept it", f"{counts.kept_relevant:,}", f"{counts.kept_irrelevant:,}"),
        ("the judge dropped it", f"{counts.dropped_relevant:,}", f"{counts.dropped_irrelevant:,}"),
    )
    yield Section(
        f"judge-{system}",
        f"The judge of {system}, against people",
        "Memories that the judge was asked about and that have a label"
        f"{', or count as not relevant without one' if assumed else ''}.",
        Table(("", "relevant", "irrelevant"), rows),
        tuple(grade_lines(agreement)),
    )
    if agreement.disagreements:
        yield differences(system, agreement.disagreements, names)


def differences(system: str, disagreements: Sequence[Comparison], names: Names) -> Section:
    shown = disagreements[:SHOWN_DISAGREEMENTS]
    rest = "" if len(shown) == len(disagreements) else f" The first {len(shown)} of {len(disagreements):,}."
    rows = tuple(
        (
            names.memories.get(each.memory_id, each.memory_id),
            names.prompts.get(each.prompt_id, each.prompt_id),
            decision(each),
        )
        for each in shown
    )
    flagged = " Flagged: it failed or was not sure." if any(each.is_deployed for each in shown) else ""
    about = f"People call irrelevant what it kept, and relevant what it dropped.{flagged}{rest}"
    title = f"Where the judge of {system} and people differ"
    return Section(f"differences-{system}", title, about, Table(("memory", "prompt", "the judge"), rows, names=3))


def decision(each: Comparison) -> str:
    if each.is_deployed:
        return "flagged, injected" if each.judge else "flagged, left out"
    return "kept" if each.judge else "dropped"


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
            f"On {counted(agreement.deployed, 'memory', 'memories')} it failed or was not sure: what was injected "
            "stands for its decision."
        )


def kappa(value: float | None, error: float | None) -> str:
    written = give_or_take(value, error)
    return written if written == decimal(value) else f"{written} (standard error)"


def graded(ratio: Ratio, interval: Interval | None) -> str:
    return "unknown" if interval is None else f"{share(ratio)}, 95 % interval {span(interval)}"
