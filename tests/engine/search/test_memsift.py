"""The strategy `memsift`: strength by its formula, found at a bounded cost, in a fixed order."""

from collections.abc import Iterator
from contextlib import closing
from math import inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import SEARCH
from engine.memory import Memory
from engine.opening import index_of
from engine.search.commonness import ELSEWHERE, LEAST_RARITY, idf, rarity
from engine.search.index import Index
from engine.search.ranking import CandidatePool
from engine.search.strategies import memsift
from engine.search.strategies.memsift import FOCUS, K1, PASSAGE, B
from engine.stores.roots import read_corpus
from tests.benchmarks.corpus import prompts, write_root
from tests.engine.builders import fillers, memory, open_index, pool_of

MIX = {"short": 24, "ordinary": 24, "long": 10, "paste": 2}
"""Prompts of each kind."""


@pytest.fixture(scope="module", params=[(5, 600), (6, 2500)])
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, int]]:
    """An index and the seed of its language."""
    seed, size = request.param
    root = write_root(tmp_path_factory.mktemp("root"), size, seed=seed)
    with closing(index_of(read_corpus(str(root)))) as index:
        yield index, seed


def best(prompt: str, index: Index, limit: int = 3) -> dict[str, float]:
    """Id -> score of the best memories, retired ones included."""
    found = pool_of(index, prompt, limit, include_retired=True)
    return {one.memory.id: one.score for one in found.memories}


@pytest.mark.slow
def test_a_bounded_search_finds_the_top_three_of_an_exhaustive_one(
    corpus: tuple[Index, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    index, seed = corpus
    asked = [prompt for kind, count in MIX.items() for prompt in prompts(count, kind, seed=seed)]
    bounded = [best(prompt, index) for prompt in asked]
    for name in ("BUDGET", "BEST", "MOST_TIES"):
        monkeypatch.setattr(memsift, name, 10_000_000)
    exhaustive = [best(prompt, index) for prompt in reversed(asked)][::-1]
    same = sum(len(one.keys() & other.keys()) for one, other in zip(bounded, exhaustive, strict=True))
    total = sum(map(len, exhaustive))
    assert total > 170
    assert same / total >= 0.92


def ids(prompt: str, *memories: Memory, limit: int = 3, include_retired: bool = False) -> list[str]:
    with open_index(*memories) as index:
        found = pool_of(index, prompt, limit, include_retired=include_retired)
    return [one.memory.id for one in found.memories]


def test_retired_memories_do_not_crowd_active_ones_out_and_are_listed() -> None:
    retired = [memory("cache expiry", memory_id=f"old{i:03}", status="retired") for i in range(300)]
    weaker = memory("cache words about something else", memory_id="active")
    found = ids("cache expiry", *retired, weaker, *fillers(20), limit=1)
    assert found[-1] == "active"
    assert len(found) > 90


def test_of_a_word_that_too_many_memories_hold_the_newest_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of postings that a query reads is bounded."""
    monkeypatch.setattr(memsift, "BUDGET", 50)
    many = [memory("cache expiry", memory_id=f"m{i:03}") for i in range(200)]
    found = ids("cache", *many, limit=10)
    assert len(found) == 10
    assert min(found) >= "m100"


def test_retired_memories_count_where_they_are_asked_for_else_only_before_the_last_active_one() -> None:
    retired = [memory("cache expiry", memory_id=f"old{i}", status="retired") for i in range(5)]
    active = memory("cache words about something else", memory_id="active")
    assert ids("cache expiry", *retired, active, limit=2, include_retired=True) == ["old0", "old1"]
    weak = memory("cache words about something else", status="retired")
    assert ids("cache expiry", memory("cache expiry"), weak, limit=1) == ["cache-expiry"]


def test_equally_strong_memories_stand_by_category_then_path_up_to_the_limit_and_nothing_finds_nothing() -> None:
    equal = [
        memory("cache expiry", category="tech_debt", memory_id="a"),
        memory("cache expiry", category="decision", memory_id="z"),
        memory("cache expiry", category="constraint", memory_id="b"),
        memory("cache expiry", category="decision", memory_id="y"),
    ]
    assert ids("cache expiry", *equal, limit=4) == ["y", "z", "b", "a"]
    many = [memory("cache expiry", memory_id=f"m{i:02}") for i in range(60)]
    assert ids("cache expiry", *many, limit=50) == [f"m{i:02}" for i in range(50)]
    assert ids("cache") == []
    assert ids("", memory("cache")) == []
    assert ids("zanzibar", memory("cache")) == []


def test_a_phrase_is_found_behind_its_words_apart_and_costs_nothing_if_unheld(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    apart = [memory(f"note {i}", memory_id=f"m{i:02}", body="user of an id") for i in range(40)]
    target = memory("user_id", memory_id="target", body="word " * 300)
    assert ids("user_id", *apart, target, limit=1) == ["target"]
    monkeypatch.setattr(memsift, "BUDGET", 50)
    many = [memory("cache", memory_id=f"n{i:02}") for i in range(45)]
    assert ids("user_id expiry cache", *apart, memory("expiry"), *many, limit=2) == ["expiry", "n00"]


# By its formula

TITLE, TAGS, BODY = 4, 2, 1


def ask(prompt: str, *memories: Memory | str) -> CandidatePool:
    texts = [memory(one) if isinstance(one, str) else one for one in memories]
    with open_index(*texts) as index:
        return pool_of(index, prompt, 100, include_retired=True)


def strengths(prompt: str, *memories: Memory | str) -> dict[str, float]:
    return {one.memory.id: -one.score for one in ask(prompt, *memories).memories}


def weight(found_in: int, rows: int) -> float:
    return log(1 + (rows + 10 - found_in + 0.5) / (found_in + 0.5))


def bm25(f: float, length: int, mean: float) -> float:
    """BM25 of a word of weight 1."""
    return f * 2.2 / (f + 1.2 * (1 - 0.75 + 0.75 * length / mean))


def test_a_word_in_every_column_and_a_phrase_by_hand() -> None:
    assert (K1, B, ELSEWHERE, FOCUS, PASSAGE) == (1.2, 0.75, 10, 1.7, 70)
    target = memory("alfa betta", "alfa", "gama", body="alfa dellta alfa", memory_id="target")
    (found,) = ask("alfa", target, memory("one two three", memory_id="other")).memories
    f = TITLE + TAGS + 2 * BODY
    assert -found.bm25 == pytest.approx(weight(1, 2) * bm25(f, length=7, mean=5), rel=1e-12)
    assert -found.score == pytest.approx(-found.bm25 + weight(1, 2) * (2 * 1.7 + log(2)), rel=1e-12)
    assert found.length == 7
    (found,) = ask("rate-limit", memory("rate limit of rate limit", memory_id="target")).memories
    assert -found.bm25 == pytest.approx(weight(1, 1) * bm25(2 * TITLE, length=5, mean=5), rel=1e-12)


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


def test_in_a_search_the_last_word_may_be_the_beginning_of_a_longer_one() -> None:
    long = memory("authentication", memory_id="long")
    with open_index(long, *fillers(3)) as index:
        assert [one.memory.id for one in pool_of(index, "the auth", mode=SEARCH).memories] == ["long"]
        assert pool_of(index, "auth of redis", mode=SEARCH).memories == []
        assert pool_of(index, "the auth").memories == []


def test_a_form_counts_in_full_but_a_name_that_looks_like_a_stop_word_has_none() -> None:
    found = strengths("caching", memory("cached", memory_id="a"), memory("caching", memory_id="b"))
    assert found["a"] == found["b"]
    assert strengths("cache caching cached", memory("caches"), *fillers(3)) == strengths(
        "caching", memory("caches"), *fillers(3)
    )
    assert strengths("is it in Go?", memory("going", memory_id="a"), memory("Go", memory_id="b")).keys() == {"b"}


def test_words_that_no_memory_holds_are_unknown_and_of_a_very_long_prompt_the_rarest_count() -> None:
    assert ask("zanzibar quokka", "quokka").unknown > 0.5
    assert ask("quokka", "quokka").unknown == 0
    common = " ".join(f"word{number}" for number in range(85))
    held = [memory("note", body=common, memory_id=name) for name in "bcd"]
    unknown = " ".join(f"absent{number}" for number in range(85))
    pool = ask(f"{unknown} {common} quokka", memory("quokka", memory_id="a"), *held)
    assert "a" in [one.memory.id for one in pool.memories]
    assert (len(pool.asked), pool.unknown) == (80, 0)


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


def test_a_word_in_title_or_tags_counts_more_than_one_in_the_body() -> None:
    for headline in [memory("alfa", memory_id="a"), memory("note", "alfa", memory_id="a")]:
        (found,) = ask("alfa", headline, *fillers(4)).memories
        assert -found.score + found.bm25 == pytest.approx(weight(1, 5) * (1.7 + log(2)), rel=1e-9), headline


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


def test_a_word_of_every_memory_weighs_little_but_finds_them() -> None:
    assert 0 < idf(1000, 1000) < 0.02
    assert idf(1, 1000) > idf(2, 1000) > idf(1000, 1000)
    for rows in [2, 3]:
        found = strengths("cache", *(memory(f"cache {i}", memory_id=f"m{i}") for i in range(rows)))
        assert len(found) == rows, rows
        assert all(0.5 * idf(1, rows) < strength for strength in found.values()), rows


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=4))
def test_a_strength_is_positive_and_finite_for_any_text(prompt: str, texts: list[str]) -> None:
    memories = [memory(text, text, body=f"{prompt} {text}", memory_id=f"m{i}") for i, text in enumerate(texts)]
    answers = ask(f"{prompt} {' '.join(texts[:1])}", *memories)
    for one in answers.memories:
        assert 0 < -one.bm25 <= -one.score < inf
    assert 0 < answers.rare < inf
