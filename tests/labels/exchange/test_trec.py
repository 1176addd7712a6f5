"""Qrels and runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from engine.errors import ExchangeError
from labels.exchange.escaping import plain, word
from labels.exchange.qrels import GRADED_QRELS, QRELS, read_qrels
from labels.exchange.records import Framed, MemoryText, Run
from labels.exchange.trec_run import CANDIDATES, RUN
from labels.records import ADJUDICATE, NOT_RELEVANT, UNSURE
from tests.labels.exchange.datasets import (
    MEMORY,
    RETRIEVED,
    dataset,
    event,
    ids,
    moment,
    read,
)

if TYPE_CHECKING:
    from pathlib import Path

OTHER = MemoryText("m2", "d2", title="Sessions", path="decisions/m2.json")


@given(ids)
def test_an_id_becomes_one_word_and_comes_back(name: str) -> None:
    assert len(word(name).split()) == 1
    assert word(name).encode("utf-8")
    assert plain(word(name)) == name


@pytest.mark.parametrize("name", ["50%", "%41", "%zz", "%ff", "a+b", "%", "plain"])
def test_an_id_that_is_not_escaped_is_what_it_is(name: str) -> None:
    assert plain(name) == name


def test_an_empty_id_is_refused_where_a_file_cannot_hold_it() -> None:
    nameless = dataset(event("a", memory_id=""), memories=(replace(MEMORY, id=""),))
    with pytest.raises(ExchangeError, match=r"empty id, which TREC's files cannot hold\. Use another format"):
        QRELS.write(nameless)


def test_what_was_pooled_and_not_judged_is_minus_two() -> None:
    pooled = Framed("p1", "m2", "d2", 1, "injected", 1.0)
    unsure = event("a", verdict=UNSURE, memory_id="m3", digest="d3")
    rows = QRELS.write(dataset(event("b"), unsure, frame=(pooled,), memories=(MEMORY, OTHER)))
    assert rows.splitlines() == ["p1 0 m1 1", "p1 0 m2 -2", "p1 0 m3 -2"]


def test_qrels_are_of_verdicts_or_of_grades(tmp_path: Path) -> None:
    labels = [
        event("a", grade=1, verdict=NOT_RELEVANT),
        event("b", memory_id="m2"),
        event("c", memory_id="m3", grade=3),
    ]
    assert QRELS.write(dataset(*labels)).split("\n") == ["p1 0 m1 0", "p1 0 m2 1", "p1 0 m3 1", ""]
    assert GRADED_QRELS.write(dataset(*labels)).split("\n") == ["p1 0 m1 1", "p1 0 m2 2", "p1 0 m3 3", ""]
    (tmp_path / "q").write_text(QRELS.write(dataset(*labels)))
    assert read_qrels(tmp_path / "q") == {"p1": {"m1": False, "m2": True, "m3": True}}


def test_an_adjudication_decides_and_a_tie_is_not_judged() -> None:
    split = [event("a"), event("b", "kim", NOT_RELEVANT)]
    frame = (Framed("p1", "m1", "d1", 1, "injected", 1.0),)
    assert QRELS.write(dataset(*split, frame=frame)) == "p1 0 m1 -2\n"
    assert QRELS.write(dataset(*split, event("c", "kim", NOT_RELEVANT, action=ADJUDICATE))) == "p1 0 m1 0\n"


def test_of_two_texts_of_a_memory_qrels_have_the_one_labelled_last() -> None:
    labels = [event("a", ts=moment(1)), event("b", verdict=NOT_RELEVANT, digest="d0", ts=moment(0))]
    assert QRELS.write(dataset(*labels)) == "p1 0 m1 1\n"


def test_scores_of_a_run_are_higher_for_better() -> None:
    run = dataset(runs=(Run("r", "bm25 judge"),), retrievals=(RETRIEVED,))
    assert RUN.write(run) == "p1 Q0 m1 1 9.5 bm25%20judge\np1 Q0 m%203 2 7.25 bm25%20judge\n"
    assert [row.split()[2:5] for row in CANDIDATES.write(run).splitlines()] == [
        ["m1", "1", "9.5"],
        ["m2", "2", "8.0"],
        ["m%203", "3", "7.25"],
    ]


def test_a_run_has_the_newest_retrieval_of_a_system() -> None:
    newer = replace(RETRIEVED, run_id="s", ts=moment(2), results=RETRIEVED.results[:1])
    run = dataset(runs=(Run("r", "bm25"), Run("s", "bm25")), retrievals=(newer, RETRIEVED))
    assert RUN.write(run) == "p1 Q0 m1 1 9.5 bm25\n"


def test_a_run_is_ordered_by_its_scores_as_trec_eval_does() -> None:
    (retrieved,) = read("run", "p1 Q0 a 1 1.0 x\np1 Q0 b 2 3.0 x\n").retrievals
    assert [(result.memory_id, result.rank) for result in retrieved.results] == [("b", 1), ("a", 2)]
