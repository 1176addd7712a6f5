"""The judge against people: an annotator to be graded, never the truth."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from engine.judge.verdict import APPROVED, REJECTED
from labels.measure.intervals import Interval, headline_interval
from labels.measure.metrics import Ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labels.measure.outcomes import Judgements, Outcome


@dataclass(frozen=True)
class Comparison:
    """One memory that both a person and the judge decided on: whether each found it relevant."""

    prompt_id: str
    memory_id: str
    person: bool
    judge: bool


@dataclass(frozen=True)
class Confusion:
    """How often the judge (kept, dropped) and people (relevant, irrelevant) met."""

    kept_relevant: int
    kept_irrelevant: int
    dropped_relevant: int
    dropped_irrelevant: int

    @property
    def total(self) -> int:
        return self.kept_relevant + self.kept_irrelevant + self.dropped_relevant + self.dropped_irrelevant


@dataclass(frozen=True)
class Agreement:
    """The judge's grades.

    `sensitivity`: of the relevant memories, those it kept. `specificity`: of the irrelevant, those it dropped. `raw`:
    of all, those on which it and people agree. `kappa` is -1..1, None when only one answer was ever given; `flagged`
    counts memories that were labelled and that the judge could not decide on, which are in no other number.
    """

    confusion: Confusion
    sensitivity: Ratio
    sensitivity_interval: Interval | None
    specificity: Ratio
    specificity_interval: Interval | None
    raw: Ratio
    kappa: float | None
    kappa_se: float | None
    flagged: int
    disagreements: tuple[Comparison, ...]


def agreement(outcomes: Iterable[Outcome], judgements: Judgements) -> Agreement | None:
    """Grade the judge that made *outcomes*, one outcome per prompt; None if it saw nothing that was judged.

    A judge that failed flagged its candidates: they are counted as flagged, not as rejections.
    """
    decided = list(decisions(outcomes, judgements))
    compared = [
        Comparison(prompt_id, memory_id, person, decision == APPROVED)
        for prompt_id, memory_id, person, decision in decided
        if decision in (APPROVED, REJECTED)
    ]
    if not decided:
        return None
    counts = confusion(compared)
    kappa, kappa_se = cohens_kappa(counts)
    kept = [each for each in compared if each.person]
    dropped = [each for each in compared if not each.person]
    return Agreement(
        confusion=counts,
        sensitivity=Ratio(counts.kept_relevant, len(kept)),
        sensitivity_interval=agreeing_interval(kept),
        specificity=Ratio(counts.dropped_irrelevant, len(dropped)),
        specificity_interval=agreeing_interval(dropped),
        raw=Ratio(counts.kept_relevant + counts.dropped_irrelevant, counts.total),
        kappa=kappa,
        kappa_se=kappa_se,
        flagged=len(decided) - len(compared),
        disagreements=tuple(each for each in compared if each.person != each.judge),
    )


def decisions(outcomes: Iterable[Outcome], judgements: Judgements) -> Iterable[tuple[str, str, bool, str]]:
    """(prompt id, memory id, relevant, decision) of every candidate that was both judged by people and decided on."""
    for outcome in outcomes:
        judged = judgements.get(outcome.prompt_id, {})
        for memory_id, decision in outcome.candidates:
            if decision is not None and memory_id in judged:
                yield outcome.prompt_id, memory_id, judged[memory_id], decision


def confusion(compared: Sequence[Comparison]) -> Confusion:
    def count(judge: bool, person: bool) -> int:
        return sum(each.judge is judge and each.person is person for each in compared)

    return Confusion(count(True, True), count(True, False), count(False, True), count(False, False))


def agreeing_interval(compared: Sequence[Comparison]) -> Interval | None:
    """The 95 % interval of the share on which judge and people agree, prompts being the sampling unit."""
    per_prompt: dict[str, list[bool]] = {}
    for each in compared:
        per_prompt.setdefault(each.prompt_id, []).append(each.judge == each.person)
    return headline_interval([(sum(same), len(same)) for same in per_prompt.values()])


def cohens_kappa(counts: Confusion) -> tuple[float | None, float | None]:
    """Cohen's kappa and its standard error; (None, None) when chance agreement is certain or nothing was compared.

    Sources: J. Cohen, Educational and Psychological Measurement 20 (1960); the large-sample standard error away from
    zero is that of Fleiss, Cohen and Everitt, Psychological Bulletin 72 (1969), equation 13.
    """
    n = counts.total
    if not n:
        return None, None
    cells = (
        (counts.kept_relevant / n, counts.kept_irrelevant / n),
        (counts.dropped_relevant / n, counts.dropped_irrelevant / n),
    )
    rows = [sum(row) for row in cells]
    columns = [sum(column) for column in zip(*cells, strict=True)]
    chance = sum(row * column for row, column in zip(rows, columns, strict=True))
    if chance == 1:
        return None, None
    kappa = (cells[0][0] + cells[1][1] - chance) / (1 - chance)
    on_diagonal = sum(cells[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    off_diagonal = sum(cells[i][1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in (0, 1))
    spread = on_diagonal + (1 - kappa) ** 2 * off_diagonal - (kappa - chance * (1 - kappa)) ** 2
    return kappa, sqrt(max(0.0, spread) / n) / (1 - chance)
