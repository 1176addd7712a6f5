"""Agreement: the judge against people, people with each other, and each person with himself.

People's labels are the truth here; the judge is an annotator to be graded. No judge can be expected to agree with
people more than they agree among themselves.

A table counts the answers of two voices: (both yes, only the first yes, only the second yes, both no). A coefficient
is None where nothing can be said: without counts, or if only one answer was ever given.
scikit-learn has a kappa without a standard error, from lists of answers, and neither AC1 nor alpha.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from engine.judge.verdict import APPROVED, FLAGGED
from labels.events import key_of
from labels.measure.intervals import Interval, headline_interval, jackknife_interval, sums
from labels.measure.metrics import Ratio
from labels.records import NOT_RELEVANT, RELEVANT, VERDICTS, grouped, nested

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from labels.events import PairKey
    from labels.records import Event, Judgements, Outcome, Repeat

    Votes = tuple[int, int]
    """The numbers of people who call a memory relevant, and not relevant."""


ANSWERS = ((True, True), (True, False), (False, True), (False, False))
"""The answers of two voices in the order of a table."""

YES_NO: dict[str | None, bool] = {RELEVANT: True, NOT_RELEVANT: False}
"""The verdicts that can be compared. An unsure person has not said the opposite."""


# The judge


class Graded(NamedTuple):
    """A memory on which both a person and the judge decided: whether it is relevant.

    `is_deployed`: the judge failed or was not sure; the decision is then whether the memory was injected.
    """

    prompt_id: str
    memory_id: str
    person: bool
    judge: bool
    is_deployed: bool = False


class Confusion(NamedTuple):
    """Numbers of memories by the decision of the judge (kept, dropped) and of people (relevant, irrelevant)."""

    kept_relevant: int
    kept_irrelevant: int
    dropped_relevant: int
    dropped_irrelevant: int

    @property
    def total(self) -> int:
        return sum(self)


@dataclass(frozen=True)
class Agreement:
    """The grades of a judge.

    `sensitivity` is the share of the relevant memories that it kept, `specificity` the share of the irrelevant ones
    that it dropped. `raw` is the share of all memories on which it and people agree. `kappa` and `ac1` are -1..1, None
    when only one answer was ever given. `deployed` is the number of memories on which the judge failed or was not
    sure; the decision is then whether the memory was injected.
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


def judge_agreement(outcomes: Iterable[Outcome], judgements: Judgements) -> Agreement | None:
    """The grades of the judge of *outcomes*, one outcome per prompt; None if it saw no judged memory.

    Where it failed or was not sure, the decision is whether the memory was injected.
    """
    graded = list(graded_memories(outcomes, judgements))
    if not graded:
        return None
    counts = Counter((memory.judge, memory.person) for memory in graded)
    confusion = Confusion._make(counts[answers] for answers in ANSWERS)
    kappa, kappa_se = cohens_kappa(confusion)
    sensitivity, sensitivity_interval = same_share([memory for memory in graded if memory.person])
    specificity, specificity_interval = same_share([memory for memory in graded if not memory.person])
    return Agreement(
        confusion=confusion,
        sensitivity=sensitivity,
        sensitivity_interval=sensitivity_interval,
        specificity=specificity,
        specificity_interval=specificity_interval,
        raw=same_share(graded)[0],
        kappa=kappa,
        kappa_se=kappa_se,
        ac1=gwet_ac1(confusion),
        deployed=sum(memory.is_deployed for memory in graded),
        disagreements=tuple(memory for memory in graded if memory.person != memory.judge),
    )


def graded_memories(outcomes: Iterable[Outcome], judgements: Judgements) -> Iterator[Graded]:
    """Every candidate on which both people and the judge decided."""
    for outcome in outcomes:
        judged = judgements.get(outcome.prompt_id)
        if judged and outcome.is_asked:
            for memory_id, decision in zip(outcome.candidates, outcome.decisions, strict=True):
                if decision is not None and memory_id in judged:
                    is_deployed = decision == FLAGGED
                    kept = memory_id in outcome.injected if is_deployed else decision == APPROVED
                    yield Graded(outcome.prompt_id, memory_id, judged[memory_id], kept, is_deployed)


def same_share(graded: Sequence[Graded]) -> tuple[Ratio, Interval | None]:
    """The share on which judge and people agree, and its 95 % interval; prompts are the sampling unit."""
    of_prompts = grouped((memory.prompt_id, memory.judge is memory.person) for memory in graded).values()
    counts = [(sum(same), len(same)) for same in of_prompts]
    return Ratio(sum(same for same, _ in counts), len(graded)), headline_interval(counts)


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


def people_agreement(labels: Sequence[Event], repeats: Iterable[Repeat]) -> People | None:
    """The agreement in labels and repeated labels; None if nothing was labelled twice."""
    answers: dict[str, dict[PairKey, bool]] = {}
    if len({label.annotator for label in labels}) > 1:
        decided = [label for label in labels if label.verdict in YES_NO]
        answers = nested((label.annotator, key_of(label), YES_NO[label.verdict]) for label in decided)
    selves = selves_of(repeats)
    others = tuple(
        concord(first, second, Counter((answers[first][key], answers[second][key]) for key in shared))
        for first, second in combinations(sorted(answers), 2)
        if (shared := answers[first].keys() & answers[second].keys())
    )
    if not selves and not others:
        return None
    votes = grouped((key, is_relevant) for own in answers.values() for key, is_relevant in own.items())
    of_prompts = grouped((key[0], (own.count(True), own.count(False))) for key, own in votes.items())
    return People(selves, others, krippendorffs_alpha(of_prompts) if len(answers) > 2 else None)


def selves_of(repeats: Iterable[Repeat]) -> tuple[Concord, ...]:
    """Each annotator's first answers against the answers to the same cards at their second showing."""
    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    for repeat in repeats:
        if repeat.first in YES_NO and repeat.again in YES_NO:
            counts.setdefault(repeat.annotator, Counter())[YES_NO[repeat.first], YES_NO[repeat.again]] += 1
    return tuple(concord(name, name, counts[name]) for name in sorted(counts))


def concord(first: str, second: str, counts: Mapping[tuple[bool, bool], int]) -> Concord:
    table = (counts[True, True], counts[True, False], counts[False, True], counts[False, False])
    same = Ratio(table[0] + table[3], sum(table))
    if_relevant, if_not = positive_agreement(table), positive_agreement(table[::-1])
    return Concord(first, second, table, same, if_relevant, if_not, *cohens_kappa(table), gwet_ac1(table))


Table = tuple[float, float, float, float]


def positive_agreement(table: Table) -> float | None:
    """2a / (2a + b + c): the chance that the other voice says yes, if one says yes, 0..1; of a reversed table, for no.

    Source: D. V. Cicchetti and A. R. Feinstein, Journal of Clinical Epidemiology 43 (1990).
    """
    both, first, second, _ = table
    return 2 * both / (2 * both + first + second) if both + first + second else None


def cohens_kappa(table: Table) -> tuple[float | None, float | None]:
    """Cohen's kappa (-1..1) and its standard error; (None, None) if agreement by chance is certain.

    Sources: J. Cohen, Educational and Psychological Measurement 20 (1960). The standard error is the large-sample one
    of Fleiss, Cohen and Everitt, Psychological Bulletin 72 (1969), equation 13.
    """
    n = sum(table)
    if not n:
        return None, None
    cells = ((table[0] / n, table[1] / n), (table[2] / n, table[3] / n))
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


def gwet_ac1(table: Table) -> float | None:
    """Gwet's AC1 (-1..1): like kappa, but it does not collapse where nearly all answers are the same.

    Chance agreement is 2q(1 - q), with q the mean share of yes. Source: K. L. Gwet, British Journal of Mathematical and
    Statistical Psychology 61 (2008), equation 5.
    """
    both_yes, first, second, both_no = table
    n = sum(table)
    if not n:
        return None
    yes = (2 * both_yes + first + second) / (2 * n)
    chance = 2 * yes * (1 - yes)
    return ((both_yes + both_no) / n - chance) / (1 - chance)


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha: agreement of any number of people, who need not have labelled the same memories.

    `value` is at most 1, and 0 for chance. `interval` is 95 %, None from a single prompt. `memories` counts
    the memories with labels of at least two people.
    """

    value: float
    interval: Interval | None
    memories: int


def krippendorffs_alpha(prompts: Mapping[str, Sequence[Votes]]) -> Alpha | None:
    """Alpha for two categories, from the votes on each memory of each prompt; None if it is not defined.

    It is 1 - D_o / D_e, with missing labels. The disagreement on a memory with n >= 2 labels, a relevant and b not, is
    2ab / (n - 1). The interval leaves out whole prompts.
    Source: K. Krippendorff, Content Analysis (2004), section 11.3.
    """
    rows = Counter[tuple[float, ...]]()
    for votes in prompts.values():
        if several := [(a, b) for a, b in votes if a + b > 1]:
            disagreement = sum(2 * a * b / (a + b - 1) for a, b in several)
            rows[disagreement, sum(a for a, _ in several), sum(b for _, b in several), len(several)] += 1
    if not rows:
        return None
    total = sums(rows)
    value, interval = alpha(total), jackknife_interval(rows, alpha, Interval(-1, 1))
    return None if value is None else Alpha(value, interval, round(total[3]))


def alpha(total: Sequence[float]) -> float | None:
    """1 - observed / expected disagreement; with a relevant and b other labels, 2ab / (a + b - 1) is expected."""
    observed, a, b, _ = total
    expected = 2 * a * b / (a + b - 1) if a + b > 1 else 0.0
    return 1 - observed / expected if expected else None


# The progress of labelling


@dataclass(frozen=True)
class Person:
    """An annotator's current labels of cards by verdict; `blind` and `imported` count labels among them.

    `lists` is the number of answered list cards. `same` of the `repeated` cards got the same verdict twice. `kappa` is
    Cohen's, -1..1, over the cards with relevant or not both times; None if undefined. The prompt's ranks are known
    before a repeat, so all three are upper limits.
    """

    annotator: str
    verdicts: Mapping[str, int]
    blind: int
    imported: int
    lists: int
    repeated: int
    same: int
    kappa: float | None

    @property
    def labels(self) -> int:
        return sum(self.verdicts.values())


@dataclass(frozen=True)
class LabellingProgress:
    """The progress over one root: `done` of the `prompts` are finished by the annotator.

    `seconds_per_card` is the annotator's pace, None before the first label. `disputed` pairs wait for an adjudication,
    `settled` pairs have one. `stale` labels are of memories edited since.
    """

    annotator: str
    prompts: int
    done: int
    seconds_per_card: float | None
    people: tuple[Person, ...]
    disputed: int
    settled: int
    stale: int


def people(labels: Sequence[Event], repeats: Sequence[Repeat]) -> tuple[Person, ...]:
    """All annotators with labels, sorted by name."""
    found = []
    kappas = {concord.first: concord.kappa for concord in selves_of(repeats)}
    for annotator, given in sorted(grouped((label.annotator, label) for label in labels).items()):
        own = [label for label in given if not label.titles]
        again = [repeat for repeat in repeats if repeat.annotator == annotator]
        verdicts = Counter(label.verdict for label in own)
        found.append(
            Person(
                annotator=annotator,
                verdicts={verdict: verdicts[verdict] for verdict in VERDICTS},
                blind=sum(bool(label.blind) for label in own),
                imported=sum(bool(label.source) for label in own),
                lists=len({label.prompt_id for label in given if label.titles}),
                repeated=len(again),
                same=sum(repeat.first == repeat.again for repeat in again),
                kappa=kappas.get(annotator),
            )
        )
    return tuple(found)
