"""Whose labels are written, and what a format leaves out."""

from __future__ import annotations

import pytest

from engine.errors import ExchangeError
from labels.exchange.jsonl import JSONL
from labels.exchange.losses import dropped
from labels.exchange.qrels import QRELS
from labels.exchange.selection import gold_only, of_annotator
from labels.exchange.table import CSV
from labels.records import NOT_RELEVANT, RETRACT, UNSURE
from tests.labels.exchange.datasets import (
    dataset,
    event,
)


def test_one_annotators_events_or_what_all_say() -> None:
    labels = dataset(event("a"), event("b", "kim", NOT_RELEVANT), event("c", "lou", NOT_RELEVANT, grade=1))
    assert [each.annotator for each in of_annotator(labels, "kim").events] == ["kim"]
    (together,) = gold_only(labels).events
    assert (together.annotator, together.verdict, together.grade) == ("gold", NOT_RELEVANT, 1)
    with pytest.raises(ExchangeError, match=r"There are no labels by 'ann'\. There are labels by jan, kim, lou"):
        of_annotator(labels, "ann")
    with pytest.raises(ExchangeError, match="There are no labels yet"):
        of_annotator(dataset(), "ann")


def test_what_a_format_leaves_out_is_counted_by_kind() -> None:
    retraction = event("c", verdict=None, action=RETRACT, supersedes="b")
    full = dataset(event("a", grade=3, note="n"), event("b", memory_id="m2"), retraction, event("d", "kim", UNSURE))
    assert dropped(full, JSONL.keeps) == []
    assert dropped(full, QRELS.keeps) == [
        (1, "labels that were taken back or changed later"),
        (1, "labels of single people, beyond what holds together"),
        (1, "unsure or unrateable labels"),
        (1, "grades"),
        (1, "labels' reasons, notes, times and circumstances"),
        (1, "texts of prompts"),
        (1, "texts of memories"),
    ]
    assert dropped(full, CSV.keeps) == [(1, "labels that were taken back or changed later")]
