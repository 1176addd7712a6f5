"""Weights by row: what a very common word counts in some memories is what its lists say, however it is read."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search import schema, weights
from engine.search.changes import Changes
from engine.search.common_words import LEAST
from engine.search.postings import SEGMENT, by_segment
from engine.search.sqlite import DAMAGE, in_memory
from engine.search.weights import KEPT, ROUNDED, rounded, weights_among
from tests.engine.builders import lists_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.search.sqlite import Connection

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
        changes.add(row, ("", "", f"{word} " * times), is_active=True)
    changes.write()


def found(db: Connection, words: list[str], rows: list[int]) -> dict[str, Counts]:
    """Word -> row -> weight."""
    by_word: dict[str, Counts] = {}
    for word, by_place in weights_among(db, words, by_segment(rows)):
        by_word.setdefault(word, {}).update({rows[place]: weight for place, weight in by_place.items()})
    return by_word


@pytest.mark.parametrize("sparse", [0, 1000])
@given(counts=st.dictionaries(ROW, TIMES, max_size=9), asked=st.lists(ROW | st.just(5 * SEGMENT), unique=True))
def test_a_very_common_word_counts_what_its_lists_say(sparse: int, counts: Counts, asked: list[int]) -> None:
    counts = dict.fromkeys(range(LEAST), 1) | counts
    with closing(in_memory()) as db, patch.object(weights, "SPARSE", sparse):
        schema.create(db, "/root")
        hold(db, "cache", counts)
        listed = dict(posting for one in lists_of(db, "cache") for posting in one.postings())
        assert listed == {row: rounded(times) for row, times in counts.items()}
        assert found(db, ["cache"], asked) == {"cache": {row: listed[row] for row in asked if row in listed}}


def test_common_and_rare_words_are_asked_for_together(db: Connection) -> None:
    hold(db, "cache", dict.fromkeys(range(LEAST), 2))
    hold(db, "token", {100: 3, 101: 1})
    assert found(db, ["cache", "none", "token"], [1, 100]) == {"cache": {1: 2}, "token": {100: 3}}
    assert found(db, [], [1, 100]) == {}


def test_a_word_whose_weights_are_missing_is_read_from_its_lists(db: Connection) -> None:
    hold(db, "cache", dict.fromkeys(range(LEAST), 2))
    db.execute("delete from weight")
    assert found(db, ["cache"], [1, 100]) == {"cache": {1: 2}}


@pytest.mark.parametrize("content", ["'text'", "7", "null"])
def test_weights_that_are_none_are_damage(db: Connection, content: str) -> None:
    hold(db, "cache", dict.fromkeys(range(LEAST), 2))
    db.execute(f"update weight set content = {content}")
    with pytest.raises(DAMAGE):
        found(db, ["cache"], [3, 2 * SEGMENT])
