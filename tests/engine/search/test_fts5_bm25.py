"""The bonus for words of the body, and which terms of a prompt count as matched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.search.hits import Hit
from engine.search.query import Term, query_terms
from engine.search.rows import words_of
from engine.search.strategies.fts5_bm25 import score_hits
from tests.engine.builders import memory

if TYPE_CHECKING:
    from engine.search.ranking import Scored


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


def test_a_long_body_and_many_terms_are_looked_up_and_not_compared() -> None:
    terms = query_terms(" ".join(f"absent{i}" for i in range(3000)))
    body = " ".join(f"word{i}" for i in range(30_000))
    assert score_hit(hit(body), terms, with_bonus=True).matched == ()
