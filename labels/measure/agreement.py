"""The judge against people: an annotator to be graded, never the truth."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from engine.judge.verdict import APPROVED, FLAGGED
from labels.measure.intervals import Interval, headline_interval
from labels.measure.kappa import cohens_kappa, gwet_ac1
from labels.measure.metrics import Ratio, estimated
from labels.measure.weights import EQUAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from labels.measure.kappa import Table
    from labels.measure.weights import Weights
    from labels.records import Judgements, Outcome


class Comparison(NamedTuple):
    """One memory that both a person and the judge decided on: whether each found it relevant.

    `weight` is how many it stands for, 1 or more. `is_deployed`: the judge failed or was not sure, and what was
    injected stands for its decision.
    """

    prompt_id: str
    memory_id: str
    person: bool
    judge: bool
    weight: float = 1.0
    is_deployed: bool = False


NEW_COMPARISON = partial(tuple.__new__, Comparison)
"""Of its six fields: a third of the time that it takes by their names."""


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
    of all, those on which it and people agree. `kappa` and `ac1` are -1..1, None when only one answer was ever given.
    `confusion` counts memories; the others weigh each by how many it stands for. `deployed` counts the memories on
    which the judge failed or was not sure: what was injected stands for its decision.
    """

    confusion: Confusion
    sensitivity: Ratio
    sensitivity_interval: Interval | None
    specificity: Ratio
    specificity_interval: Interval | None
    raw: Ratio
    kappa: float | None
    kappa_se: float | None
    ac1: float | None
    deployed: int
    disagreements: tuple[Comparison, ...]


def agreement(outcomes: Iterable[Outcome], judgements: Judgements, weights: Weights = EQUAL) -> Agreement | None:
    """Grade the judge that made *outcomes*, one outcome per prompt; None if it saw nothing that was judged.

    Where it failed, what it is graded on is the fallback that was injected, never a rejection.
    """
    compared = list(comparisons(outcomes, judgements, weights))
    if not compared:
        return None
    table = weighted_table(compared)
    kappa, kappa_se = cohens_kappa(table)
    relevant = [each for each in compared if each.person]
    irrelevant = [each for each in compared if not each.person]
    kept_relevant, kept_irrelevant = (sum([each.judge for each in part]) for part in (relevant, irrelevant))
    return Agreement(
        confusion=Confusion(
            kept_relevant, kept_irrelevant, len(relevant) - kept_relevant, len(irrelevant) - kept_irrelevant
        ),
        sensitivity=agreeing(relevant),
        sensitivity_interval=agreeing_interval(relevant),
        specificity=agreeing(irrelevant),
        specificity_interval=agreeing_interval(irrelevant),
        raw=agreeing(compared),
        kappa=kappa,
        kappa_se=kappa_se,
        ac1=gwet_ac1(table),
        deployed=sum(each.is_deployed for each in compared),
        disagreements=tuple(each for each in compared if each.person != each.judge),
    )


def comparisons(outcomes: Iterable[Outcome], judgements: Judgements, weights: Weights) -> Iterator[Comparison]:
    """Every candidate that was both judged by people and put before the judge."""
    for outcome in outcomes:
        prompt_id = outcome.prompt_id
        judged = judgements.get(prompt_id)
        if judged and outcome.is_asked:
            weight, of_memories = weights.of_prompt(prompt_id), weights.pairs.get(prompt_id, {})
            for memory_id, decision in zip(outcome.candidates, outcome.decisions, strict=True):
                if decision is not None and memory_id in judged:
                    is_deployed = decision == FLAGGED
                    kept = memory_id in outcome.injected if is_deployed else decision == APPROVED
                    own = weight * of_memories[memory_id] if memory_id in of_memories else weight
                    yield NEW_COMPARISON((prompt_id, memory_id, judged[memory_id], kept, own, is_deployed))


def weighted_table(compared: Sequence[Comparison]) -> Table:
    """The four counts, each memory counting for as many as it stands for, scaled to as many as were compared."""
    met: dict[tuple[bool, bool], float] = defaultdict(float)
    for _, _, person, judge, weight, _ in compared:
        met[judge, person] += weight
    scale = len(compared) / sum(met.values())
    return met[True, True] * scale, met[True, False] * scale, met[False, True] * scale, met[False, False] * scale


def agreeing(compared: Sequence[Comparison]) -> Ratio:
    """The share on which judge and people agree."""
    same = [each.weight for each in compared if each.judge is each.person]
    return estimated(Ratio(len(same), len(compared)), sum(same), sum([each.weight for each in compared]))


def agreeing_interval(compared: Sequence[Comparison]) -> Interval | None:
    """The 95 % interval of the share on which judge and people agree, prompts being the sampling unit."""
    scale = len(compared) / sum([each.weight for each in compared]) if compared else 1.0
    same: dict[str, float] = defaultdict(float)
    of: dict[str, float] = defaultdict(float)
    for prompt_id, _, person, judge, own, _ in compared:
        of[prompt_id] += own * scale
        if judge is person:
            same[prompt_id] += own * scale
    return headline_interval([(same[prompt_id], weight) for prompt_id, weight in of.items()])
