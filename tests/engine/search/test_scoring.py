"""Strength by its formula, and what a root of a few memories makes of it."""

from __future__ import annotations

from math import inf, log, sqrt
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.scoring import K1, B, find
from engine.search.strategies import memsift
from engine.search.strategies.memsift import ELSEWHERE, HALF, MAX_ASKED, idf
from tests.engine.builders import memory, open_index

if TYPE_CHECKING:
    from engine.memory import Memory
    from engine.search.ranking import CandidatePool

TITLE, TAGS, BODY = 4, 2, 1


def ask(prompt: str, *memories: Memory | str) -> CandidatePool:
    texts = [memory(one) if isinstance(one, str) else one for one in memories]
    with open_index(*texts) as index:
        return find(memsift.STRATEGY, prompt, index, 100, include_retired=True)


def strengths(prompt: str, *memories: Memory | str) -> dict[str, float]:
    return {one.memory.id: -one.score for one in ask(prompt, *memories).memories}


def weight(found_in: int, rows: int) -> float:
    return log(1 + (rows + 10 - found_in + 0.5) / (found_in + 0.5))


def bm25(f: float, length: int, mean: float, found_in: int, rows: int) -> float:
    return weight(found_in, rows) * f * 2.2 / (f + 1.2 * (1 - 0.75 + 0.75 * length / mean))


def test_the_constants_are_those_of_the_formula() -> None:
    assert (K1, B, HALF, MAX_ASKED, ELSEWHERE) == (1.2, 0.75, 0.5, 50, 10)


def test_one_word_in_every_column_by_hand() -> None:
    target = memory("alpha beta", "alpha", "gamma", body="alpha delta alpha", memory_id="target")
    other = memory("one two three", memory_id="other")
    found = strengths("alpha", target, other)
    f = TITLE + TAGS + 2 * BODY
    assert found == {"target": pytest.approx(bm25(f, length=7, mean=5, found_in=1, rows=2), rel=1e-12)}


def test_two_of_four_units_by_hand() -> None:
    target = memory("alpha beta", body="beta one", memory_id="target")
    other = memory("beta two three four", memory_id="other")
    answers = ask("alpha beta zanzibar zebra", target, other)
    assert [one.memory.id for one in answers.memories] == ["target", "other"]
    mean = 4.0
    alpha = bm25(TITLE, length=4, mean=mean, found_in=1, rows=2)
    beta = bm25(TITLE + BODY, length=4, mean=mean, found_in=2, rows=2)
    first, second = answers.memories
    assert -first.bm25 == pytest.approx(alpha + beta, rel=1e-12)
    assert -first.score == pytest.approx((alpha + beta) * sqrt(2 / 4), rel=1e-12)
    only_beta = bm25(TITLE, length=4, mean=mean, found_in=2, rows=2)
    assert -second.score == pytest.approx(only_beta * sqrt(1 / 4), rel=1e-12)
    assert answers.rare == pytest.approx(weight(1, 2), rel=1e-12)


def test_a_phrase_counts_once_per_occurrence() -> None:
    found = strengths("rate-limit", memory("rate limit of rate limit", memory_id="target"))
    assert found == {"target": pytest.approx(bm25(2 * TITLE, length=5, mean=5, found_in=1, rows=1), rel=1e-12)}


def test_a_longer_word_counts_half() -> None:
    found = strengths("auth", memory("authentication", memory_id="a"), memory("auth", memory_id="b"))
    assert found["a"] == pytest.approx(found["b"] / 2, rel=1e-12)


def test_a_longer_word_adds_nothing_where_the_word_itself_is() -> None:
    found = strengths("auth", memory("authentication auth", memory_id="a"), memory("auth other", memory_id="b"))
    assert found["a"] == pytest.approx(found["b"], rel=1e-12)


def test_a_form_counts_in_full() -> None:
    found = strengths("caching", memory("cached", memory_id="a"), memory("caching", memory_id="b"))
    assert found["a"] == found["b"]


def test_of_two_equal_sums_the_one_from_more_units_is_stronger() -> None:
    twice = memory("alpha", body="alpha alpha alpha", memory_id="twice")
    both = memory("alpha", body="beta zz yy", memory_id="both")
    found = strengths("alpha beta", twice, both, "beta xx ww vv")
    assert found["both"] > found["twice"]


def test_words_that_no_memory_holds_weaken_an_answer_to_a_paste_as_well() -> None:
    few, many = (" ".join(f"absent{i}" for i in range(count)) for count in (MAX_ASKED, 3 * MAX_ASKED))
    target = memory("alpha", memory_id="target")
    assert strengths(f"alpha {many}", target) == strengths(f"alpha {few}", target)


def test_units_beyond_the_most_that_count_do_not_weaken_an_answer() -> None:
    few = " ".join(f"absent{i}" for i in range(MAX_ASKED - 1))
    many = f"{few} {few.replace('absent', 'missing')}"
    one = strengths(f"alpha {few}", memory("alpha", memory_id="target"))
    assert strengths(f"alpha {many}", memory("alpha", memory_id="target")) == one
    alone = strengths("alpha", memory("alpha", memory_id="target"))
    assert one["target"] == pytest.approx(alone["target"] / sqrt(MAX_ASKED), rel=1e-12)


def test_a_word_of_every_memory_weighs_little_but_something() -> None:
    assert 0 < idf(1000, 1000) < 0.02
    assert idf(1, 1000) > idf(2, 1000) > idf(1000, 1000)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_in_a_small_root_a_memory_about_the_prompt_outweighs_a_rare_word(rows: int) -> None:
    others = [memory(f"other{i} words{i} here{i}") for i in range(rows - 1)]
    answers = ask("cache expiry", memory("cache expiry", memory_id="target"), *others)
    assert [one.memory.id for one in answers.memories] == ["target"]
    assert -answers.memories[0].score > answers.rare


@pytest.mark.parametrize("rows", [2, 3])
def test_in_a_small_root_a_word_of_all_memories_still_finds_them(rows: int) -> None:
    found = strengths("cache", *(memory(f"cache {i}", memory_id=f"m{i}") for i in range(rows)))
    assert len(found) == rows
    assert all(0.5 * idf(1, rows) < strength for strength in found.values())


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=4))
def test_a_strength_is_positive_and_finite_for_any_text(prompt: str, texts: list[str]) -> None:
    memories = [memory(text, text, body=f"{prompt} {text}", memory_id=f"m{i}") for i, text in enumerate(texts)]
    answers = ask(f"{prompt} {' '.join(texts[:1])}", *memories)
    for one in answers.memories:
        assert 0 < -one.score <= -one.bm25 < inf
    assert 0 < answers.rare < inf
