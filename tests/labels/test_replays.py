"""Outcomes as the store reads them back, for any stored retrievals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from labels.records import Outcome
from labels.store import LabelStore
from tests.labels.exchange.datasets import opened, store_test, stored_datasets

if TYPE_CHECKING:
    from labels.exchange.records import Dataset, RetrievalRow


def known_of(dataset: Dataset, retrieved: RetrievalRow) -> list[str]:
    asked = {event.memory_id for event in dataset.events if event.prompt_id == retrieved.prompt_id}
    return [each.memory_id for each in retrieved.results if each.injected or each.memory_id in asked]


def expected(dataset: Dataset, retrieved: RetrievalRow) -> Outcome:
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
        scores=tuple(each.score for each in injected),
        probabilities={each.memory_id: each.probability for each in ranked if each.probability is not None},
        digests={each.memory_id: each.digest for each in ranked},
    )


@store_test
@given(stored_datasets)
def test_outcomes_are_what_was_stored(dataset: Dataset) -> None:
    with opened(dataset) as (db,), LabelStore.open(db.path) as store:
        found = {(each.prompt_id, each.run_id): each for each in store.outcomes()}
    assert found == {(each.prompt_id, each.run_id): expected(dataset, each) for each in dataset.retrievals}
