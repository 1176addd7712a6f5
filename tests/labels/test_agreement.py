from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_kappa

from engine.judge.verdict import APPROVED, FLAGGED, REJECTED, TIMEOUT
from labels.measure.agreement import Comparison, Confusion, agreement, cohens_kappa
from labels.measure.intervals import headline_interval
from labels.measure.metrics import Ratio
from tests.labels.samples import outcome


@pytest.mark.parametrize("counts", [(40, 9, 6, 45), (1, 2, 3, 4), (0, 5, 5, 0), (30, 0, 1, 200), (7, 0, 0, 7)])
def test_kappa_and_its_error_are_what_statsmodels_says(counts: tuple[int, int, int, int]) -> None:
    oracle = statsmodels_kappa(np.array(counts).reshape(2, 2))
    kappa, error = cohens_kappa(Confusion(*counts))
    assert kappa == pytest.approx(oracle.kappa, abs=1e-6)
    assert error == pytest.approx(oracle.std_kappa, abs=1e-6)


@pytest.mark.parametrize("counts", [(0, 0, 0, 0), (9, 0, 0, 0), (0, 0, 0, 9)])
def test_kappa_is_unknown_when_only_one_answer_was_given(counts: tuple[int, int, int, int]) -> None:
    assert cohens_kappa(Confusion(*counts)) == (None, None)


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
    assert found.flagged == 0


def test_a_judge_that_failed_has_not_rejected_anything() -> None:
    outcomes = [
        outcome(["a"], decisions={"a": APPROVED, "b": REJECTED}),
        outcome(["a", "b"], prompt_id="p2", decisions={"a": FLAGGED, "b": FLAGGED, "c": FLAGGED}, fallback=TIMEOUT),
    ]
    found = agreement(outcomes, {"p1": {"a": True, "b": False}, "p2": {"a": True, "b": True}})
    assert found is not None
    assert found.confusion == Confusion(1, 0, 0, 1)
    assert found.sensitivity == Ratio(1, 1)
    assert found.flagged == 2


def test_without_a_judge_or_without_labels_there_is_no_agreement() -> None:
    assert agreement([outcome(["a"])], {"p1": {"a": True}}) is None
    assert agreement([outcome(["a"], decisions={"a": APPROVED})], {}) is None


def test_a_judge_that_always_failed_has_no_rates() -> None:
    found = agreement([outcome(["a"], decisions={"a": FLAGGED})], {"p1": {"a": True}})
    assert found is not None
    assert (found.flagged, found.sensitivity.value, found.kappa, found.sensitivity_interval) == (1, None, None, None)
