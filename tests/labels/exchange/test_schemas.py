from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labels.exchange.label_studio import CONFIG, LABEL_STUDIO
from labels.exchange.quepid import QUEPID
from labels.records import NOT_RELEVANT, SKIP, UNSURE
from tests.labels.exchange.datasets import dataset, datasets, event, moment, property_test
from tests.labels.exchange.schemas import check_label_studio, check_quepid

if TYPE_CHECKING:
    from labels.exchange.records import Dataset

PEOPLE = st.sampled_from(["jan", "kim", "ann@example.org"])


@property_test
@given(datasets())
def test_label_studio_can_load_what_is_written_for_it(given_dataset: Dataset) -> None:
    check_label_studio(json.loads(LABEL_STUDIO.write(given_dataset)), CONFIG)


@property_test
@given(datasets(annotators=PEOPLE))
def test_quepid_can_load_what_is_written_for_it(given_dataset: Dataset) -> None:
    assume(all(prompt.text.strip() for prompt in given_dataset.prompts))
    check_quepid(json.loads(QUEPID.write(given_dataset)))


def test_the_checks_see_what_is_wrong() -> None:
    labels = dataset(event("a", grade=2), event("b", "kim", UNSURE, note="?"))
    book, tasks = json.loads(QUEPID.write(labels)), json.loads(LABEL_STUDIO.write(labels))
    book["query_doc_pairs"][0]["judgements"][1]["unrateable"] = False
    tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["maybe"]
    with pytest.raises(AssertionError):
        check_quepid(book)
    with pytest.raises(AssertionError):
        check_label_studio(tasks, CONFIG)


def test_a_task_holds_everybodys_annotation_and_a_skip_is_cancelled() -> None:
    skip = event("c", "lou", None, action=SKIP, elapsed_ms=1500, ts=moment(1))
    (task,) = json.loads(LABEL_STUDIO.write(dataset(event("a"), event("b", "kim", NOT_RELEVANT), skip)))
    said = [(each["annotator"], each["was_cancelled"], each["lead_time"]) for each in task["annotations"]]
    assert said == [("jan", False, 0.0), ("kim", False, 0.0), ("lou", True, 1.5)]
