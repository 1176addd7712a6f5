"""Agreement: the judge against people, people with each other, and each person with himself.

People's labels are the truth here; the judge is an annotator to be graded. No judge can be expected to agree with
people more than they agree among themselves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from engine.judge.verdict import APPROVED, FLAGGED
from labels.events import key_of
from labels.measure.intervals import Interval, headline_interval
from labels.measure.kappa import (
    Alpha,
    cohens_kappa,
    gwet_ac1,
    krippendorffs_alpha,
    negative_agreement,
    positive_agreement,
)
from labels.measure.metrics import Ratio, estimated
from labels.measure.strata import EQUAL
from labels.records import NOT_RELEVANT, RELEVANT, grouped, nested

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from labels.events import PairKey
    from labels.measure.kappa import Table, Votes
    from labels.measure.strata import PairWeights
    from labels.records import Judgements, Label, Outcome, Repeat


YES_NO = {RELEVANT: True, NOT_RELEVANT: False}
"""The verdicts that can be compared. An unsure person has not said the opposite."""


# The judge


class Graded(NamedTuple):
    """A memory on which both a person and the judge decided: whether it is relevant.

    `weight` is the number of memories that it stands for, 1 or more. `is_deployed`: the judge failed or was not sure,
    so that its decision is what was injected instead.
    """

    prompt_id: str
    memory_id: str
    person: bool
    judge: bool
    weight: float = 1.0
    is_deployed: bool = False


@dataclass(frozen=True)
class Confusion:
    """Numbers of memories by the decision of the judge (kept, dropped) and of people (relevant, irrelevant)."""

    kept_relevant: int
    kept_irrelevant: int
    dropped_relevant: int
    dropped_irrelevant: int

    @property
    def total(self) -> int:
        return self.kept_relevant + self.kept_irrelevant + self.dropped_relevant + self.dropped_irrelevant


@dataclass(frozen=True)
class Agreement:
    """The grades of a judge.

    `sensitivity` is the share of the relevant memories that it kept, `specificity` the share of the irrelevant ones
    that it dropped. `raw` is the share of all memories on which it and people agree. `kappa` and `ac1` are -1..1, None
    when only one answer was ever given. `confusion` counts memories; the others weigh each memory. `deployed` is the
    number of memories on which the judge was not sure: what was injected stands for its decision.
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
    disagreements: tuple[Graded, ...]


def judge_agreement(
    outcomes: Iterable[Outcome], judgements: Judgements, weights: PairWeights = EQUAL
) -> Agreement | None:
    """The grades of the judge of *outcomes*, one outcome per prompt; None if it saw no judged memory.

    Where it was not sure, it is graded on what was injected.
    """
    graded = list(graded_memories(outcomes, judgements, weights))
    if not graded:
        return None
    table = weighted_table(graded)
    kappa, kappa_se = cohens_kappa(table)
    relevant = [memory for memory in graded if memory.person]
    irrelevant = [memory for memory in graded if not memory.person]
    kept_relevant, kept_irrelevant = (sum([memory.judge for memory in part]) for part in (relevant, irrelevant))
    return Agreement(
        confusion=Confusion(
            kept_relevant, kept_irrelevant, len(relevant) - kept_relevant, len(irrelevant) - kept_irrelevant
        ),
        sensitivity=same_share(relevant),
        sensitivity_interval=same_interval(relevant),
        specificity=same_share(irrelevant),
        specificity_interval=same_interval(irrelevant),
        raw=same_share(graded),
        kappa=kappa,
        kappa_se=kappa_se,
        ac1=gwet_ac1(table),
        deployed=sum(memory.is_deployed for memory in graded),
        disagreements=tuple(memory for memory in graded if memory.person != memory.judge),
    )


def graded_memories(outcomes: Iterable[Outcome], judgements: Judgements, weights: PairWeights) -> Iterator[Graded]:
    """Every candidate on which both people and the judge decided."""
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
                    yield Graded(prompt_id, memory_id, judged[memory_id], kept, own, is_deployed)


def weighted_table(graded: Sequence[Graded]) -> Table:
    """The four weighted counts, scaled so that their sum is the number of memories."""
    counts: dict[tuple[bool, bool], float] = defaultdict(float)
    for _, _, person, judge, weight, _ in graded:
        counts[judge, person] += weight
    scale = len(graded) / sum(counts.values())
    both, judge_only, person_only, neither = (
        counts[key] * scale for key in ((True, True), (True, False), (False, True), (False, False))
    )
    return both, judge_only, person_only, neither


def same_share(graded: Sequence[Graded]) -> Ratio:
    """The share on which judge and people agree."""
    same = [memory.weight for memory in graded if memory.judge is memory.person]
    return estimated(Ratio(len(same), len(graded)), sum(same), sum([memory.weight for memory in graded]))


def same_interval(graded: Sequence[Graded]) -> Interval | None:
    """The 95 % interval of the share on which judge and people agree; prompts are the sampling unit."""
    scale = len(graded) / sum([memory.weight for memory in graded]) if graded else 1.0
    same: dict[str, float] = defaultdict(float)
    every: dict[str, float] = defaultdict(float)
    for prompt_id, _, person, judge, weight, _ in graded:
        every[prompt_id] += weight * scale
        if judge is person:
            same[prompt_id] += weight * scale
    return headline_interval([(same[prompt_id], weight) for prompt_id, weight in every.items()])


# People


@dataclass(frozen=True)
class Concord:
    """Two people on the same memories, or a person with himself on cards that came twice (then both names are equal).

    `table` counts (both relevant, only the first, only the second, both not). `same` is the share of equal answers,
    `if_relevant` and `if_not` the agreement on each answer (0..1), `kappa` Cohen's with its standard error, and `ac1`
    Gwet's (-1..1); None where it is not defined.
    """

    first: str
    second: str
    table: tuple[int, int, int, int]
    same: Ratio
    if_relevant: float | None
    if_not: float | None
    kappa: float | None
    kappa_se: float | None
    ac1: float | None


@dataclass(frozen=True)
class People:
    """Agreement of each person with himself (`selves`) and of each two people (`others`).

    `alpha` is Krippendorff's over all of them, None if there are fewer than three.
    """

    selves: tuple[Concord, ...]
    others: tuple[Concord, ...]
    alpha: Alpha | None


def people_agreement(labels: Sequence[Label], repeats: Iterable[Repeat]) -> People | None:
    """The agreement in labels and repeated labels; None if nothing was labelled twice."""
    is_alone = len({label.annotator for label in labels}) < 2
    answers = {} if is_alone else answers_of(labels)
    selves, others = selves_of(repeats), others_of(answers)
    if not selves and not others:
        return None
    return People(selves, others, krippendorffs_alpha(votes_of(answers)) if len(answers) > 2 else None)


def answers_of(labels: Iterable[Label]) -> dict[str, dict[PairKey, bool]]:
    """annotator -> text -> whether it is relevant, where the verdict is yes or no."""
    decided = [label for label in labels if label.verdict in YES_NO]
    return nested((label.annotator, key_of(label), YES_NO[label.verdict]) for label in decided)


def selves_of(repeats: Iterable[Repeat]) -> tuple[Concord, ...]:
    """Each annotator's first answers against the answers to the same cards at their second showing."""
    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    for repeat in repeats:
        if repeat.first in YES_NO and repeat.again in YES_NO:
            counts.setdefault(repeat.annotator, Counter())[YES_NO[repeat.first], YES_NO[repeat.again]] += 1
    return tuple(concord(name, name, counts[name]) for name in sorted(counts))


def others_of(answers: Mapping[str, Mapping[PairKey, bool]]) -> tuple[Concord, ...]:
    """Each two annotators on the texts that both have labelled."""
    concords = []
    for first, second in combinations(sorted(answers), 2):
        shared = answers[first].keys() & answers[second].keys()
        if shared:
            pairs = Counter((answers[first][key], answers[second][key]) for key in shared)
            concords.append(concord(first, second, pairs))
    return tuple(concords)


def concord(first: str, second: str, counts: Mapping[tuple[bool, bool], int]) -> Concord:
    table = (counts[True, True], counts[True, False], counts[False, True], counts[False, False])
    kappa, error = cohens_kappa(table)
    return Concord(
        first,
        second,
        table,
        same=Ratio(table[0] + table[3], sum(table)),
        if_relevant=positive_agreement(table),
        if_not=negative_agreement(table),
        kappa=kappa,
        kappa_se=error,
        ac1=gwet_ac1(table),
    )


def votes_of(answers: Mapping[str, Mapping[PairKey, bool]]) -> dict[str, list[Votes]]:
    """prompt id -> the votes on each of its texts."""
    counts: dict[PairKey, list[int]] = {}
    for own in answers.values():
        for key, is_relevant in own.items():
            counts.setdefault(key, [0, 0])[not is_relevant] += 1
    return grouped((key[0], (relevant, not_relevant)) for key, (relevant, not_relevant) in counts.items())
