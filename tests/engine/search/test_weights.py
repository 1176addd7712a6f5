"""Weights by row: what a very common word counts in some memories is what its lists say, however it is read."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lean.sqlite import DAMAGE, in_memory
from engine.search import schema, weights
from engine.search.changes import Changes
from engine.search.common_words import LEAST
from engine.search.postings import SEGMENT, by_segment
from engine.search.weights import KEPT, ROUNDED, rounded, weights_among
from tests.engine.builders import add_words, lists_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.lean.sqlite import Connection

    Counts = dict[int, int]
    """Row -> how often a word stands there."""

TIMES = st.sampled_from([1, 2, 9, 10, 11, 12, 60, 255, 256])
ROW = st.integers(0, 200) | st.integers(SEGMENT - 9, SEGMENT + 200)


@pytest.fixture
def db() -> Iterator[Connection]:
    with closing(in_memory()) as found:
        schema.create(found, "/root")
        yield found


def test_sums_are_kept_as_the_weight_that_is_nearest() -> None:
    assert (len(KEPT), len(ROUNDED)) == (16, 256)
    for count in range(300):
        assert abs(rounded(count) - count) == min(abs(kept - count) for kept in KEPT)
    assert [rounded(count) for count in range(11)] == [*range(11)]


def hold(db: Connection, word: str, counts: Counts) -> None:
    changes = Changes(db, 1000)
    for row, times in counts.items():
        add_words(db, changes, row, ("", "", f"{word} " * times))
    changes.write()


def found(
    db: Connection, words: set[str], rows: list[int], *, are_many: bool = False, numbers: Counts | None = None
) -> dict[str, Counts]:
    """Word -> row -> weight."""
    by_word: dict[str, Counts] = {}
    with patch.object(weights, "are_many", return_value=are_many):
        for word, by_place in weights_among(db, words, by_segment(rows), numbers or {}):
            by_word.setdefault(word, {}).update({rows[place]: weight for place, weight in by_place.items()})
    return by_word


def number_of(db: Connection, word: str) -> int:
    ((number,),) = db.execute("select rowid from bitmap where term = ?", (word,))
    return int(number)


@pytest.mark.parametrize("sparse", [0, 1000])
@given(counts=st.dictionaries(ROW, TIMES, max_size=9), asked=st.lists(ROW | st.just(5 * SEGMENT), unique=True))
def test_a_very_common_word_counts_what_its_lists_say(sparse: int, counts: Counts, asked: list[int]) -> None:
    counts = dict.fromkeys(range(LEAST), 1) | counts
    with closing(in_memory()) as db, patch.object(weights, "SPARSE", sparse):
        schema.create(db, "/root")
        hold(db, "cache", counts)
        listed = dict(posting for one in lists_of(db, "cache") for posting in one.postings())
        assert listed == {row: rounded(times) for row, times in counts.items()}
        wanted = {row: listed[row] for row in asked if row in listed}
        assert found(db, {"cache"}, asked) == {"cache": wanted}
        assert found(db, {"cache"}, [*wanted], are_many=True) == {"cache": wanted}


BOTH = pytest.mark.parametrize("are_many", [True, False])


@BOTH
def test_common_and_rare_words_are_asked_for_together(db: Connection, are_many: bool) -> None:
    hold(db, "cache", dict.fromkeys(range(LEAST), 2))
    hold(db, "rule", dict.fromkeys(range(200, 200 + LEAST), 1))
    hold(db, "token", {100: 3, 101: 1})
    words = {"cache", "none", "token", "rule"}
    by_word = found(db, words, [1, 100, 201], are_many=are_many)
    assert by_word == {"cache": {1: 2}, "token": {100: 3}, "rule": {201: 1}}
    assert found(db, words, [1, 100, 201], are_many=are_many, numbers={"rule": number_of(db, "rule")}) == by_word
    assert found(db, set(), [1, 100], are_many=are_many) == {}


def test_a_change_that_stays_beside_the_lists_reads_no_common_words(db: Connection) -> None:
    hold(db, "cache", dict.fromkeys(range(LEAST), 2))
    asked: list[str] = []
    db.set_trace_callback(asked.append)
    few = Changes(db, 1)
    add_words(db, few, 100, ("cache", "", "rule"))
    few.write()
    assert any("into recent" in sql for sql in asked)
    assert not [sql for sql in asked if "bitmap" in sql]


@BOTH
def test_a_word_that_became_common_is_found_in_memories_that_held_it_before(db: Connection, are_many: bool) -> None:
    hold(db, "cache", {1: 2, SEGMENT: 3})
    hold(db, "cache", dict.fromkeys(range(10, 10 + LEAST), 1))
    assert number_of(db, "cache")
    assert found(db, {"cache"}, [1, 12, SEGMENT], are_many=are_many) == {"cache": {1: 2, 12: 1, SEGMENT: 3}}


def test_many_words_in_few_memories_are_looked_up_in_bags_and_few_in_many_are_not(db: Connection) -> None:
    hold(db, "cache rule token", dict.fromkeys(range(LEAST), 1))
    db.execute("delete from bag")
    few, many = by_segment([3, 4, 5]), by_segment(range(LEAST))
    assert {word for word, _ in weights_among(db, {"cache", "rule", "token"}, many, {})} == {"cache", "rule", "token"}
    with pytest.raises(DAMAGE, match="no bag"):
        list(weights_among(db, {"cache", "rule", "token"}, few, {}))


def test_words_go_by_numbers_that_are_codes_of_characters(db: Connection) -> None:
    hold(db, "cache", dict.fromkeys(range(LEAST), 2))
    db.execute("update bitmap set rowid = ?", (0xD7FF,))
    hold(db, "rule", dict.fromkeys(range(100, 100 + LEAST), 3))
    assert number_of(db, "rule") == 0xE000
    assert found(db, {"rule"}, [107], are_many=True) == {"rule": {107: 3}}


def test_a_word_whose_weights_are_missing_is_read_from_its_lists(db: Connection) -> None:
    hold(db, "cache", dict.fromkeys(range(LEAST), 2))
    db.execute("delete from weight")
    assert found(db, {"cache"}, [1, 100]) == {"cache": {1: 2}}


@pytest.mark.parametrize("content", ["'text'", "7", "null"])
def test_weights_that_are_none_are_damage(db: Connection, content: str) -> None:
    hold(db, "cache", dict.fromkeys(range(LEAST), 2))
    db.execute(f"update weight set content = {content}")
    with pytest.raises(DAMAGE):
        found(db, {"cache"}, [3, 2 * SEGMENT])


@pytest.mark.parametrize("content", ["'text'", "7", "null", "x'0102'", "content || content", "''"])
def test_a_bag_that_is_another_is_damage(db: Connection, content: str) -> None:
    hold(db, "cache", dict.fromkeys(range(LEAST), 2))
    db.execute(f"update bag set content = {content} where rowid = 3")
    with pytest.raises(DAMAGE, match="damaged"):
        found(db, {"cache"}, [3, 4], are_many=True)
