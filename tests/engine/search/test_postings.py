"""Postings: what is written is read, whatever came before it, and what was damaged is seen."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.memory import Corpus
from engine.search import schema
from engine.search.bags import weights_of
from engine.search.changes import Changes
from engine.search.index import Index
from engine.search.postings import SEGMENT, Lengths, arrays_in, is_active, lists_of, tokens_in
from engine.search.query import query_terms
from engine.search.sqlite import DAMAGE, in_memory
from engine.search.strongest import EXHAUSTIVE, Effort, strongest
from engine.stores.roots import read_corpus
from tests.benchmarks.corpus import prompts, write_root
from tests.engine.builders import memory, open_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.search.rows import Words
    from engine.search.sqlite import Connection

WORDS = ("cache", "auth", "token", "rule")
ROWS = (1, 2, 3, 7, SEGMENT - 1, SEGMENT, SEGMENT + 5, 3 * SEGMENT)
TEXT = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
STATE = st.dictionaries(st.sampled_from(ROWS), st.tuples(TEXT, TEXT, TEXT), max_size=len(ROWS))


@pytest.fixture
def db() -> Iterator[Connection]:
    with closing(empty()) as found:
        yield found


def empty() -> Connection:
    db = in_memory()
    schema.create(db, "/root")
    return db


def write(db: Connection, before: dict[int, Words], after: dict[int, Words]) -> None:
    """Make what lies in the rows what *after* says, in one go."""
    collected = Changes(db)
    for row, words in before.items():
        if after.get(row) != words:
            collected.remove(row, words)
    for row, words in after.items():
        if before.get(row) != words:
            collected.add(row, words, weights_of(words), is_active=row % 2 == 0)
    collected.write()


def stored(db: Connection) -> dict[str, dict[int, int]]:
    """Word -> row -> weight."""
    return {
        word: {base + row: weight for base, rows, weights in lists for row, weight in zip(rows, weights, strict=True)}
        for word, lists in lists_of(db, WORDS).items()
    }


def assert_holds(db: Connection, wanted: dict[int, Words]) -> None:
    expected: dict[str, dict[int, int]] = {}
    for row, words in sorted(wanted.items()):
        for word, weight in weights_of(words).items():
            expected.setdefault(word, {})[row] = weight
    assert stored(db) == expected
    corpus = Lengths(db)
    lengths = {row: sum(len(text.split()) for text in words) for row, words in wanted.items()}
    assert {row: tokens_in(value) for row, value in enumerate(corpus.values) if value} == lengths
    assert all(is_active(corpus.values[row]) is (row % 2 == 0) for row in wanted)
    assert corpus.rows == len(wanted)
    assert corpus.mean_length == (sum(lengths.values()) / len(wanted) if wanted else 0)
    counts = dict(db.execute("select term, count from full_text_frequency"))
    assert counts == {word: len(rows) for word, rows in expected.items()}


@settings(max_examples=150, deadline=None)
@given(st.lists(STATE, min_size=1, max_size=4))
def test_after_any_changes_the_lists_are_those_of_a_fresh_build(states: list[dict[int, Words]]) -> None:
    with closing(empty()) as db:
        before: dict[int, Words] = {}
        for after in states:
            write(db, before, after)
            assert_holds(db, after)
            before = after


def test_many_changes_of_one_list_come_together(db: Connection) -> None:
    some: dict[int, Words] = dict.fromkeys(range(0, 90, 3), ("cache", "", ""))
    write(db, {}, some)
    others: dict[int, Words] = dict.fromkeys(range(0, 90, 2), ("cache", "", "cache rule"))
    write(db, some, others)
    assert_holds(db, others)


@pytest.mark.parametrize(("most", "many"), [(10, 3), (2, 1), (1000, 0)])
def test_what_waits_may_be_written_in_between(db: Connection, most: int, many: int) -> None:
    wanted: dict[int, Words] = dict.fromkeys((1, 2, SEGMENT, SEGMENT + 2, 4), ("cache auth token", "", "rule"))
    collected = Changes(db, most=most, many=many)
    for row, words in wanted.items():
        collected.add(row, words, weights_of(words), is_active=row % 2 == 0)
    collected.write()
    assert_holds(db, wanted)


def test_a_weight_has_a_most(db: Connection) -> None:
    write(db, {}, {1: ("", "", "cache " * 70_000)})
    assert stored(db) == {"cache": {1: 50_000}}


@pytest.mark.parametrize("content", [b"", b"\0", b"\0\0", b"\0" * 6, "text", 7, None])
def test_a_list_that_is_none_is_damage(content: object) -> None:
    with pytest.raises(DAMAGE):
        arrays_in(content)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "statement",
    [
        "delete from posting where term = 'cache'",
        "update posting set content = substr(content, 1, 4) || x'00000000' where term = 'cache'",
        "update posting set content = substr(content, 1, 3)",
        "update posting set content = 'text'",
        "update length set content = substr(content, 1, 8)",
        "update length set segment = 1",
        "delete from length",
        "delete from memory where rowid = 2",
        "delete from posting where term = 'rule'",
    ],
)
def test_damage_is_an_error_and_never_another_answer(statement: str) -> None:
    with open_index(*(memory("cache rule", memory_id=f"m{i}", body="token") for i in range(3))) as index:
        wanted = strongest(index, query_terms("cache rule"), 3)
        assert len(wanted.memories) == 3
        index.database.execute(statement)
        with pytest.raises(DAMAGE):
            strongest(index, query_terms("cache rule"), 3)


SMALL = Effort(budget=60, candidates=25, least=12, postings=100_000, parts=100)
FEW_PARTS = Effort(budget=60, candidates=25, least=12, postings=100_000, parts=1)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root: Path = write_root(tmp_path_factory.mktemp("root"), 300, seed=7)
    with closing(Index(read_corpus(str(root)))) as index:
        yield index


@pytest.mark.parametrize("effort", [SMALL, FEW_PARTS])
@pytest.mark.parametrize("kind", ["short", "ordinary", "long"])
def test_what_commoner_words_add_is_what_all_words_add(corpus: Index, kind: str, effort: Effort) -> None:
    """By lists for some rows and by bags the strengths are those of a search that adds up everything."""
    for prompt in prompts(6, kind, seed=7):
        terms = query_terms(prompt)
        wanted = {one.summary.id: one.match for one in strongest(corpus, terms, 1000, effort=EXHAUSTIVE).memories}
        found = strongest(corpus, terms, 3, effort=effort).memories
        assert found
        assert all(one.match == wanted[one.summary.id] for one in found)


def test_which_of_many_equal_memories_are_found_does_not_depend_on_their_rows() -> None:
    many = [memory("cache rule", memory_id=f"m{i:03}", body="token") for i in range(90)]
    names = []
    for order in (many, many[::-1]):
        with closing(Index(Corpus("/root", tuple(order)))) as index:
            found = strongest(index, query_terms("cache token rule"), 5, effort=SMALL).memories
            names.append([one.summary.id for one in found])
    assert names == [[f"m{i:03}" for i in range(5)]] * 2
