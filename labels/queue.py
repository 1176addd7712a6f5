"""What to show next, and at what pace a person labels."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from labels.records import LABEL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from labels.records import Card, Event, Pair, Pool

MAX_SKIPS = 2
"""A card that was skipped this often is passed for good."""


def open_cards(pool: Pool, labelled: Collection[Pair], skips: Mapping[Pair, int]) -> tuple[Card, ...]:
    """The cards still to be shown: those never skipped in the pool's order, then those skipped once."""
    unlabelled = [card for card in pool.cards if card.pair not in labelled]
    return tuple(card for times in range(MAX_SKIPS) for card in unlabelled if skips.get(card.pair, 0) == times)


def pace(events: Iterable[Event]) -> float | None:
    """The median time per label in seconds; None before the first label."""
    times = [event.elapsed_ms for event in events if event.action == LABEL]
    return median(times) / 1000 if times else None
