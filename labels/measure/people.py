"""How far people agree, with themselves and with each other: what no judge of theirs can be better than."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from labels.measure.alpha import Alpha, alpha_of
from labels.measure.kappa import cohens_kappa, gwet_ac1, negative_agreement, positive_agreement
from labels.measure.metrics import Ratio
from labels.records import NOT_RELEVANT, RELEVANT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from labels.records import Label, Repeat

    Key = tuple[str, str, str]
    """(prompt id, memory id, digest)."""

YES_NO = {RELEVANT: True, NOT_RELEVANT: False}
"""The verdicts that can be compared: who was unsure has not said otherwise."""


@dataclass(frozen=True)
class Concord:
    """Two voices on the same memories: two people, or one person twice (`first` and `second` are the same name).

    `table` counts (both relevant, only the first, only the second, both not). `same` is raw agreement, `if_relevant`
    and `if_not` that on each answer (0..1), `kappa` Cohen's with its standard error and `ac1` Gwet's (-1..1); None
    where it cannot be known.
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
    """How far people agree: each with himself by the cards that came twice, and each two with each other.

    `alpha` is Krippendorff's over all of them, where there are more than two.
    """

    selves: tuple[Concord, ...]
    others: tuple[Concord, ...]
    alpha: Alpha | None


def people_of(labels: Iterable[Label], repeats: Iterable[Repeat]) -> People | None:
    """What labels and repeats say of agreement; None where nothing was labelled twice."""
    opinions = [label for label in labels if not label.adjudicated]
    is_alone = len({label.annotator for label in opinions}) < 2
    said = {} if is_alone else answers(opinions)
    selves, others = selves_of(repeats), others_of(said)
    if not selves and not others:
        return None
    return People(selves, others, alpha_of(by_prompt(said)) if len(said) > 2 else None)


def answers(labels: Iterable[Label]) -> dict[str, dict[Key, bool]]:
    """What each annotator says of each text, where it is yes or no."""
    said: dict[str, dict[Key, bool]] = {}
    for label in labels:
        if label.verdict in YES_NO:
            key = (label.prompt_id, label.memory_id, label.digest)
            said.setdefault(label.annotator, {})[key] = YES_NO[label.verdict]
    return said


def selves_of(repeats: Iterable[Repeat]) -> tuple[Concord, ...]:
    """Each annotator's first answers and the answers to the same cards when they came again."""
    met: dict[str, Counter[tuple[bool, bool]]] = {}
    for repeat in repeats:
        if repeat.first in YES_NO and repeat.again in YES_NO:
            met.setdefault(repeat.annotator, Counter())[YES_NO[repeat.first], YES_NO[repeat.again]] += 1
    return tuple(concord(name, name, met[name]) for name in sorted(met))


def others_of(said: Mapping[str, Mapping[Key, bool]]) -> tuple[Concord, ...]:
    """Each two annotators on the texts that both have labelled."""
    found = []
    for first, second in combinations(sorted(said), 2):
        shared = said[first].keys() & said[second].keys()
        if shared:
            found.append(concord(first, second, Counter((said[first][key], said[second][key]) for key in shared)))
    return tuple(found)


def concord(first: str, second: str, met: Mapping[tuple[bool, bool], int]) -> Concord:
    table = (met[True, True], met[True, False], met[False, True], met[False, False])
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


def by_prompt(said: Mapping[str, Mapping[Key, bool]]) -> dict[str, list[tuple[int, int]]]:
    """Of each prompt the counts of (relevant, not) for every text."""
    counts: dict[Key, list[int]] = {}
    for given in said.values():
        for key, is_relevant in given.items():
            counts.setdefault(key, [0, 0])[not is_relevant] += 1
    found: dict[str, list[tuple[int, int]]] = {}
    for (prompt_id, _, _), (relevant, not_relevant) in counts.items():
        found.setdefault(prompt_id, []).append((relevant, not_relevant))
    return found
