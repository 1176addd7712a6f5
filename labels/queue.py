"""The next card to show: open cards of a prompt, hidden repeats of earlier cards; and the progress of labelling.

A hidden repeat is a labelled card that is shown a second time without a hint. It measures how far a person agrees
with themselves, the ceiling of every other agreement. A repeat comes after enough other cards to be out of mind. The
prompt's ranks have been revealed by then, so the measured agreement is an upper limit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from labels.labelling_order import ALL
from labels.measure.agreement import selves_of
from labels.pooling import random_key
from labels.records import LABEL, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from labels.records import Card, Event, Label, Pair, Pool, Repeat

MAX_SKIPS = 2
"""A card with this many skips is not shown again."""

REPEAT_SHARE = 0.1
"""The share of cards that are repeated."""

MIN_REPEAT_GAP, REPEAT_GAP_SPREAD = 10, 20
"""A repeat waits for MIN_REPEAT_GAP to MIN_REPEAT_GAP + REPEAT_GAP_SPREAD - 1 other cards, then for the next prompt."""

REPEAT_REACH = 200
"""A card is not repeated after more than this many others."""


def open_cards(pool: Pool, labelled: Collection[Pair], skips: Mapping[Pair, int]) -> tuple[Card, ...]:
    """The cards to show, in the pool's order; skipped cards come last."""
    unlabelled = [card for card in pool.cards if card.pair not in labelled]
    return tuple(card for times in range(MAX_SKIPS) for card in unlabelled if skips.get(card.pair, 0) == times)


def pace(events: Iterable[Event]) -> float | None:
    """The median time per label in seconds; None before the first label."""
    times = [event.elapsed_ms for event in events if event.action == LABEL]
    return median(times) / 1000 if times else None


def due_repeats(recent: Sequence[Label], seed: int) -> tuple[Label, ...]:
    """The labels whose cards are due for a repeat, the longest waiting first; *recent* are newest first.

    Only blind key presses are repeated: nothing else can be asked again under the same conditions.
    """
    return tuple(
        label
        for later, label in reversed(list(enumerate(recent)))
        if label.blind and not label.source and is_repeated(label, seed) and later >= repeat_gap(label, seed)
    )


def is_repeated(label: Label, seed: int) -> bool:
    return random_fraction(label, seed, "repeat") < REPEAT_SHARE


def repeat_gap(label: Label, seed: int) -> int:
    """The number of other cards before the repeat."""
    return MIN_REPEAT_GAP + int(REPEAT_GAP_SPREAD * random_fraction(label, seed, "gap"))


def random_fraction(label: Label, seed: int, salt: str) -> float:
    """A number in [0, 1) that looks random and is always the same for the same card."""
    key = random_key(str(seed), salt, label.annotator, label.prompt_id, *label.pair)
    return int.from_bytes(key[:6]) / 2**48


# Progress


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
class StratumProgress:
    """The numbers of all and of finished prompts in one stratum."""

    name: str
    prompts: int
    done: int


@dataclass(frozen=True)
class LabellingProgress:
    """The progress over one root. `order`, `strata` and `seconds_per_card` (None before the first label) are the
    annotator's.

    `disputed` pairs wait for an adjudication, `settled` pairs have one. `stale` labels are of memories edited since.
    """

    annotator: str
    order: str
    strata: tuple[StratumProgress, ...]
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


def strata(prompt_ids: Collection[str], known: Mapping[str, str], done: Collection[str]) -> tuple[StratumProgress, ...]:
    """The strata of *prompt_ids*, sorted by name; *done* are the finished prompts."""
    names = {prompt_id: known.get(prompt_id, ALL) for prompt_id in prompt_ids}
    sizes = Counter(names.values())
    finished = Counter(names[prompt_id] for prompt_id in prompt_ids if prompt_id in done)
    return tuple(StratumProgress(name, sizes[name], finished[name]) for name in sorted(sizes))
