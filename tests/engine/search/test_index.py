"""The index: what finds what, in which order, and how a long prompt is cut down."""

from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event

from hypothesis import given
from hypothesis import strategies as st

from engine.config import FTS5_BM25
from engine.lean.record import replace
from engine.memory import Memory
from engine.search.index import Index
from engine.search.postings import Postings
from engine.search.query import filter_terms, query_terms
from engine.search.tokens import tokens
from tests.engine.builders import fillers, memory, open_index, pool_of


def best(index: Index, prompt: str) -> list[str]:
    """The ids of the best memories by the original rules."""
    return [one.memory.id for one in pool_of(index, prompt, strategy=FTS5_BM25).memories]


def test_a_tie_at_the_end_of_the_pool_is_decided_by_category() -> None:
    summaries = [memory("Cache rules", category="session_summary", memory_id=f"a{i:02}") for i in range(20)]
    late = memory("Cache rules", category="runbook", memory_id="zz")
    with open_index(*summaries, late, *fillers(60)) as index:
        found = best(index, "cache")
    assert found == ["zz", *(f"a{i:02}" for i in range(14))]


def test_a_filter_wants_all_words_anywhere_at_any_length_and_without_fts5() -> None:
    memories = [memory("Use JWT", "auth", body="stateless tokens"), memory("JWT expiry"), *fillers(3)]
    with open_index(*memories) as index:
        assert [one.title for one in index.matching(filter_terms("jwt statel"))] == ["Use JWT"]
        assert [one.title for one in index.matching(filter_terms("jwt"))] == ["JWT expiry", "Use JWT"]
        assert index.matching(filter_terms("jwt absent")) == []
        assert len(index.matching(())) == 5
    with open_index(memory("Title")) as index:
        assert index.matching(filter_terms(" ".join(f"w{i}" for i in range(5000)))) == []
    with open_index(memory("Use JWT", body="stateless"), memory("Other"), module="nosuchmodule") as index:
        assert not index.has_fts5
        assert [one.title for one in index.matching(filter_terms("jwt statel"))] == ["Use JWT"]
        assert len(index.matching(())) == 2


def test_memories_are_looked_up_by_id_listed_by_path_and_hashed_in_any_order() -> None:
    memories = [memory("B", category="session_summary"), memory("A", category="tech_debt"), memory("C")]
    with open_index(*memories) as index:
        assert len(index) == 3
        assert [one.title for one in index.summaries()] == ["C", "B", "A"]
        assert index.memory("B") == replace(memories[0], summary=replace(memories[0].summary, root=index.root))
        assert index.memory("none") is None

    def corpus_hash(*memories: Memory) -> str:
        with open_index(*memories) as index:
            return index.corpus_hash

    first = corpus_hash(memory("A"), memory("B"))
    assert len(first) == 16
    assert first == corpus_hash(memory("B"), memory("A"))
    assert len({first, corpus_hash(memory("A")), corpus_hash(memory("A"), memory("B", body="x")), corpus_hash()}) == 4


def test_an_index_is_closed_after_a_question_that_another_thread_asks() -> None:
    asked, answers = Event(), Event()

    def slow(postings: Postings) -> int:
        asked.set()
        assert answers.wait(20)
        return len(postings.all_summaries())

    with open_index(memory("cache rule")) as index, ThreadPoolExecutor(2) as pool:
        answer = pool.submit(index.look, slow)
        assert asked.wait(20)
        closed = pool.submit(index.close)
        assert wait([closed], timeout=0.2).not_done
        answers.set()
        assert answer.result(20) == 1
        assert closed.result(20) is None


def test_an_index_can_be_searched_from_several_threads() -> None:
    with open_index(*(memory(f"cache rule {i}") for i in range(50))) as index, ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: len(best(index, "cache rule")), range(100)))
    assert set(results) == {15}


@given(title=st.text(max_size=30), prompt=st.text(max_size=30))
def test_any_text_can_be_indexed_and_searched_and_finds_itself(title: str, prompt: str) -> None:
    with open_index(memory(title, memory_id="it"), *fillers(2)) as index:
        best(index, prompt)
        index.matching(filter_terms(prompt))
        found = best(index, title)
        filtered = [one.id for one in index.matching(filter_terms(title))]
    assert ("it" in found) == bool(query_terms(title))
    assert "it" in filtered
    assert tokens(title) or len(filtered) == 3
