"""Label Studio and Prodigy: files that these programs can load, and the names of their users."""

import json
from typing import Any

import pytest

from labels.exchange.files import Dataset
from labels.exchange.registry import FORMATS
from labels.records import NOT_RELEVANT, RELEVANT, SKIP
from tests.labels.exchange.datasets import dataset, event, moment, read, write
from tests.labels.exchange.schemas import check_label_studio

INTERFACE = FORMATS["label-studio"].interface


def tasks_of(given_dataset: Dataset) -> Any:
    return json.loads(write("label-studio", given_dataset))


def test_the_check_sees_what_is_wrong() -> None:
    tasks = tasks_of(dataset(event("a", grade=2)))
    tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["maybe"]
    with pytest.raises(AssertionError):
        check_label_studio(tasks, INTERFACE)


def test_a_task_holds_everybodys_annotation_and_a_skip_is_cancelled() -> None:
    skip = event("c", "lou", None, action=SKIP, elapsed_ms=1500, ts=moment(1))
    (task,) = tasks_of(dataset(event("a"), event("b", "kim", NOT_RELEVANT), skip))
    given_by = [(each["annotator"], each["was_cancelled"], each["lead_time"]) for each in task["annotations"]]
    assert given_by == [("jan", False, 0.0), ("kim", False, 0.0), ("lou", True, 1.5)]


def annotators_of(*users: Any) -> list[str]:
    """The annotators of annotations that these users of Label Studio made."""
    result = [{"from_name": "relevance", "to_name": "memory", "type": "choices", "value": {"choices": ["not"]}}]
    annotations = [{"completed_by": user, "result": result} for user in users]
    task = {"data": {"prompt": "q", "memory_id": "m"}, "annotations": annotations}
    return [label.annotator for label in read("label-studio", json.dumps([task])).events]


def test_label_studios_users_are_told_apart_without_their_addresses() -> None:
    users = {"id": 3, "email": "Jan@Example.org "}, {"id": 4, "email": "jan@example.org"}, {"email": "kim@example.org"}
    same, jan, kim = annotators_of(*users)
    assert same == jan != kim
    assert jan.startswith("person-")
    assert annotators_of({"email": jan}) == [jan]
    assert annotators_of(7, {"id": 3}, None) == ["user-7", "user-3", "label-studio"]


def test_what_prodigy_accepts_is_relevant_whatever_was_said_before() -> None:
    row = json.loads(write("prodigy", dataset(event("a", verdict=NOT_RELEVANT))))
    (label,) = read("prodigy", json.dumps({**row, "answer": "accept"})).events
    assert label.verdict == RELEVANT


def test_an_answer_without_a_choice_is_left_out_and_named() -> None:
    (task,) = tasks_of(dataset(event("a", ts=moment(1))))
    task["annotations"].insert(0, {"result": [], "created_at": moment(2)})
    found = read("label-studio", json.dumps([task, task]))
    assert [label.verdict for label in found.events] == [RELEVANT, RELEVANT]
    assert found.unanswered == ("$[0].annotations[0]", "$[1].annotations[0]")
    row = json.loads(write("prodigy", dataset(event("a"))))
    found = read("prodigy", "\n".join(json.dumps({**row, "answer": answer}) for answer in (None, "accept")))
    assert ([label.verdict for label in found.events], found.unanswered) == ([RELEVANT], ("line 1",))


def test_an_annotation_is_as_new_as_its_last_change() -> None:
    (task,) = tasks_of(dataset(event("a", ts=moment(1))))
    task["annotations"][0]["updated_at"] = moment(5)
    (label,) = read("label-studio", json.dumps([task])).events
    assert label.ts == moment(5)
