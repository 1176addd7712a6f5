"""The strongest memories: found at a bounded cost, in a fixed order, active ones first in line."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from engine.search.scoring import find

from engine.lean.record import replace
from engine.memory import Memory
from engine.opening import index_of
from engine.search.index import Index
from engine.search.strategies import memsift
from engine.stores.roots import read_corpus
from tests.benchmarks.corpus import prompts, write_root
from tests.engine.builders import fillers, memory, open_index

MIX = {"short": 24, "ordinary": 24, "long": 10, "paste": 2}
"""Prompts of each kind."""

REPEATED = [("cache expiry", 1), ("cache expiry", 2), ("cache expiry", 1), ("expiry", 2)]
FOUND = [["cache-expiry"], ["cache-expiry", "cache"], ["cache-expiry"], ["cache-expiry"]]
"""Prompts with the sizes of their pools, the first twice, and the memories in these pools."""


@pytest.fixture(scope="module", params=[(5, 600), (6, 2500)])
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, int]]:
    """An index and the seed of its language."""
    seed, size = request.param
    root = write_root(tmp_path_factory.mktemp("root"), size, seed=seed)
    with closing(index_of(read_corpus(str(root)))) as index:
        yield index, seed


def best(prompt: str, index: Index, limit: int = 3) -> dict[str, float]:
    """Id -> score of the best memories, retired ones included."""
    found = find(memsift.STRATEGY, prompt, index, limit, include_retired=True)
    return {one.memory.id: one.score for one in found.memories}


@pytest.mark.slow
def test_a_bounded_search_finds_the_top_three_of_an_exhaustive_one(
    corpus: tuple[Index, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    index, seed = corpus
    asked = [prompt for kind, count in MIX.items() for prompt in prompts(count, kind, seed=seed)]
    bounded = [best(prompt, index) for prompt in asked]
    everything = index.ask(lambda db: [row for (row,) in db.execute("select rowid from memory")])
    monkeypatch.setattr("engine.search.scoring.holders", lambda *_, **__: {str(row): 0.0 for row in everything})
    monkeypatch.setattr("engine.search.scoring.with_ties", lambda guessed, _: [*guessed])
    exhaustive = [best(prompt, index) for prompt in asked]
    same = sum(len(one.keys() & other.keys()) for one, other in zip(bounded, exhaustive, strict=True))
    total = sum(map(len, exhaustive))
    assert total > 170
    assert same / total >= 0.95
    for one, other in zip(bounded, exhaustive, strict=True):
        assert all(one[memory_id] == pytest.approx(other[memory_id]) for memory_id in one.keys() & other.keys())


def ids(prompt: str, *memories: Memory, limit: int = 3, include_retired: bool = False) -> list[str]:
    with open_index(*memories) as index:
        found = find(memsift.STRATEGY, prompt, index, limit, include_retired=include_retired)
    return [one.memory.id for one in found.memories]


def test_retired_memories_do_not_crowd_active_ones_out_and_are_listed() -> None:
    retired = [memory("cache expiry", memory_id=f"old{i:03}", status="retired") for i in range(300)]
    weaker = memory("cache words about something else", memory_id="active")
    found = ids("cache expiry", *retired, weaker, *fillers(20), limit=1)
    assert found[-1] == "active"
    assert len(found) > 90


def test_of_a_word_that_too_many_memories_hold_the_newest_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of postings that a query reads is bounded."""
    monkeypatch.setattr(memsift, "STRATEGY", replace(memsift.STRATEGY, postings=(50, 50)))
    many = [memory("cache expiry", memory_id=f"m{i:03}") for i in range(200)]
    found = ids("cache", *many, limit=10)
    assert len(found) == 10
    assert min(found) >= "m130"


def test_retired_memories_count_where_they_are_asked_for() -> None:
    retired = [memory("cache expiry", memory_id=f"old{i}", status="retired") for i in range(5)]
    active = memory("cache words about something else", memory_id="active")
    assert ids("cache expiry", *retired, active, limit=2, include_retired=True) == ["old0", "old1"]


def test_retired_memories_behind_the_last_active_one_are_left_out() -> None:
    weak = memory("cache words about something else", status="retired")
    assert ids("cache expiry", memory("cache expiry"), weak, limit=1) == ["cache-expiry"]


def test_equally_strong_memories_stand_by_category_then_path() -> None:
    equal = [
        memory("cache expiry", category="tech_debt", memory_id="a"),
        memory("cache expiry", category="decision", memory_id="z"),
        memory("cache expiry", category="constraint", memory_id="b"),
        memory("cache expiry", category="decision", memory_id="y"),
    ]
    assert ids("cache expiry", *equal, limit=4) == ["y", "z", "b", "a"]


def test_a_limit_is_kept() -> None:
    many = [memory("cache expiry", memory_id=f"m{i:02}") for i in range(60)]
    assert ids("cache expiry", *many, limit=50) == [f"m{i:02}" for i in range(50)]


def test_systems_that_ask_for_the_same_pool_find_it_once() -> None:
    sizes: list[int] = []
    rules = replace(memsift.STRATEGY, candidates=lambda _, size: sizes.append(size) or 40)
    with open_index(memory("cache expiry"), memory("cache"), *fillers(5)) as index:
        pools = [find(rules, text, index, size, include_retired=False) for text, size in REPEATED]
    assert sizes == [1, 2, 2]
    assert [[one.memory.id for one in pool.memories] for pool in pools] == FOUND


def test_an_empty_root_and_an_empty_prompt_find_nothing() -> None:
    assert ids("cache") == []
    assert ids("", memory("cache")) == []
    assert ids("zanzibar", memory("cache")) == []


def test_a_phrase_is_found_behind_many_memories_that_hold_its_words_apart() -> None:
    apart = [memory(f"note {i}", memory_id=f"m{i:02}", body="user of an id") for i in range(40)]
    target = memory("user_id", memory_id="target", body="word " * 300)
    assert ids("user_id", *apart, target, limit=1) == ["target"]
