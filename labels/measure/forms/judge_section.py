"""What a report says of a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.measure.forms.figures import counted, decimal, give_or_take, share, span
from labels.measure.forms.section import Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.agreement import Agreement, Comparison
    from labels.measure.intervals import Interval
    from labels.measure.metrics import Ratio
    from labels.measure.names import Names

SHOWN_DISAGREEMENTS = 10


def judge_sections(system: str, agreement: Agreement, names: Names) -> Iterator[Section]:
    """The judge's confusion with people and its rates, and where it and people differ."""
    counts = agreement.confusion
    rows = (
        ("the judge kept it", f"{counts.kept_relevant:,}", f"{counts.kept_irrelevant:,}"),
        ("the judge dropped it", f"{counts.dropped_relevant:,}", f"{counts.dropped_irrelevant:,}"),
    )
    yield Section(
        f"judge-{system}",
        f"The judge of {system}, against people",
        "Memories that a person has labelled and the judge has seen.",
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
            "kept" if each.judge else "dropped",
        )
        for each in shown
    )
    about = f"What the judge kept, people call irrelevant, and what it dropped, relevant.{rest}"
    title = f"Where the judge of {system} and people differ"
    return Section(f"differences-{system}", title, about, Table(("memory", "prompt", "the judge"), rows, names=2))


def grade_lines(agreement: Agreement) -> Iterator[str]:
    yield f"Sensitivity, of the relevant ones it kept: {graded(agreement.sensitivity, agreement.sensitivity_interval)}."
    dropped = graded(agreement.specificity, agreement.specificity_interval)
    yield f"Specificity, of the irrelevant ones it dropped: {dropped}."
    yield (
        f"Agreement with people: {share(agreement.raw)}. Beyond what chance gives (0 is chance, 1 is perfect): Cohen's "
        f"kappa {give_or_take(agreement.kappa, agreement.kappa_se)}, Gwet's AC1 {decimal(agreement.ac1)}."
    )
    if agreement.deployed:
        yield (
            f"On {counted(agreement.deployed, 'memory', 'memories')} it failed or was not sure: what was injected "
            "stands for its decision."
        )


def graded(ratio: Ratio, interval: Interval | None) -> str:
    return "unknown" if interval is None else f"{share(ratio)}, 95 % interval {span(interval)}"
