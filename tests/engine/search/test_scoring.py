"""Strength by its formula, and what a root of a few memories makes of it."""

from math import inf, log

import pytest
from engine.search.scoring import FOCUS, K1, PASSAGE, B, find
from hypothesis import given
from hypothesis import strategies as st

from engine.memory import Memory
from engine.search.commonness import LEAST_RARITY, rarity
from engine.search.ranking import CandidatePool
from engine.search.strategies import memsift
from engine.search.strategies.memsift import ELSEWHERE, HALF, idf
from tests.engine.builders import fillers, memory, open_index

TITLE, TAGS, BODY = 4, 2, 1


def ask(prompt: str, *memories: Memory | str) -> CandidatePool:
    texts = [memory(one) if isinstance(one, str) else one for one in memories]
    with open_index(*texts) as index:
        return find(memsift.STRATEGY, prompt, index, 100, include_retired=True)


def strengths(prompt: str, *memories: Memory | str) -> dict[str, float]:
    return {one.memory.id: -one.score for one in ask(prompt, *memories).memories}


def weight(found_in: int, rows: int) -> float:
    return log(1 + (rows + 10 - found_in + 0.5) / (found_in + 0.5))


def bm25(f: float, length: int, mean: float) -> float:
    """BM25 of a word of weight 1."""
    return f * 2.2 / (f + 1.2 * (1 - 0.75 + 0.75 * length / mean))


def test_the_constants_are_those_of_the_formula() -> None:
    assert (K1, B, HALF, ELSEWHERE, FOCUS, PASSAGE) == (1.2, 0.75, 0.5, 10, 1.7, 70)


def test_one_word_in_every_column_by_hand() -> None:
    target = memory("alfa betta", "alfa", "gama", body="alfa dellta alfa", memory_id="target")
    (found,) = ask("alfa", target, memory("one two three", memory_id="other")).memories
    f = TITLE + TAGS + 2 * BODY
    assert -found.bm25 == pytest.approx(weight(1, 2) * bm25(f, length=7, mean=5), rel=1e-12)
    assert -found.score == pytest.approx(-found.bm25 + weight(1, 2) * (2 * 1.7 + log(2)), rel=1e-12)
    assert found.length == 7


def test_two_of_four_words_by_hand_and_words_that_no_memory_holds_change_nothing() -> None:
    target = memory("alfa betta", body="betta one", memory_id="target")
    other = memory("betta two three four", memory_id="other")
    answers = ask("alfa betta zanzibar quokka", target, other)
    first, second = answers.memories
    alfa, betta = weight(1, 2), weight(2, 2)
    by_words = alfa * bm25(TITLE, 4, 4) + betta * bm25(TITLE + BODY, 4, 4)
    assert (first.memory.id, -first.bm25) == ("target", pytest.approx(by_words, rel=1e-12))
    focus = 1.7 * (alfa + 2 * betta)
    assert -first.score == pytest.approx(by_words + focus + alfa * log(3), rel=1e-12)
    assert -second.score == pytest.approx(betta * (bm25(TITLE, 4, 4) + 1.7) + alfa * log(2), rel=1e-12)
    assert answers.rare == alfa
    assert strengths("alfa betta", target, other) == {"target": -first.score, "other": -second.score}


def test_a_phrase_counts_once_per_occurrence() -> None:
    (found,) = ask("rate-limit", memory("rate limit of rate limit", memory_id="target")).memories
    assert -found.bm25 == pytest.approx(weight(1, 1) * bm25(2 * TITLE, length=5, mean=5), rel=1e-12)


def test_a_longer_word_counts_half() -> None:
    long, short = ask("auth", memory("authentication", memory_id="a"), memory("auth", memory_id="b")).memories[::-1]
    assert (long.memory.id, long.bm25) == ("a", pytest.approx(short.bm25 / 2, rel=1e-12))


def test_a_longer_word_adds_nothing_where_the_word_itself_is() -> None:
    found = strengths("auth", memory("authentication auth", memory_id="a"), memory("auth other", memory_id="b"))
    assert found["a"] == pytest.approx(found["b"], rel=1e-12)


def test_a_form_counts_in_full() -> None:
    found = strengths("caching", memory("cached", memory_id="a"), memory("caching", memory_id="b"))
    assert found["a"] == found["b"]


def test_of_two_equal_sums_the_one_from_more_units_is_stronger() -> None:
    twice = memory("alfa", body="alfa alfa alfa", memory_id="twice")
    both = memory("alfa", body="betta zz yy", memory_id="both")
    found = strengths("alfa betta", twice, both, "betta xx ww vv")
    assert found["both"] > found["twice"]


# Where the words stand


def test_words_together_in_a_passage_of_a_long_note_outweigh_the_same_words_strewn() -> None:
    def note(words: list[str], gap: int, memory_id: str) -> Memory:
        body = ["filling"] * 400
        body[100 : 100 + gap * len(words) : gap] = words
        return memory("note", body=" ".join(body), memory_id=memory_id)

    words = "alfa betta gama".split()
    together, edge, strewn = note(words, 5, "a"), note(words, PASSAGE // 2 - 1, "b"), note(words, PASSAGE, "c")
    found = strengths("alfa betta gama", together, edge, strewn)
    assert found["a"] == found["b"]
    assert found["a"] - found["c"] == pytest.approx(1.7 * 2 * weight(3, 3), rel=1e-9)


def test_a_passage_has_the_heaviest_words_and_a_word_in_it_counts_once() -> None:
    body = " ".join(["alfa", "alfa", "alfa", *["filling"] * PASSAGE, "betta", "gama"])
    found = ask("alfa betta gama", memory("note", body=body, memory_id="a")).memories[0]
    held = -found.score + found.bm25 - weight(1, 1) * log(4)
    assert held == pytest.approx(1.7 * 2 * weight(1, 1), rel=1e-9)


@pytest.mark.parametrize("headline", [memory("alfa", memory_id="a"), memory("note", "alfa", memory_id="a")])
def test_a_word_in_title_or_tags_counts_more_than_one_in_the_body(headline: Memory) -> None:
    (found,) = ask("alfa", headline, *fillers(4)).memories
    assert -found.score + found.bm25 == pytest.approx(weight(1, 5) * (1.7 + log(2)), rel=1e-9)


# How common a word is


def test_a_word_that_is_common_in_general_text_weighs_less_in_any_language() -> None:
    assert [rarity(word) for word in ("quokka", "zanzibar")] == [1.0, 1.0]
    assert LEAST_RARITY == rarity("time") < rarity("find") < rarity("server") < 1
    assert max(map(rarity, ("und", "trabalho", "para", "我们", "сегодня"))) < 0.6
    common, rare = memory("server time", memory_id="common"), memory("quokka zanzibar", memory_id="rare")
    found = strengths("server time quokka zanzibar", common, rare, *fillers(20))
    assert found["common"] < found["rare"] / 2


def test_a_name_that_looks_like_a_common_word_is_rare_and_so_is_an_identifier() -> None:
    for name, prompt in (("Go", "can we use Go here?"), ("make", "does `make` hang?"), ("C", "is it in C?")):
        assert strengths(prompt, memory(f"{name} quokka"), *fillers(20)) == pytest.approx(
            strengths("zanzibar", memory("zanzibar quokka", memory_id=f"{name}-quokka"), *fillers(20))
        )
    assert strengths("time_day", memory("time_day"))["time_day"] > 2 * strengths("time", memory("time day"))["time-day"]


def test_a_word_of_every_memory_weighs_little_but_something() -> None:
    assert 0 < idf(1000, 1000) < 0.02
    assert idf(1, 1000) > idf(2, 1000) > idf(1000, 1000)


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
        assert 0 < -one.bm25 <= -one.score < inf
    assert 0 < answers.rare < inf
