"""BM25 as FTS5 computes it, the bonus for words of the body, and which terms of a prompt count as matched."""

import sqlite3
from contextlib import closing

import pytest
from engine.search.scoring import Strategy, find

from engine.explaining.contributions import MatchContributions
from engine.lean.record import replace
from engine.memory import Corpus, Memory
from engine.opening import index_of
from engine.prompt import typed_prompt
from engine.search.database import TOKENIZER
from engine.search.index import Index
from engine.search.query import any_of, query_terms
from engine.search.ranking import CandidatePool, Scored
from engine.search.strategies import fts5_bm25
from engine.search.strategies.fts5_bm25 import MAX_TERMS
from engine.search.tokens import tokens
from engine.stores.roots import read_corpus
from tests.benchmarks.corpus import prompts, write_root
from tests.engine.builders import fillers, memory, open_index

COLUMNS = {False: "title, tags", True: "title, tags, body"}
RANKS = {False: "bm25(t)", True: "bm25(t, 4, 2, 1)"}


def rules(*, in_bodies: bool) -> Strategy:
    return fts5_bm25.BODIES if in_bodies else fts5_bm25.HEADLINES


def ask(prompt: str, index: Index, size: int = 15, *, in_bodies: bool = False) -> CandidatePool:
    return find(rules(in_bodies=in_bodies), prompt, index, size, include_retired=True)


def of_fts5(memories: tuple[Memory, ...], prompt: str, *, in_bodies: bool) -> dict[str, float]:
    """Id -> BM25 of every match, by a table of FTS5 itself."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f'create virtual table t using fts5({COLUMNS[in_bodies]}, tokenize="{TOKENIZER}")')
        marks = ", ".join("?" * (2 + in_bodies))
        for row, one in enumerate(memories):
            texts = (one.summary.title, " ".join(one.summary.tags), one.body)
            spelled = [" ".join(tokens(text)) for text in texts[: 2 + in_bodies]]
            db.execute(f"insert into t(rowid, {COLUMNS[in_bodies]}) values ({row}, {marks})", spelled)
        expression = any_of(phrase for term in query_terms(prompt) for phrase in term.searched)
        rows = db.execute(f"select rowid, {RANKS[in_bodies]} from t where t match ?", (expression,)).fetchall()
    return {memories[row].summary.id: score for row, score in rows}


def assert_scored_as_by_fts5(memories: tuple[Memory, ...], prompt: str, *, in_bodies: bool) -> None:
    right = of_fts5(memories, prompt, in_bodies=in_bodies)
    with closing(index_of(Corpus("/root", memories))) as index:
        found = {one.memory.id: one.bm25 for one in ask(prompt, index, in_bodies=in_bodies).memories}
    assert found
    assert found == {memory_id: pytest.approx(right[memory_id], rel=1e-9, abs=1e-12) for memory_id in found}
    assert min(found.values()) == pytest.approx(min(right.values()))


@pytest.fixture(scope="module")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> tuple[Memory, ...]:
    """A hundred memories, made at random."""
    return read_corpus(str(write_root(tmp_path_factory.mktemp("root"), 100, seed=5))).memories


@pytest.mark.parametrize("in_bodies", [False, True])
@pytest.mark.parametrize("kind", ["short", "ordinary"])
def test_scores_are_those_of_fts5(hundred: tuple[Memory, ...], kind: str, in_bodies: bool) -> None:
    for prompt in prompts(3, kind, seed=5):
        assert_scored_as_by_fts5(hundred, prompt, in_bodies=in_bodies)


def test_repetitions_overlaps_and_whole_words_count_as_in_fts5() -> None:
    for in_bodies in [False, True]:
        for prompt in ["a1-a1", "ab.ab", "ab abc", "getUser user", "数据库", "a1 ab zz"]:
            titles = [
                "a1 a1 a1",
                "ab.ab.ab ab",
                "ab abc abcd",
                "getUser get_user getuser",
                "数据库 数据",
                "zz",
                "yy",
                "xx",
            ]
            memories = tuple(memory(title, "ab", body=title) for title in titles)
            assert_scored_as_by_fts5(memories, prompt, in_bodies=in_bodies)


def scored(prompt: str, body: str = "", title: str = "Title", *tags: str, in_bodies: bool = False) -> Scored | None:
    """The memory of this text for a prompt, if it is found."""
    with open_index(memory(title, *tags, body=body, memory_id="it"), *fillers(9)) as index:
        return next((one for one in ask(prompt, index, in_bodies=in_bodies).memories if one.memory.id == "it"), None)


def bonus(prompt: str, body: str) -> int:
    """The bonus of a memory that is found by its title."""
    one = scored(f"title {prompt}", body)
    assert one
    assert one.score == one.bm25 - one.body_bonus
    return one.body_bonus


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


def test_the_bonus_alone_finds_nothing() -> None:
    assert scored("red", "red") is None


def test_matched_are_the_terms_of_the_prompt_that_are_there() -> None:
    one = scored("auth userId red Green", "green", "Authentication", "user_id")
    assert one
    assert one.matched == ("auth", "userId", "Green")


def test_a_phrase_does_not_run_from_the_title_into_the_tags() -> None:
    one = scored("user_id user", "", "The user", "id")
    assert one
    assert one.matched == ("user",)


def test_a_searched_body_matches_by_its_beginnings_and_has_no_bonus() -> None:
    one = scored("auth user_id red", "authentication of user_id", in_bodies=True)
    assert one
    assert (one.matched, one.body_bonus) == (("auth", "user_id"), 0)


@pytest.mark.parametrize("in_bodies", [True, False])
def test_of_a_prompt_with_many_terms_the_rarest_count_in_their_order(in_bodies: bool) -> None:
    held = [memory(f"rule word{i:02} word{i - 1:02}", memory_id=f"m{i:02}") for i in range(MAX_TERMS)]
    with open_index(*held) as index:

        def asked(prompt: str) -> list[str]:
            return [term.text for term in ask(prompt, index, in_bodies=in_bodies).asked]

        few = " ".join(f"word{i:02}" for i in range(MAX_TERMS))
        assert asked(few) == few.split()
        assert asked(f"absent rule {few}") == few.split(), "words of all memories and of none make way"
        most = few.removesuffix(f" word{MAX_TERMS - 1}")
        assert asked(f"rule absent {most}") == ["rule", *most.split()]
        assert asked(f"absent {most} missing") == ["absent", *most.split()]


@pytest.mark.parametrize("in_bodies", [True, False])
def test_a_term_that_does_not_count_adds_nothing_and_is_not_matched(in_bodies: bool) -> None:
    held = [memory(f"word{i:02} rule", body="rule", memory_id=f"m{i:02}") for i in range(MAX_TERMS)]
    prompt = " ".join(f"word{i:02}" for i in range(MAX_TERMS))
    with open_index(*held) as index:
        with_it, without = (ask(text, index, 5, in_bodies=in_bodies) for text in (f"rule {prompt}", prompt))
        one = index.indexed("m07")
        assert one
        breakdown = MatchContributions(typed_prompt(f"rule {prompt}"), index, rules(in_bodies=in_bodies)).of(one)
    assert replace(with_it, searched=prompt) == without
    assert breakdown
    assert [part.text for part in breakdown.contributions] == ["word07"]


def test_retired_memories_take_no_place_where_bodies_are_searched() -> None:
    retired = [memory(f"cache rule {i}", memory_id=f"old{i}", status="retired") for i in range(30)]
    with open_index(*retired, memory("the cache of another rule", memory_id="new"), *fillers(40)) as index:
        found = find(fts5_bm25.BODIES, "cache rule", index, 5, include_retired=False).memories
    assert "new" in [one.memory.id for one in found]
