"""The bonus for words of the body, and which terms of a prompt count as matched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.search.accounts import Bm25Accounts
from engine.search.hits import Hit
from engine.search.query import Term, query_terms
from engine.search.rows import words_of
from engine.search.schema import FULL_TEXT, HEADLINE
from engine.search.strategies import fts5_bm25
from engine.search.strategies.fts5_bm25 import MAX_TERMS, asked, score_hits
from tests.engine.builders import memory, open_index

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


@pytest.mark.parametrize("fields", [HEADLINE, FULL_TEXT])
def test_of_a_prompt_with_many_terms_the_rarest_count_in_their_order(fields: str) -> None:
    held = [memory(f"rule word{i:02} word{i - 1:02}", memory_id=f"m{i:02}") for i in range(MAX_TERMS)]
    with open_index(*held) as index:
        few = " ".join(f"word{i:02}" for i in range(MAX_TERMS))
        assert asked(few, index, fields) == query_terms(few)
        assert asked(f"absent rule {few}", index, fields) == query_terms(few), "what all hold and what none does"
        most = few.removesuffix(f" word{MAX_TERMS - 1}")
        assert asked(f"rule absent {most}", index, fields) == query_terms(f"rule {most}")
        assert asked(f"absent {most} missing", index, fields) == query_terms(f"absent {most}")


@pytest.mark.parametrize("in_bodies", [True, False])
def test_what_does_not_count_adds_nothing_and_is_not_matched(in_bodies: bool) -> None:
    held = [memory(f"word{i:02} rule", body="rule", memory_id=f"m{i:02}") for i in range(MAX_TERMS)]
    prompt = " ".join(f"word{i:02}" for i in range(MAX_TERMS))
    with open_index(*held) as index:
        with_it, without = (
            fts5_bm25.find(text, index, 5, in_bodies=in_bodies, include_retired=False)
            for text in (f"rule {prompt}", prompt)
        )
        account = Bm25Accounts(f"rule {prompt}", index, in_bodies=in_bodies).of(held[7], None)
    assert with_it == without
    assert account
    assert [one.text for one in account.matched] == ["word07"]
