"""How far labelling is: who said how much, what is left, and how far people agree, also with themselves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.kappa import cohens_kappa
from labels.orders import ALL
from labels.records import NOT_RELEVANT, RELEVANT, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from labels.records import Label, Repeat


@dataclass(frozen=True)
class Person:
    """An annotator's current labels by verdict, and how many of them were given `blind` and how many `imported`.

    Of `repeated` cards that were shown again without being told, `same` got the same verdict. `kappa` is Cohen's over
    those that were relevant or not both times, -1..1; None where it is not defined. A repeat comes after the ranks of
    its prompt were revealed, so all three are at their best.
    """

    annotator: str
    verdicts: Mapping[str, int]
    blind: int
    imported: int
    repeated: int
    same: int
    kappa: float | None

    @property
    def labels(self) -> int:
        return sum(self.verdicts.values())


@dataclass(frozen=True)
class Stratum:
    """Of the prompts in one stratum, how many there are and how many are done."""

    name: str
    prompts: int
    done: int


@dataclass(frozen=True)
class Progress:
    """`strata`, `order` and `seconds_per_card` are those of `annotator`; the latter is None before the first label.

    `disputed` pairs wait to be settled; `settled` were. `stale` labels are of memories that were edited since.
    """

    annotator: str
    order: str
    strata: tuple[Stratum, ...]
    seconds_per_card: float | None
    people: tuple[Person, ...]
    disputed: int
    settled: int
    stale: int


def people(labels: Sequence[Label], repeats: Sequence[Repeat]) -> tuple[Person, ...]:
    """Everybody who has a label, by name."""
    return tuple(person(name, labels, repeats) for name in sorted({label.annotator for label in labels}))


def person(annotator: str, labels: Sequence[Label], repeats: Sequence[Repeat]) -> Person:
    own = [label for label in labels if label.annotator == annotator]
    again = [(repeat.first, repeat.again) for repeat in repeats if repeat.annotator == annotator]
    said = Counter(label.verdict for label in own)
    return Person(
        annotator=annotator,
        verdicts={verdict: said[verdict] for verdict in VERDICTS},
        blind=sum(label.blind for label in own),
        imported=sum(bool(label.source) for label in own),
        repeated=len(again),
        same=sum(first == second for first, second in again),
        kappa=self_kappa(again),
    )


def self_kappa(again: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa of the first against the second time, over the pairs that were relevant or not both times."""
    counted = Counter(again)
    yes, no = RELEVANT, NOT_RELEVANT
    return cohens_kappa((counted[yes, yes], counted[yes, no], counted[no, yes], counted[no, no]))[0]


def strata(prompt_ids: Collection[str], known: Mapping[str, str], done: Collection[str]) -> tuple[Stratum, ...]:
    """The strata of *prompt_ids*, by name; *done* are the finished prompts."""
    names = {prompt_id: known.get(prompt_id, ALL) for prompt_id in prompt_ids}
    sizes = Counter(names.values())
    finished = Counter(names[prompt_id] for prompt_id in prompt_ids if prompt_id in done)
    return tuple(Stratum(name, sizes[name], finished[name]) for name in sorted(sizes))
