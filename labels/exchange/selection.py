"""Whose labels are exported: everybody's, one person's, or what all say together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import ExchangeError
from labels.exchange.records import LabelEvent
from labels.exchange.standing import gold

if TYPE_CHECKING:
    from labels.exchange.records import Dataset

GOLD = "gold"
"""The annotator who says what all say together."""


def of_annotator(dataset: Dataset, annotator: str) -> Dataset:
    """*dataset* with the events of one annotator; ExchangeError if there are none."""
    own = tuple(event for event in dataset.events if event.annotator == annotator)
    if not own:
        names = sorted({event.annotator for event in dataset.events})
        known = f"There are labels by {', '.join(names)}." if names else "There are no labels yet."
        raise ExchangeError(f"There are no labels by {annotator!r}. {known}")
    plan = tuple(each for each in dataset.plan if each.annotator == annotator)
    sightings = tuple(each for each in dataset.sightings if each.annotator == annotator)
    return replace(dataset, events=own, plan=plan, sightings=sightings)


def gold_only(dataset: Dataset) -> Dataset:
    """*dataset* with one label for each pair that has gold, by the annotator `gold`."""
    events = tuple(
        LabelEvent(GOLD, *pair, verdict=said.verdict, grade=said.grade, ts=said.ts)
        for pair, said in gold(dataset.events).items()
    )
    return replace(dataset, events=events, plan=(), sightings=())
