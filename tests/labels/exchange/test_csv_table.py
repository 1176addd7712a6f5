"""CSV for spreadsheets."""

import csv
import io
from contextlib import suppress

import pytest
from hypothesis import given

from engine.errors import ExchangeError
from labels.records import NOT_RELEVANT
from labels.tables import storable
from tests.labels.exchange.datasets import (
    RETRIEVED,
    dataset,
    event,
    made_run,
    property_test,
    read,
    read_back,
    texts,
    write,
)


def test_an_apostrophe_of_the_text_is_left_alone() -> None:
    for note in ("'tis", "'", "it's", ""):
        (label,) = read("csv", f"prompt_id,memory_id,label:jan,note:jan\np1,m1,not,{note}\n").events
        assert label.note == note


@property_test
@given(texts)
def test_every_cell_comes_back(note: str) -> None:
    (label,) = read_back("csv", dataset(event("a", note=note))).events
    assert label.note == storable(note)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_may_come_back_with_another_countrys_separator(delimiter: str) -> None:
    text = "prompt_id,memory_id,label:jan\r\np1,m1,not\r\n".replace(",", delimiter)
    (label,) = read("csv", text).events
    assert (label.annotator, label.verdict) == ("jan", NOT_RELEVANT)


def test_a_table_that_was_cut_off_gives_whole_labels_or_an_error() -> None:
    notes = ("plain", 'two\nlines, "quoted"', "")
    labels = [event(str(number), memory_id=f"m{number}", note=note) for number, note in enumerate(notes)]
    run = dataset(*labels, runs=(made_run("r"),), retrievals=(RETRIEVED,))
    whole, accepted = write("csv", run), 0
    everything = read("csv", whole).events
    for size in range(len(whole.split("\n")[0]), len(whole)):
        with suppress(ExchangeError):
            found = read("csv", whole[:size]).events
            assert found == everything[: len(found)]
            accepted += 1
    assert 0 < accepted < len(whole) / 4


def test_a_table_shows_systems_and_judges_beside_people() -> None:
    run = dataset(event("a", grade=3), runs=(made_run("r"),), retrievals=(RETRIEVED,))
    rows = list(csv.DictReader(io.StringIO(write("csv", run), newline="")))
    assert [(row["memory_id"], row["label:jan"], row["grade:jan"], row["system:bm25"]) for row in rows] == [
        ("m 3", "", "", "injected"),
        ("m1", "relevant", "3", "injected"),
    ]
