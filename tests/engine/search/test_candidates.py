"""Candidates: the memories that hold most of a prompt, however what they hold is stored."""

from __future__ import annotations

from array import array
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from engine.lean.sqlite import DAMAGE, in_memory
from engine.search import schema
from engine.search.bit_sums import rows_of
from engine.search.bitmaps import Standing
from engine.search.candidates import ALWAYS, LEAST_SHARE, MOST, STRONG_PARTS, Candidates
from engine.search.changes import Changes
from engine.search.common_words import COMMON, LEAST, SHARE
from engine.search.expansion import Unit
from engine.search.postings import SEGMENT, SPARSE, lengths_of
from tests.engine.builders import add_words, remove_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.lean.sqlite import Connection

MANY = 1000
TITLE = ("cache", "", "")
BODY = ("", "", "cache")


@pytest.fixture
def db() -> Iterator[Connection]:
    with closing(in_memory()) as found:
        schema.create(found, "/root")
        yield found


def hold(db: Connection, words: dict[int, tuple[str, str, str]]) -> None:
    """Let memories of these words lie in these rows."""
    changes = Changes(db, MANY)
    for row, one in words.items():
        add_words(db, changes, row, one)
    changes.write()


def stands(db: Connection, words: list[str], *, with_strong: bool = True) -> list[set[int]]:
    """The rows where any of *words* stands, and those where it is strong."""
    return [{*rows_of(rows)} for rows in Standing(db, words, len(words) * with_strong).next(len(words))]


def is_rare(db: Connection, word: str) -> bool:
    found = Standing(db, [word], 1)
    found.next(1)
    return word in found.lists


@pytest.mark.parametrize("first", [0, SEGMENT - 100, SEGMENT + 9])
@pytest.mark.parametrize("step", [1, 2 * SHARE])
@pytest.mark.parametrize("count", [3, LEAST + 1, COMMON - 1, COMMON, COMMON + 5])
def test_bitmaps_say_where_a_word_stands_be_it_rare_or_common(
    db: Connection, first: int, step: int, count: int
) -> None:
    rows = [*range(first, first + step * count, step)]
    hold(db, {row: TITLE if row % 3 == 0 else BODY for row in rows})
    held, strong = {*rows}, {row for row in rows if row % 3 == 0}
    assert stands(db, ["cache"]) == [held, strong]
    assert stands(db, ["cache"], with_strong=False) == [held]


@pytest.mark.parametrize("step", [1, 2 * SHARE])
@pytest.mark.parametrize("count", [3, LEAST - 1, LEAST, COMMON - 1, COMMON])
def test_a_word_has_bitmaps_where_many_memories_hold_it_or_a_good_part_of_few(
    db: Connection, step: int, count: int
) -> None:
    hold(db, dict.fromkeys(range(SEGMENT, SEGMENT + step * count, step), BODY))
    assert is_rare(db, "cache") is (count < (LEAST if step == 1 else COMMON))


def test_bitmaps_follow_the_lists_until_no_memory_holds_the_word(db: Connection) -> None:
    hold(db, dict.fromkeys(range(0, 40 * COMMON, 40), BODY) | {SEGMENT + 1: ("", "", "cache rule")})
    held = {*range(0, 40 * COMMON, 40), SEGMENT + 1}
    assert stands(db, ["cache"]) == [held, set()]
    hold(db, {5001: TITLE, 3 * SEGMENT + 5: TITLE})
    held |= {5001, 3 * SEGMENT + 5}
    assert stands(db, ["cache"]) == [held, {5001, 3 * SEGMENT + 5}]
    changes = Changes(db, MANY)
    for row in held - {5001}:
        remove_words(db, changes, row, TITLE if row == 3 * SEGMENT + 5 else BODY)
    changes.write()
    assert stands(db, ["cache"]) == [{5001}, {5001}]
    changes = Changes(db, MANY)
    remove_words(db, changes, 5001, TITLE)
    changes.write()
    assert stands(db, ["cache"]) == [set(), set()]
    assert is_rare(db, "cache")


def test_several_words_stand_where_any_of_them_does(db: Connection) -> None:
    common = dict.fromkeys(range(COMMON), BODY)
    hold(db, common | {400: ("rule", "", ""), 401: ("", "", "token rule"), SEGMENT + 2: ("token", "", "")})
    assert stands(db, ["cache", "rule", "token"]) == [{*range(COMMON), 400, 401, SEGMENT + 2}, {400, SEGMENT + 2}]


def test_words_are_read_in_the_order_they_were_asked_for(db: Connection) -> None:
    hold(db, {1: ("", "", "cache"), 2: ("", "", "rule token"), SEGMENT + 3: ("", "", "cache")})
    standing = Standing(db, ["token", "cache", "none", "rule", "cache"])
    asked = [standing.next(count) for count in (1, 1, 1, 2)]
    assert [rows_of(*rows) for rows in asked] == [[2], [1, SEGMENT + 3], [], [1, 2, SEGMENT + 3]]
    assert {word: [*lists] for word, lists in standing.lists.items()} == {
        "token": [0],
        "cache": [0, 1],
        "none": [],
        "rule": [0],
    }


@pytest.mark.parametrize(
    "damage",
    [
        "update bitmap set held = 'text'",
        "update bitmap set held = 7",
        "update bitmap set held = null",
    ],
)
def test_a_bitmap_that_is_none_is_damage(db: Connection, damage: str) -> None:
    hold(db, dict.fromkeys(range(COMMON), BODY))
    db.execute(damage)
    with pytest.raises(DAMAGE):
        stands(db, ["cache"])


def unit(text: str, count: int, *longer: str) -> Unit:
    return Unit(text, (tuple(text.split()),), longer, count + len(longer), count)


def test_the_memories_that_hold_the_most_and_the_rarest_come_first(db: Connection) -> None:
    words = {1: "cache token rule", 2: "cache token", 3: "rule", 4: "cache", 5: "token rule", 6: "nothing"}
    hold(db, {row: ("", "", text) for row, text in words.items()})
    asked = [unit("cache", 3), unit("token", 3), unit("rule", 3)]
    assert Candidates(db, asked, [1.0, 1.0, 1.0], 6).best(1) == ([], [1])
    assert Candidates(db, asked, [1.0, 1.0, 1.0], 6).best(3) == ([1], [2, 5])
    assert Candidates(db, asked, [0.3, 0.3, 1.0], 6).best(3) == ([1, 5], [3])
    assert Candidates(db, asked, [1.0, 1.0, 1.0], 6).best(100)[0] == [1, 2, 3, 4, 5]


def test_a_phrase_may_stand_where_all_its_words_do(db: Connection) -> None:
    hold(db, {1: ("user", "", "id"), 2: ("user", "", ""), SEGMENT: ("", "", "id"), SEGMENT + 1: ("user id", "", "")})
    above, equal = Candidates(db, [unit("user id", 2)], [1.0], 4).best(10)
    assert sorted(above + equal) == [1, SEGMENT + 1]


def test_longer_words_count_half(db: Connection) -> None:
    hold(db, {1: ("", "", "authentication"), 2: ("", "", "auth"), 3: ("", "", "token")})
    asked = [unit("auth", 1, "authentication"), unit("token", 1)]
    assert Candidates(db, asked, [1.0, 1.0], 3).best(2) == ([], [2, 3])
    above, equal = Candidates(db, asked, [1.0, 1.0], 3).best(3)
    assert (above, equal) == ([2, 3], [1])


def test_in_the_title_counts_more(db: Connection) -> None:
    hold(db, dict.fromkeys(range(20), BODY) | {20: TITLE})
    assert Candidates(db, [unit("cache", 21)], [1.0], 21).best(1) == ([], [20])


def test_only_what_is_worth_most_counts_more_in_the_title(db: Connection) -> None:
    words = [f"w{number}" for number in range(STRONG_PARTS + 1)]
    every = " ".join(words)
    hold(db, {1: ("", "", every), 2: (words[0], "", " ".join(words[1:])), 3: (words[-1], "", " ".join(words[:-1]))})
    worth = [2.0] * STRONG_PARTS + [1.0]
    assert Candidates(db, [unit(word, 3) for word in words], worth, 3).best(2) == ([2], [1, 3])


@pytest.mark.parametrize(("memories", "worth"), [(MOST * SEGMENT, 1.0), (40, 0.9 * LEAST_SHARE)])
def test_what_has_no_room_or_is_worth_nothing_counts_only_where_nothing_else_brings_up_enough(
    db: Connection, memories: int, worth: float
) -> None:
    words = [f"w{number}" for number in range(ALWAYS + 1)]
    most, common = " ".join(words[:-1]), words[-1]
    hold(db, {1: ("", "", most), 2: ("", "", f"{most} {common}"), **dict.fromkeys(range(3, 40), ("", "", common))})
    asked = [*(unit(word, 2) for word in words[:-1]), unit(common, 38)]
    candidates = Candidates(db, asked, [1.0] * ALWAYS + [worth], memories)
    assert candidates.best(1) == ([], [1, 2])
    assert candidates.best(30) == ([1, 2], [*range(3, 40)])
    assert candidates.best(1) == ([], [2])


def test_the_lists_of_rare_words_need_not_be_read_again(db: Connection) -> None:
    hold(db, dict.fromkeys(range(COMMON), BODY) | {5: ("", "", "cache rule")})
    found = Candidates(db, [unit("cache", COMMON), unit("rule", 1), unit("none", 1)], [1.0, 1.0, 1.0], COMMON)
    found.best(3)
    assert {word: len(lists) for word, lists in found.lists.items()} == {"rule": 1, "none": 0}


@pytest.mark.parametrize("rows", [[1], [1, 3 * SPARSE], [*range(10)]])
def test_lengths_are_the_same_read_alone_and_together_and_cut_ones_are_damage(db: Connection, rows: list[int]) -> None:
    lengths = [*range(3 * SPARSE)]
    db.execute("insert into length values (0, ?)", (array("H", lengths).tobytes(),))
    if rows[-1] < len(lengths):
        assert lengths_of(db, rows) == {row: lengths[row] for row in rows}
    else:
        with pytest.raises(DAMAGE):
            lengths_of(db, rows)
