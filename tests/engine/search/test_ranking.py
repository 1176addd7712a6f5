"""Body bonus, noise floor, order and confidence."""

from __future__ import annotations

import pytest

from engine.config import Config
from engine.record import replace
from engine.retrieval import HIGH, LOW, MEDIUM, Candidate
from engine.search.index import Hit
from engine.search.query import Term, query_terms
from engine.search.ranking import Scored, below_floor, rank, score_hits
from engine.search.rows import words_of
from tests.engine.builders import memory


def scored(title: str, bm25: float, bonus: int = 0, category: str = "decision", status: str = "active") -> Scored:
    return Scored(memory(title, category=category, status=status).summary, bm25, bonus, ())


def ranked(*pairs: tuple[str, float], floor: float = 0.0) -> list[Candidate]:
    return rank([scored(title, bm25) for title, bm25 in pairs], replace(Config(), confidence_abs_floor=floor))


def hit(body: str, title: str = "Title", *tags: str) -> Hit:
    one = memory(title, *tags, body=body)
    return Hit(one.summary, -2.0, words_of(one))


def score_hit(one: Hit, terms: tuple[Term, ...], *, with_bonus: bool) -> Scored:
    return score_hits([one], terms, with_bonus=with_bonus)[0]


def bonus(prompt: str, body: str) -> int:
    return score_hit(hit(body), query_terms(prompt), with_bonus=True).body_bonus


def test_the_bonus_is_three_at_most() -> None:
    assert bonus("one red green blue cyan", "red green blue cyan") == 3
    assert bonus("red green", "green red") == 2
    assert bonus("red", "nothing") == 0


def test_the_bonus_counts_distinct_terms_and_not_occurrences() -> None:
    assert bonus("red Red RED", "red red red") == 1


def test_the_bonus_wants_whole_words() -> None:
    assert bonus("auth", "authentication") == 0
    assert bonus("auth", "the auth-flow") == 1
    assert bonus("user_id", "user identity") == 0
    assert bonus("user_id", "the userId is set") == 1


def test_the_bonus_is_subtracted_from_the_score() -> None:
    one = score_hit(hit("red green"), query_terms("red green"), with_bonus=True)
    assert (one.bm25, one.body_bonus, one.score) == (-2.0, 2, -4.0)


def test_matched_are_the_terms_of_the_prompt_that_are_there() -> None:
    one = score_hit(hit("green", "Authentication", "user_id"), query_terms("auth userId red Green"), with_bonus=True)
    assert one.matched == ("auth", "userId", "Green")


def test_a_phrase_does_not_run_from_the_title_into_the_tags() -> None:
    assert score_hit(hit("", "The user", "id"), query_terms("user_id user"), with_bonus=True).matched == ("user",)


def test_a_searched_body_matches_by_its_beginnings_and_has_no_bonus() -> None:
    one = score_hit(hit("authentication of user_id"), query_terms("auth user_id red"), with_bonus=False)
    assert (one.matched, one.body_bonus, one.score) == (("auth", "user_id"), 0, -2.0)


def test_candidates_are_ordered_by_score_with_the_bonus() -> None:
    found = rank([scored("A", -5.0), scored("B", -4.0, bonus=2)], Config())
    assert [(one.memory.title, one.rank, one.score) for one in found] == [("B", 1, -6.0), ("A", 2, -5.0)]


def test_equal_scores_are_ordered_by_category_and_then_by_path() -> None:
    names = ["session_summary", "tech_debt", "runbook", "preference", "constraint", "decision"]
    found = rank([*(scored("Same", -1.0, category=name) for name in names), scored("Another", -1.0)], Config())
    assert [one.memory.category for one in found] == ["decision", *reversed(names)]
    assert [one.memory.title for one in found[:2]] == ["Another", "Same"]


def test_the_floor_is_a_share_of_the_best_raw_bm25() -> None:
    kept = below_floor(ranked(("A", -8.0), ("B", -2.0), ("C", -1.99)), 0.25)
    assert [one.dropped_by for one in kept] == [None, None, "floor"]
    assert kept[2].reason == "BM25 1.99 is under the floor of 2.00"


def test_a_bonus_on_the_best_does_not_throw_out_an_honest_match() -> None:
    candidates = rank([scored("A", -4.0, bonus=3), scored("B", -1.5)], Config())
    assert candidates[1].ratio < 0.25
    assert [one.dropped_by for one in below_floor(candidates, 0.25)] == [None, None]


def test_a_bonus_does_not_lift_a_weak_match_over_the_floor() -> None:
    candidates = rank([scored("A", -8.0), scored("B", -1.0, bonus=3)], Config())
    assert candidates[1].ratio == 0.5
    assert [one.dropped_by for one in below_floor(candidates, 0.25)] == [None, "floor"]


def test_what_is_dropped_already_does_not_raise_the_floor() -> None:
    first, second = ranked(("A", -20.0), ("B", -2.0))
    kept = below_floor([replace(first, dropped_by="status"), second], 0.25)
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
    assert below_floor([], 0.25) == []


def test_a_long_body_and_many_terms_are_looked_up_and_not_compared() -> None:
    terms = query_terms(" ".join(f"absent{i}" for i in range(3000)))
    body = " ".join(f"word{i}" for i in range(30_000))
    assert score_hit(hit(body), terms, with_bonus=True).matched == ()
