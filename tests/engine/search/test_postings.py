"""Postings: what is written is read, whatever came before it, and what was damaged is seen."""

from __future__ import annotations

from contextlib import closing
from struct import pack
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lean.sqlite import DAMAGE, in_memory
from engine.memory import Corpus
from engine.search import common_words, schema, storing
from engine.search.bags import weights_in, weights_of
from engine.search.bit_sums import rows_of
from engine.search.bitmaps import Standing
from engine.search.changes import Changes, arrange
from engine.search.common_words import COMMON, SHARE
from engine.search.frequencies import refresh
from engine.search.index import Index
from engine.search.postings import (
    MAX_LENGTH,
    MOST_RECENT,
    RETIRED,
    SEGMENT,
    List,
    by_segment,
    lengths_of,
    recent_in,
)
from engine.search.query import query_terms
from engine.search.strongest import EXHAUSTIVE, Effort, strongest
from engine.search.weights import KEPT, STRONG, weights_among
from engine.stores.roots import read_corpus
from tests.benchmarks.corpus import prompts, write_root
from tests.engine.builders import add_words, lists_of, memory, open_index, remove_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from engine.lean.sqlite import Connection
    from engine.search.rows import Words

WORDS = ("cache", "auth", "token", "rule")
ROWS = (1, 2, 3, 7, 40, SEGMENT - 1, SEGMENT, SEGMENT + 5, 3 * SEGMENT)
TEXT = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
STATE = st.dictionaries(st.sampled_from(ROWS), st.tuples(TEXT, TEXT, TEXT), max_size=len(ROWS))
MANY = 1000


@pytest.fixture
def db() -> Iterator[Connection]:
    with closing(empty()) as found:
        yield found


def empty() -> Connection:
    db = in_memory()
    schema.create(db, "/root")
    return db


def write(db: Connection, before: dict[int, Words], after: dict[int, Words], expected: int) -> None:
    """Make what lies in the rows what *after* says, in one go."""
    collected = Changes(db, expected)
    for row, words in before.items():
        if after.get(row) != words:
            remove_words(db, collected, row, words)
    for row, words in after.items():
        if before.get(row) != words:
            add_words(db, collected, row, words, is_active=row % 2 == 0)
    collected.write()


def stored(db: Connection) -> dict[str, dict[int, int]]:
    """Word -> row -> weight, in lists and beside them."""
    found: dict[str, dict[int, int]] = {}
    for word in WORDS:
        for one in lists_of(db, word):
            found.setdefault(word, {}).update(one.postings())
    for row, bag, _, _ in recent_in(db):
        for weights in found.values():
            weights.pop(row, None)
        for word, weight in weights_in(bag)[1].items() if bag else ():
            found.setdefault(word, {})[row] = weight
    return {word: weights for word, weights in found.items() if weights}


def lengths(db: Connection) -> dict[int, int]:
    """Row -> `lengths_of`, in the rows where a memory of any words lies."""
    found = lengths_of(db, all_listed(db))
    for row, bag, _, is_active in recent_in(db):
        found.pop(row, None)
        if bag and (length := weights_in(bag)[0]):
            found[row] = length | (0 if is_active else RETIRED)
    return found


def assert_holds(db: Connection, wanted: dict[int, Words]) -> None:
    expected: dict[str, dict[int, int]] = {}
    for row, words in sorted(wanted.items()):
        for word, weight in weights_of(words).items():
            expected.setdefault(word, {})[row] = weight
    assert stored(db) == expected
    sizes = {row: sum(len(text.split()) for text in words) for row, words in wanted.items()}
    assert lengths(db) == {row: size | (RETIRED if row % 2 else 0) for row, size in sizes.items() if size}
    counts = dict(db.execute("select term, count from full_text_frequency"))
    assert counts == {word: len(rows) for word, rows in expected.items()}
    for word in WORDS:
        listed = {row: weight for one in lists_of(db, word) for row, weight in one.postings()}
        standing = [rows_of(rows) for rows in Standing(db, [word], 1).next(1)]
        assert standing == [sorted(listed), sorted(row for row, weight in listed.items() if weight >= STRONG)]
        for are_many in (True, False):
            assert weights_of_rows(db, word, sorted(all_listed(db)), are_many=are_many) == listed


def all_listed(db: Connection) -> set[int]:
    """The rows of which the lists say anything."""
    return {row for word in WORDS for one in lists_of(db, word) for row, _ in one.postings()}


def weights_of_rows(db: Connection, word: str, rows: Sequence[int], *, are_many: bool) -> dict[int, int]:
    """Row -> what a word counts there, as the best memories are scored by."""
    found: dict[int, int] = {}
    with patch("engine.search.weights.are_many", return_value=are_many):
        for _, by_place in weights_among(db, {word}, by_segment(rows), {}):
            found |= by_place
    return placed(rows, found)


@pytest.mark.parametrize(("common", "share"), [(2, 1_000_000), (2, 2), (COMMON, SHARE)])
@given(states=st.lists(st.tuples(STATE, st.sampled_from([1, MANY])), min_size=1, max_size=5))
def test_after_any_changes_the_lists_are_those_of_a_fresh_build(
    common: int, share: int, states: list[tuple[dict[int, Words], int]]
) -> None:
    with closing(empty()) as db, patch.multiple(common_words, COMMON=common, LEAST=common, SHARE=share):
        before: dict[int, Words] = {}
        for after, expected in states:
            write(db, before, after, expected)
            assert_holds(db, after)
            before = after


def test_few_changes_leave_the_lists_alone_and_many_go_into_them(db: Connection) -> None:
    some: dict[int, Words] = dict.fromkeys(range(1, MOST_RECENT), ("cache", "", ""))
    write(db, {}, some, len(some))
    assert not lists_of(db, "cache")
    one_more = {**some, MOST_RECENT: ("cache", "", "")}
    write(db, some, one_more, 1)
    assert not lists_of(db, "cache")
    assert len([*recent_in(db)]) == MOST_RECENT
    two_more = {**one_more, MOST_RECENT + 1: ("cache", "", "")}
    write(db, one_more, two_more, 1)
    assert not [*recent_in(db)]
    assert [[*one.within] for one in lists_of(db, "cache")] == [[*two_more]]
    assert_holds(db, two_more)


@pytest.mark.parametrize("step", [1, 3, 50])
def test_lists_of_rare_and_of_common_words_take_changes(db: Connection, step: int) -> None:
    some: dict[int, Words] = dict.fromkeys(range(0, 900, step), ("cache", "", ""))
    write(db, {}, some, MANY)
    others: dict[int, Words] = dict.fromkeys(range(0, 1000, 2 * step), ("cache", "", "cache rule"))
    write(db, some, others, MANY)
    assert_holds(db, others)


def placed(rows: Sequence[int], weights: dict[int, int]) -> dict[int, int]:
    """Row -> weight, of weights by the place of a row."""
    return {rows[place]: weight for place, weight in weights.items()}


@pytest.mark.parametrize("step", [1, 3, 50])
def test_a_list_says_the_same_of_some_rows_as_of_all(db: Connection, step: int) -> None:
    write(db, {}, {row: ("", "", "cache " * (row % 7 + 1)) for row in range(0, 900, step)}, MANY)
    (found,) = lists_of(db, "cache")
    for asked in ([0], [5, 50, 51, 898, 5000], [*range(900)]):
        wanted = {row: weight for row, weight in found.postings() if row in asked}
        assert placed(asked, found.among(by_segment(asked))) == wanted


@given(st.sets(st.integers(0, 5000), min_size=1), st.sets(st.integers(0, SEGMENT + 5000)), st.integers(0, 1))
def test_a_list_is_searched_as_it_is_read(held: set[int], asked: set[int], segment: int) -> None:
    rows = sorted(held)
    content = pack(f"{len(rows)}H", *rows) + bytes([row % 255 + 1 for row in rows])
    found = List(segment, len(rows), content)
    wanted = {row: weight for row, weight in found.postings() if row in asked}
    assert placed([*asked], found.among(by_segment(asked))) == wanted
    for row in held | asked:
        weight = dict(found.postings()).get(row)
        assert found.among(by_segment([row])) == ({} if weight is None else {0: weight})


@pytest.mark.parametrize("most", [10, 2, 0])
def test_what_waits_may_be_written_in_between(db: Connection, most: int) -> None:
    wanted: dict[int, Words] = dict.fromkeys((1, 2, SEGMENT, SEGMENT + 2, 4), ("cache auth token", "", "rule"))
    collected = Changes(db, MANY, most=most)
    for row, words in wanted.items():
        add_words(db, collected, row, words, is_active=row % 2 == 0)
    collected.write()
    assert_holds(db, wanted)


def test_the_lists_of_a_word_come_to_lie_next_to_each_other(db: Connection) -> None:
    wanted: dict[int, Words] = dict.fromkeys((1, 2, SEGMENT, SEGMENT + 2), ("cache auth token", "", "rule"))
    write(db, {}, wanted, MANY)
    arrange(db)
    listed = db.execute("select term, segment from posting order by rowid").fetchall()
    assert listed == [(word, segment) for word in ("auth", "cache", "rule", "token") for segment in (0, 1)]
    assert_holds(db, wanted)
    write(db, wanted, {5: ("cache", "", "")}, MANY)
    assert_holds(db, {5: ("cache", "", "")})


@pytest.mark.parametrize("expected", [1, MANY])
def test_a_weight_and_a_length_have_a_most(db: Connection, expected: int) -> None:
    write(db, {}, {2: ("", "", "cache " * 70_000)}, expected)
    assert stored(db) == {"cache": {2: KEPT[-1]}}
    assert expected == 1 or lengths(db) == {2: MAX_LENGTH}


@pytest.mark.parametrize("content", [b"", b"\0", b"\0\0", b"\0" * 6, "text", 7, None])
def test_a_list_that_is_none_is_damage(content: object) -> None:
    with pytest.raises(DAMAGE):
        List(0, 4, content).among(by_segment([0]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "statement",
    [
        "update posting set rows = rows + 1",
        "update posting set content = substr(content, 1, 2)",
        "update posting set content = 'text'",
        "update posting set segment = 1000000000000",
        "update posting set segment = -1",
        "update posting set segment = 'text'",
        "update length set content = substr(content, 1, 1)",
        "update length set content = substr(content, 1, 2)",
        "update length set segment = 1",
        "delete from length",
        "delete from memory where rowid = 2",
    ],
)
def test_damage_is_an_error_and_never_another_answer(statement: str) -> None:
    with open_index(*(memory("cache rule", memory_id=f"m{i}", body="token") for i in range(3))) as index:
        wanted = strongest(index, query_terms("cache rule"), 3)
        assert len(wanted.memories) == 3
        index.database.execute(statement)
        with pytest.raises(DAMAGE):
            strongest(index, query_terms("cache rule"), 3)


SMALL = Effort(candidates=25)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root: Path = write_root(tmp_path_factory.mktemp("root"), 300, seed=7)
    with closing(Index(read_corpus(str(root)))) as index:
        yield index


@pytest.mark.parametrize("kind", ["short", "ordinary", "long"])
def test_what_commoner_words_add_is_what_all_words_add(corpus: Index, kind: str) -> None:
    for prompt in prompts(6, kind, seed=7):
        terms = query_terms(prompt)
        wanted = {one.summary.id: one.match for one in strongest(corpus, terms, 1000, effort=EXHAUSTIVE).memories}
        found = strongest(corpus, terms, 3, effort=SMALL).memories
        assert found
        assert all(one.match == wanted[one.summary.id] for one in found)


def test_where_the_rows_of_memories_lie_changes_no_answer(corpus: Index) -> None:
    """Among more memories than one list holds, which here lie in the first, the second and the fourth of them."""
    memories = [corpus.memory(one.id) for one in corpus.summaries()]
    with closing(empty()) as db:
        changes = Changes(db, MANY, counts=False)
        for number, one in enumerate(memories):
            assert one
            storing.insert(db, corpus.root, (0, 1, 3)[number % 3] * SEGMENT + number + 1, one, changes)
        changes.write()
        refresh(db)
        index = Index.over(db, corpus.root)
        for prompt in prompts(12, "ordinary", seed=7):
            terms = query_terms(prompt)
            for effort in (None, SMALL, EXHAUSTIVE):
                wanted = strongest(corpus, terms, 15, effort=effort).memories
                assert strongest(index, terms, 15, effort=effort).memories == wanted


def test_which_of_many_equal_memories_are_found_does_not_depend_on_their_rows() -> None:
    many = [memory("cache rule", memory_id=f"m{i:03}", body="token") for i in range(300)]
    names = []
    for order in (many, many[::-1]):
        with closing(Index(Corpus("/root", tuple(order)))) as index:
            found = strongest(index, query_terms("cache token rule"), 5, effort=SMALL).memories
            names.append([one.summary.id for one in found])
    assert names == [[f"m{i:03}" for i in range(5)]] * 2
