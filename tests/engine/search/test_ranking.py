"""Floors, order and confidence."""

import pytest

from engine.config import Config
from engine.lean.record import replace
from engine.retrieval import HIGH, LOW, MEDIUM, Candidate
from engine.search.ranking import Scored, below_floor, rank
from tests.engine.builders import memory


def scored(title: str, bm25: float, bonus: int = 0, category: str = "decision", status: str = "active") -> Scored:
    return Scored(memory(title, category=category, status=status).summary, bm25, bonus, bm25 - bonus, ())


def ranked(*pairs: tuple[str, float], floor: float = 0.0) -> list[Candidate]:
    return rank([scored(title, bm25) for title, bm25 in pairs], replace(Config(), confidence_abs_floor=floor))


def test_candidates_are_ordered_by_score_with_the_bonus() -> None:
    found = rank([scored("A", -5.0), scored("B", -4.0, bonus=2)], Config())
    assert [(one.memory.title, one.rank, one.score) for one in found] == [("B", 1, -6.0), ("A", 2, -5.0)]


def test_equal_scores_are_ordered_by_category_and_then_by_path() -> None:
    names = ["session_summary", "tech_debt", "runbook", "preference", "constraint", "decision"]
    found = rank([*(scored("Same", -1.0, category=name) for name in names), scored("Another", -1.0)], Config())
    assert [one.memory.category for one in found] == ["decision", *reversed(names)]
    assert [one.memory.title for one in found[:2]] == ["Another", "Same"]


def test_the_floor_is_a_share_of_the_best_score_without_the_bonus() -> None:
    kept = below_floor(ranked(("A", -8.0), ("B", -2.0), ("C", -1.99)), 0.25, 0.0)
    assert [one.dropped_by for one in kept] == [None, None, "floor"]
    assert kept[2].reason == "1.99 is under the floor of 2.00"


def test_a_bonus_on_the_best_does_not_throw_out_an_honest_match() -> None:
    candidates = rank([scored("A", -4.0, bonus=3), scored("B", -1.5)], Config())
    assert candidates[1].ratio < 0.25
    assert [one.dropped_by for one in below_floor(candidates, 0.25, 0.0)] == [None, None]


def test_a_bonus_does_not_lift_a_weak_match_over_the_floor() -> None:
    candidates = rank([scored("A", -8.0), scored("B", -1.0, bonus=3)], Config())
    assert candidates[1].ratio == 0.5
    assert [one.dropped_by for one in below_floor(candidates, 0.25, 0.0)] == [None, "floor"]


def test_what_is_too_weak_at_all_falls_even_if_it_is_the_best() -> None:
    kept = below_floor(ranked(("A", -2.0), ("B", -1.99)), 0.25, 2.0)
    assert [one.dropped_by for one in kept] == [None, "floor"]
    assert kept[1].reason == "1.99 is too weak at all: the least is 2.00"


def test_what_is_dropped_already_does_not_raise_the_floor() -> None:
    first, second = ranked(("A", -20.0), ("B", -2.0))
    kept = below_floor([replace(first, dropped_by="status"), second], 0.25, 0.0)
    assert [one.dropped_by for one in kept] == ["status", None]


@pytest.mark.parametrize(
    ("bm25", "confidence"), [(-10.0, HIGH), (-7.5, HIGH), (-7.49, MEDIUM), (-4.0, MEDIUM), (-3.99, LOW), (-0.1, LOW)]
)
def test_confidence_is_the_ratio_to_the_best(bm25: float, confidence: str) -> None:
    candidate = ranked(("A", -10.0), ("B", bm25))[1]
    assert candidate.confidence == confidence
    assert candidate.ratio == pytest.approx(bm25 / -10.0)


def test_a_single_candidate_has_ratio_one() -> None:
    (only,) = ranked(("A", -0.001))
    assert (only.ratio, only.confidence, only.rank) == (1.0, HIGH, 1)


def test_under_the_absolute_floor_confidence_is_medium_at_most() -> None:
    found = ranked(("A", -5.0), ("B", -4.0), ("C", -1.0), floor=4.5)
    assert [one.confidence for one in found] == [HIGH, MEDIUM, LOW]
    assert ranked(("A", -1.0), floor=1.0)[0].confidence == HIGH


def test_confidence_compares_with_the_best_that_may_be_injected() -> None:
    pool = [scored("Old", -10.0, status="retired"), scored("New", -3.0)]
    assert [one.confidence for one in rank(pool, Config())] == [HIGH, HIGH]
    assert [one.ratio for one in rank(pool, Config())] == [1.0, 1.0]
    assert [one.confidence for one in rank(pool, Config(), include_retired=True)] == [HIGH, LOW]


def test_nothing_is_ranked_and_floored_to_nothing() -> None:
    assert rank([], Config()) == []
    assert below_floor([], 0.25, 0.0) == []
