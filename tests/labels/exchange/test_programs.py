"""What the formats of other programs promise beyond giving back what they keep."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.prompt import Prompt
from labels.exchange.argilla import ARGILLA
from labels.exchange.formats import FORMATS
from labels.exchange.memo import MEMO
from labels.exchange.people import address, person
from labels.exchange.qmd import QMD
from labels.exchange.records import MemoryText
from labels.records import NOT_RELEVANT, RELEVANT, SKIP, UNRATEABLE, UNSURE
from tests.labels.exchange.datasets import (
    MEMORY,
    dataset,
    event,
    read,
)

OTHER = MemoryText("m2", "d2", title="Sessions", path="decisions/m2.json")


def test_addresses_are_hashed_the_same_way_in_and_out() -> None:
    assert person("Jan@Example.org ") == person("jan@example.org") != person("kim@example.org")
    assert person(address("jan")) == person("jan")
    assert address(person("jan")) == address("jan")
    assert "jan" not in address("jan@example.org")


def test_a_books_addresses_do_not_reach_the_dataset() -> None:
    pair = {"query_text": "q", "doc_id": "d", "judgements": [{"rating": 1, "user_email": "jan@example.org"}]}
    (label,) = read("quepid", json.dumps({"query_doc_pairs": [pair]})).events
    assert label.annotator == person("jan@example.org")


def test_label_studios_users_are_told_apart_without_their_addresses() -> None:
    result = [{"from_name": "relevance", "to_name": "memory", "type": "choices", "value": {"choices": ["not"]}}]
    users: list[Any] = [7, {"id": 3, "email": "a@example.org"}, {"id": 3}, None]
    annotations = [{"completed_by": user, "result": result} for user in users]
    task = {"data": {"prompt": "q", "memory_id": "m"}, "annotations": annotations}
    found = [label.annotator for label in read("label-studio", json.dumps([task])).events]
    assert found == ["user-7", person("a@example.org"), "user-3", "label-studio"]


@pytest.mark.parametrize(
    ("scale", "rating", "verdict", "grade"),
    [
        ([0, 1], 1, RELEVANT, None),
        ([0, 1, 2, 3], 1, NOT_RELEVANT, 1),
        ("0,1,2,3", 2, RELEVANT, 2),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 6, RELEVANT, None),
        (None, 0.0, NOT_RELEVANT, None),
    ],
)
def test_the_upper_half_of_a_books_scale_is_relevant(
    scale: Any, rating: float, verdict: str, grade: int | None
) -> None:
    pair = {"query_text": "q", "doc_id": "d", "document_fields": None, "judgements": [{"rating": rating}]}
    book = {"scorer": {"scale": scale}, "query_doc_pairs": [pair]}
    (label,) = read("quepid", json.dumps(book)).events
    assert (label.verdict, label.grade) == (verdict, grade)


def test_a_foreign_books_documents_bring_their_fields_as_text() -> None:
    pair = {"query_text": "q", "doc_id": "d", "document_fields": json.dumps({"title": "T", "price": 3, "empty": ""})}
    book = read("quepid", json.dumps({"query_doc_pairs": [{**pair, "judgements": [{"rating": 1}]}]}))
    assert book.memories == (MemoryText("d", title="T", body="price: 3"),)


def test_cannot_tell_and_judge_later_are_unrateable_and_a_skip() -> None:
    judgements = [{"unrateable": True, "rating": None, "explanation": "broken"}, {"judge_later": True}]
    pair = {"query_text": "q", "doc_id": "d", "judgements": judgements}
    told, later = read("quepid", json.dumps({"query_doc_pairs": [pair]})).events
    assert (told.verdict, told.note) == (UNRATEABLE, "broken")
    assert (later.action, later.verdict) == (SKIP, None)


def test_a_prompt_that_quepid_cannot_hold_is_known_by_its_id() -> None:
    long = Prompt("p1", "word " * 200)
    book = json.loads(FORMATS["quepid"].write(dataset(event("a"), prompts=(long,))))
    assert len(book["query_doc_pairs"][0]["query_text"]) == 500
    assert read("quepid", json.dumps(book)).prompts == (Prompt("p1", ""),)


def test_qmd_names_files_and_memo_names_what_to_avoid() -> None:
    labels = [event("a"), event("b", memory_id="m2", digest="d2", verdict=NOT_RELEVANT)]
    given_dataset = dataset(*labels, memories=(MEMORY, OTHER))
    (query,) = json.loads(QMD.write(given_dataset))["queries"]
    assert (query["expected_files"], query["type"], query["expected_in_top_k"]) == (
        ["decisions/m1.json"],
        "specific",
        3,
    )
    (row,) = json.loads(MEMO.write(given_dataset))["prompts"]
    assert (row["relevant"], row["expect_ids"], row["avoid_ids"]) == (True, ["m1"], ["m2"])


def test_argillas_users_are_uuids_that_stand_for_names() -> None:
    (record,) = json.loads(ARGILLA.write(dataset(event("a"), event("b", "kim", UNSURE))))
    answers = record["responses"]["relevance"]
    assert [answer["status"] for answer in answers] == ["submitted", "discarded"]
    assert len({answer["user_id"] for answer in answers}) == 2
    del record["metadata"]["annotators"]
    assert [label.annotator for label in read("argilla", json.dumps([record])).events] == [
        answer["user_id"] for answer in answers
    ]


def test_a_draft_of_argilla_is_no_label() -> None:
    (record,) = json.loads(ARGILLA.write(dataset(event("a"))))
    record["responses"]["relevance"][0]["status"] = "draft"
    assert read("argilla", json.dumps([record])).events == ()


def test_what_prodigy_accepts_is_relevant_whatever_was_said_before() -> None:
    row = json.loads(FORMATS["prodigy"].write(dataset(event("a", verdict=NOT_RELEVANT))))
    (label,) = read("prodigy", json.dumps({**row, "answer": "accept"})).events
    assert label.verdict == RELEVANT
