"""The progress of labelling: labels of each person, finished prompts, disputes, and self-agreement."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.agreement import selves_of
from labels.records import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labels.records import Label, Repeat


@dataclass(frozen=True)
class Person:
    """An annotator's current labels by verdict; `blind` and `imported` count labels among them.

    `same` of the `repeated` cards got the same verdict twice. `kappa` is Cohen's, -1..1, over the cards with relevant
    or not both times; None if undefined. The prompt's ranks are known before a repeat, so all three are upper limits.
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


def people(labels: Sequence[Label], repeats: Sequence[Repeat]) -> tuple[Person, ...]:
    """All annotators with labels, sorted by name."""
    return tuple(person(name, labels, repeats) for name in sorted({label.annotator for label in labels}))


def person(annotator: str, labels: Sequence[Label], repeats: Sequence[Repeat]) -> Person:
    own = [label for label in labels if label.annotator == annotator]
    again = [repeat for repeat in repeats if repeat.annotator == annotator]
    selves = selves_of(again)
    verdicts = Counter(label.verdict for label in own)
    return Person(
        annotator=annotator,
        verdicts={verdict: verdicts[verdict] for verdict in VERDICTS},
        blind=sum(bool(label.blind) for label in own),
        imported=sum(bool(label.source) for label in own),
        repeated=len(again),
        same=sum(repeat.first == repeat.again for repeat in again),
        kappa=selves[0].kappa if selves else None,
    )
