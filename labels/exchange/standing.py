"""What stands of a sequence of label events: the views `label_current` and `gold` of the store, for any dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from labels.people import shared_verdict
from labels.records import ADJUDICATE, LABEL, RETRACT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from labels.exchange.records import LabelEvent, PairKey


K = TypeVar("K", bound="Hashable")


@dataclass(frozen=True)
class Gold:
    """What holds for a pair; `grade` is the lowest that somebody gave who says so, None if nobody did.

    `ts` is when the latest of those labels was given.
    """

    verdict: str
    grade: int | None
    ts: str


def standing(events: Iterable[LabelEvent]) -> list[LabelEvent]:
    """The events that were not taken back, without the retractions."""
    events = list(events)
    taken_back = {event.supersedes for event in events if event.action == RETRACT}
    return [event for event in events if event.action != RETRACT and event.uid not in taken_back]


def current(events: Iterable[LabelEvent]) -> dict[tuple[str, PairKey], LabelEvent]:
    """(annotator, pair) -> the latest standing label, repeats left out."""
    labels = [event for event in standing(events) if event.action == LABEL and not event.repeat]
    return latest(labels, lambda event: (event.annotator, event.pair))


def adjudications(events: Iterable[LabelEvent]) -> dict[PairKey, LabelEvent]:
    """pair -> the latest standing adjudication."""
    return latest([event for event in standing(events) if event.action == ADJUDICATE], lambda event: event.pair)


def latest(events: Sequence[LabelEvent], key: Callable[[LabelEvent], K]) -> dict[K, LabelEvent]:
    """The latest event of each key; of two at one moment the one that was written down later."""
    return {key(event): event for event in sorted(events, key=lambda event: event.ts)}


def gold(events: Iterable[LabelEvent]) -> dict[PairKey, Gold]:
    """pair -> what was adjudicated, else what the majority of relevant against not says.

    A tie has no gold. Who is unsure has no vote unless all say the same.
    """
    events = list(events)
    settled = adjudications(events)
    votes: dict[PairKey, list[LabelEvent]] = {}
    for (_, pair), label in current(events).items():
        votes.setdefault(pair, []).append(label)
    voted = {pair: majority(labels) for pair, labels in votes.items()}
    found = {pair: agreed(verdict, votes[pair]) for pair, verdict in voted.items() if verdict}
    return found | {pair: agreed(str(event.verdict), [event]) for pair, event in settled.items()}


def majority(labels: Sequence[LabelEvent]) -> str | None:
    return shared_verdict([str(label.verdict) for label in labels])


def agreed(verdict: str, labels: Sequence[LabelEvent]) -> Gold:
    """*verdict*, with what those who gave it among *labels* say of the grade."""
    who = [label for label in labels if label.verdict == verdict]
    grades = [label.grade for label in who if label.grade is not None]
    return Gold(verdict, min(grades, default=None), max(label.ts for label in who))
