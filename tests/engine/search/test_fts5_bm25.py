"""FTS5's own BM25 over title and tags, the bonus for words of the body, and the matched terms."""

import sqlite3
from contextlib import closing

import pytest

from engine.config import AUTO, FTS5_BM25, SEARCH
from engine.memory import Memory
from engine.retrieval import Candidate
from engine.search.database import TOKENIZER
from engine.search.index import Index
from engine.search.query import any_of, query_terms
from engine.search.ranking import CandidatePool
from engine.search.stems import stem
from engine.search.tokens import tokens
from engine.stores.roots import read_corpus
from tests.benchmarks.corpus import prompts, write_root
from tests.engine.builders import fillers, memory, open_index, pool_of

RANKS = {False: "bm25(t, 1, 1, 0)", True: "bm25(t, 4, 2, 1)"}
COLUMNS = {False: "{title tags} : ", True: ""}


def ask(prompt: str, index: Index, size: int = 15, *, in_bodies: bool = False) -> CandidatePool:
    return pool_of(index, prompt, size, FTS5_BM25, mode=SEARCH if in_bodies else AUTO)


def of_fts5(memories: tuple[Memory, ...], prompt: str, *, in_bodies: bool) -> dict[str, float]:
    """Id -> BM25 of every match, by a table of FTS5 itself."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f'create virtual table t using fts5(title, tags, body, tokenize="{TOKENIZER}")')
        for row, one in enumerate(memories):
            texts = (one.summary.title, " ".join(one.summary.tags), one.body)
            spelled = [" ".join(map(stem, tokens(text))) for text in texts]
            db.execute("insert into t(rowid, title, tags, body) values (?, ?, ?, ?)", (row, *spelled))
        expression = any_of(phrase for term in query_terms(prompt) for phrase in term.stems)
        found = (f"{COLUMNS[in_bodies]}({expression})",)
        rows = db.execute(f"select rowid, {RANKS[in_bodies]} from t where t match ?", found).fetchall()
    return {memories[row].summary.id: score for row, score in rows}


@pytest.mark.parametrize("in_bodies", [False, True])
def test_scores_are_those_of_fts5(tmp_path_factory: pytest.TempPathFactory, in_bodies: bool) -> None:
    hundred = read_corpus(str(write_root(tmp_path_factory.mktemp("root"), 100, seed=5))).memories
    with open_index(*hundred) as index:
        for prompt in prompts(5, "short", seed=5):
            right = of_fts5(hundred, f"{prompt} the", in_bodies=in_bodies)
            found = {one.memory.id: one.bm25 for one in ask(f"{prompt} the", index, in_bodies=in_bodies).memories}
            assert found
            assert found == {name: pytest.approx(right[name], rel=1e-9, abs=1e-12) for name in found}
            assert min(found.values()) == pytest.approx(min(right.values()))


def scored(prompt: str, body: str = "", title: str = "Title", *tags: str, in_bodies: bool = False) -> Candidate | None:
    """The memory of this text for a prompt, if it is found."""
    with open_index(memory(title, *tags, body=body, memory_id="it"), *fillers(9)) as index:
        return next((one for one in ask(prompt, index, in_bodies=in_bodies).memories if one.memory.id == "it"), None)


def bonus(prompt: str, body: str) -> int:
    """The bonus of a memory that is found by its title."""
    one = scored(f"title {prompt}", body)
    assert one.score == one.bm25 - one.body_bonus
    return one.body_bonus


def test_the_bonus_counts_distinct_whole_words_is_three_at_most_and_finds_nothing_alone() -> None:
    for prompt, body, expected in [
        ("one red green blue cyan", "red green blue cyan", 3),
        ("red green", "green red", 2),
        ("red Red RED", "red red red", 1),
        ("red", "nothing", 0),
        ("auth", "authentication", 0),
        ("auth", "the auth-flow", 1),
        ("caching", "it is cached", 1),
        ("user_id", "user identity", 0),
        ("user_id", "the userId is set", 1),
    ]:
        assert bonus(prompt, body) == expected, prompt
    assert scored("red", "red") is None


def test_matched_are_the_terms_that_are_there_and_no_phrase_runs_from_the_title_into_the_tags() -> None:
    one = scored("auth authenticating userId red Green", "green", "Authentication", "user_id")
    assert {*one.matched} == {"authenticating", "userId", "Green"}
    one = scored("user_id user", "", "The user", "id")
    assert one.matched == ("user",)


def test_a_searched_body_may_match_the_beginning_of_the_last_word_and_has_no_bonus() -> None:
    one = scored("user_id red auth", "authentication of user_id", in_bodies=True)
    assert ({*one.matched}, one.body_bonus) == ({"auth", "user_id"}, 0)


def test_a_prompt_of_words_that_all_memories_hold_finds_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.search.strategies.fts5_bm25.BUDGET", 50)
    with open_index(*(memory("cache expiry", memory_id=f"m{i:03}") for i in range(200))) as index:
        assert min(one.memory.id for one in ask("cache", index).memories) >= "m100"
