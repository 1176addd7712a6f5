from __future__ import annotations

import pytest
from sklearn.metrics import cohen_kappa_score, recall_score

from engine.judge.verdict import APPROVED, FLAGGED, REJECTED, TIMEOUT
from labels.measure.agreement import Comparison, Confusion, agreement
from labels.measure.intervals import headline_interval
from labels.measure.metrics import Ratio
from labels.measure.weights import Weights
from tests.labels.samples import outcome


def test_the_judge_is_compared_with_people_memory_by_memory() -> None:
    outcomes = [
        outcome(["a", "b"], decisions={"a": APPROVED, "b": APPROVED, "c": REJECTED, "d": REJECTED, "x": APPROVED}),
        outcome(["a"], prompt_id="p2", decisions={"a": APPROVED, "b": REJECTED, "seen by no judge": None}),
    ]
    people = {
        "p1": {"a": True, "b": False, "c": True, "d": False},
        "p2": {"a": True, "b": False, "seen by no judge": True},
    }
    found = agreement(outcomes, people)
    assert found is not None
    assert found.confusion == Confusion(kept_relevant=2, kept_irrelevant=1, dropped_relevant=1, dropped_irrelevant=2)
    assert (found.sensitivity, found.specificity, found.raw) == (Ratio(2, 3), Ratio(2, 3), Ratio(4, 6))
    assert found.disagreements == (Comparison("p1", "b", False, True), Comparison("p1", "c", True, False))
    assert found.kappa == pytest.approx(1 / 3)
    assert found.sensitivity_interval == headline_interval([(1, 2), (1, 1)])
    assert found.deployed == 0


def test_where_the_judge_failed_it_is_graded_on_the_fallback_that_was_injected() -> None:
    outcomes = [
        outcome(["a"], decisions={"a": APPROVED, "b": REJECTED}),
        outcome(["a", "b"], prompt_id="p2", decisions={"a": FLAGGED, "b": FLAGGED, "c": FLAGGED}, fallback=TIMEOUT),
    ]
    found = agreement(outcomes, {"p1": {"a": True, "b": False}, "p2": {"a": True, "b": False, "c": True}})
    assert found is not None
    assert found.confusion == Confusion(kept_relevant=2, kept_irrelevant=1, dropped_relevant=1, dropped_irrelevant=1)
    assert (found.sensitivity, found.deployed) == (Ratio(2, 3), 3)
    assert Comparison("p2", "b", person=False, judge=True, is_deployed=True) in found.disagreements


def test_what_an_answering_judge_is_not_sure_of_was_not_injected() -> None:
    found = agreement([outcome(["a"], decisions={"a": APPROVED, "b": FLAGGED})], {"p1": {"a": True, "b": False}})
    assert found is not None
    assert (found.specificity, found.deployed) == (Ratio(1, 1), 1)


def test_without_a_judge_or_without_labels_there_is_no_agreement() -> None:
    assert agreement([outcome(["a"])], {"p1": {"a": True}}) is None
    assert agreement([outcome(["a"], decisions={"a": APPROVED})], {}) is None


def test_one_of_a_sample_counts_for_as_many_as_it_stands_for() -> None:
    """Of four that the judge dropped one was labelled; it stands for all four."""
    outcomes = [
        outcome(["a", "b"], decisions={"a": APPROVED, "b": APPROVED, "c": REJECTED}),
        outcome(["a"], prompt_id="p2", decisions={"a": APPROVED, "d": REJECTED}),
    ]
    people = {"p1": {"a": True, "b": False, "c": True}, "p2": {"a": True, "d": False}}
    found = agreement(outcomes, people, Weights(pairs={"p1": {"c": 4.0}}))
    assert found is not None
    assert found.confusion == Confusion(2, 1, 1, 1)
    person, judge, weights = [1, 0, 1, 1, 0], [1, 1, 0, 1, 0], [1, 1, 4, 1, 1]
    assert found.sensitivity.value == pytest.approx(recall_score(person, judge, sample_weight=weights), abs=1e-9)
    assert (found.sensitivity.part, found.sensitivity.whole) == (2, 3)
    assert found.specificity == Ratio(1, 2)
    assert found.kappa == pytest.approx(cohen_kappa_score(person, judge, sample_weight=weights), abs=1e-9)
    assert found.sensitivity_interval is not None
    assert found.sensitivity_interval.low <= 1 / 3 <= found.sensitivity_interval.high
