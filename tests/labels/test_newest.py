"""What is read for a report column by column, against the records that were stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from labels.events import current_labels
from labels.newest import newest_replays
from labels.records import Outcome
from tests.labels.exchange.datasets import opened, store_test, stored_datasets

if TYPE_CHECKING:
    from labels.database import LabelDatabase
    from labels.exchange.records import Dataset, Retrieved


def known_of(dataset: Dataset, retrieved: Retrieved) -> list[str]:
    asked = {event.memory_id for event in dataset.events if event.prompt_id == retrieved.prompt_id}
    return [each.memory_id for each in retrieved.results if each.injected or each.memory_id in asked]


def expected(dataset: Dataset, retrieved: Retrieved, *, scored: bool) -> Outcome:
    known = known_of(dataset, retrieved)
    ranked = [each for each in retrieved.results if each.memory_id in known]
    injected = [each for each in ranked if each.injected]
    return Outcome(
        retrieved.prompt_id,
        next(run.system for run in dataset.runs or () if run.run_id == retrieved.run_id),
        injected=tuple(each.memory_id for each in injected),
        candidates=tuple(each.memory_id for each in ranked),
        decisions=tuple(each.verdict.decision if each.verdict else None for each in ranked),
        fallback=retrieved.fallback,
        elapsed_ms=retrieved.elapsed_ms,
        run_id=retrieved.run_id,
        kind=next(prompt.kind for prompt in dataset.prompts if prompt.id == retrieved.prompt_id),
        is_asked=any(each.verdict for each in retrieved.results),
        confidences=tuple(each.confidence for each in injected),
        matched=tuple(len(each.matched) or None for each in injected),
        scores=tuple(each.score if scored else None for each in injected),
        probabilities={each.memory_id: each.probability for each in ranked if scored and each.probability is not None},
        digests={each.memory_id: each.digest for each in ranked},
    )


@store_test
@given(stored_datasets, st.booleans())
def test_outcomes_are_what_was_stored(dataset: Dataset, scored: bool) -> None:
    with opened(dataset) as (db,):
        found = {(each.prompt_id, each.run_id): each for each in newest_replays(db, None, scored).outcomes}
    assert found == {
        (each.prompt_id, each.run_id): expected(dataset, each, scored=scored) for each in dataset.retrievals or ()
    }


@store_test
@given(stored_datasets, st.booleans())
def test_what_runs_over_a_root_brought_up_says_which_labels_are_of_that_root(dataset: Dataset, scored: bool) -> None:
    with opened(dataset) as (db,):
        for run in dataset.runs or ():
            brought_up = newest_replays(db, run.root, scored).brought_up
            every = current_labels(db, None, None, None)
            assert [label for label in every if label.memory_id in brought_up.get(label.prompt_id, ())] == list(
                current_labels(db, None, None, run.root)
            )


@store_test
@given(stored_datasets)
def test_labels_are_what_was_stored(dataset: Dataset) -> None:
    with opened(dataset) as (db,):
        assert [label._asdict() for label in current_labels(db, None, None, None)] == labels_row_by_row(db)


def labels_row_by_row(db: LabelDatabase) -> list[dict[str, object]]:
    names = "event_id, ts, annotator, prompt_id, memory_id, digest, verdict, grade, reason, note, blind, source"
    rows = db.rows(f"SELECT {names} FROM label_current ORDER BY event_id")
    return [{**row, "blind": row["blind"] == 1, "adjudicated": False} for row in rows]
