"""Qrels and runs."""

import json
import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from engine.errors import ExchangeError
from labels.exchange.replay_file import read_outcomes
from labels.exchange.trec import read_qrels
from labels.records import NOT_RELEVANT
from labels.tables import storable
from tests.labels.exchange.datasets import (
    MEMORY,
    RETRIEVED,
    dataset,
    event,
    ids,
    made_run,
    moment,
    read,
    result,
    write,
)
from tests.labels.samples import write as write_lines


@given(ids.map(storable))
def test_an_id_becomes_one_word_and_comes_back(name: str) -> None:
    (row,) = write("qrels", dataset(event("a", memory_id=name))).encode("utf-8").splitlines()
    assert len(row.split()) == 4
    assert ids_in(row.decode()) == ["p1", name]


def ids_in(row: str) -> list[str]:
    (label,) = read("qrels", row).events
    return [label.prompt_id, label.memory_id]


@pytest.mark.parametrize("name", ["50%", "%41", "%zz", "%ff", "a+b", "%", "plain"])
def test_an_id_that_is_not_escaped_is_what_it_is(name: str) -> None:
    assert ids_in(f"{name} 0 {name} 1") == [name, name]


def test_an_empty_id_is_refused_where_a_file_cannot_hold_it() -> None:
    nameless = dataset(event("a", memory_id=""), memories=(MEMORY._replace(id=""),))
    with pytest.raises(ExchangeError, match=r"empty id, which TREC's files cannot hold\. Use another format"):
        write("qrels", nameless)


def test_qrels_are_of_verdicts_or_of_grades(tmp_path: Path) -> None:
    labels = [
        event("a", grade=1, verdict=NOT_RELEVANT),
        event("b", memory_id="m2"),
        event("c", memory_id="m3", grade=3),
    ]
    assert write("qrels", dataset(*labels)).split("\n") == ["p1 0 m1 0", "p1 0 m2 1", "p1 0 m3 1", ""]
    assert write("qrels-graded", dataset(*labels)).split("\n") == ["p1 0 m1 1", "p1 0 m2 2", "p1 0 m3 3", ""]
    (tmp_path / "q").write_text(write("qrels", dataset(*labels)))
    assert read_qrels(tmp_path / "q") == {"p1": {"m1": False, "m2": True, "m3": True}}


def test_of_two_texts_of_a_memory_qrels_have_the_one_labelled_last() -> None:
    labels = [event("a", ts=moment(1)), event("b", verdict=NOT_RELEVANT, digest="d0", ts=moment(0))]
    assert write("qrels", dataset(*labels)) == "p1 0 m1 1\n"


def test_scores_of_a_run_are_higher_for_better() -> None:
    run = dataset(runs=(made_run("r", "bm25 judge"),), retrievals=(RETRIEVED,))
    assert write("run", run) == "p1 Q0 m1 1 9.5 bm25%20judge\np1 Q0 m%203 2 7.25 bm25%20judge\n"
    assert [row.split()[2:5] for row in write("run-candidates", run).splitlines()] == [
        ["m1", "1", "9.5"],
        ["m2", "2", "8.0"],
        ["m%203", "3", "7.25"],
    ]


def test_equal_scores_of_a_run_fall_with_the_rank_in_single_precision() -> None:
    scores = (-9.5, -9.5, -9.5 + 1e-12, -8.0, -8.5, 0.0, 0.0)
    results = [result(f"m{rank}", "d", rank, score, injected=True) for rank, score in enumerate(scores, start=1)]
    run = dataset(runs=(made_run("r"),), retrievals=({**RETRIEVED, "results": results},))
    written = [float(row.split()[4]) for row in write("run", run).splitlines()]
    assert written == pytest.approx([9.5, 9.5, 9.5, 8.0, 8.0, 0.0, 0.0], abs=1e-5)
    singles = [np.float32(score) for score in written]
    assert all(second < first for first, second in pairwise(singles))
    (back,) = read("run", write("run", run)).retrievals
    assert [found["memory_id"] for found in back["results"]] == [found["memory_id"] for found in results]


def test_a_run_has_the_newest_retrieval_of_a_system() -> None:
    newer = {**RETRIEVED, "run_id": "s", "ts": moment(2), "results": RETRIEVED["results"][:1]}
    run = dataset(runs=(made_run("r"), made_run("s")), retrievals=(newer, RETRIEVED))
    assert write("run", run) == "p1 Q0 m1 1 9.5 bm25\n"


def test_a_run_is_ordered_by_its_scores_as_trec_eval_does() -> None:
    (retrieved,) = read("run", "p1 Q0 a 1 1.0 x\np1 Q0 b 2 3.0 x\n").retrievals
    assert [(found["memory_id"], found["rank"]) for found in retrieved["results"]] == [("b", 1), ("a", 2)]


def test_qrels_are_read_by_prompt_and_memory_and_negative_grades_say_that_nobody_judged(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "q", "p1 0 a 1", "p1\t0\tb\t0", "", "  p2 Q0 c 3  ", "p1 0 d -1", "p1 0 e -2")
    assert read_qrels(path) == {"p1": {"a": True, "b": False}, "p2": {"c": True}}
    path.write_bytes(b"\xef\xbb\xbfp1 0 a 1\r\np1 0 b 0\r\n")  # Windows
    assert read_qrels(path) == {"p1": {"a": True, "b": False}}


def test_names_in_qrels_and_runs_are_compared_however_an_accent_is_written(tmp_path: Path) -> None:
    name = unicodedata.normalize("NFD", "café")
    path = write_lines(tmp_path / "q", f"{name} 0 {name} 1")
    assert read_qrels(path) == {"café": {"café": True}}
    row = {"prompt_id": name, "system": "bm25", "injected": [{"id": name}], "candidates": []}
    (outcome,) = read_outcomes(write_lines(tmp_path / "r", json.dumps(row)))
    assert (outcome.prompt_id, outcome.injected) == ("café", ("café",))
