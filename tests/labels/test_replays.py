"""Outcomes as the store reads them back, for any stored retrievals."""

from hypothesis import given

from labels.exchange.rows import Dataset, Row
from labels.records import Outcome
from labels.store import LabelStore
from tests.labels.exchange.datasets import opened, store_test, stored_datasets


def expected(dataset: Dataset, retrieved: Row) -> Outcome:
    asked = {event.memory_id for event in dataset.events if event.prompt_id == retrieved["prompt_id"]}
    ranked = [found for found in retrieved["results"] if found["injected"] or found["memory_id"] in asked]
    injected = [found for found in ranked if found["injected"]]
    probabilities = {found["memory_id"]: found["probability"] for found in ranked}
    return Outcome(
        retrieved["prompt_id"],
        next(run["system"] for run in dataset.runs if run["run_id"] == retrieved["run_id"]),
        injected=tuple(found["memory_id"] for found in injected),
        candidates=tuple(found["memory_id"] for found in ranked),
        decisions=tuple(found["verdict"] and found["verdict"]["decision"] for found in ranked),
        fallback=retrieved["fallback"],
        elapsed_ms=retrieved["elapsed_ms"],
        run_id=retrieved["run_id"],
        kind=next(prompt.kind for prompt in dataset.prompts if prompt.id == retrieved["prompt_id"]),
        is_asked=any(found["verdict"] for found in retrieved["results"]),
        confidences=tuple(found["confidence"] for found in injected),
        matched=tuple(len(found["matched"]) or None for found in injected),
        scores=tuple(found["score"] for found in injected),
        probabilities={name: value for name, value in probabilities.items() if value is not None},
        digests={found["memory_id"]: found["digest"] for found in ranked},
    )


@store_test
@given(stored_datasets)
def test_outcomes_are_what_was_stored(dataset: Dataset) -> None:
    with opened(dataset) as (db,), LabelStore.open(db.path) as store:
        found = {(each.prompt_id, each.run_id): each for each in store.outcomes()}
    assert found == {(row["prompt_id"], row["run_id"]): expected(dataset, row) for row in dataset.retrievals}
