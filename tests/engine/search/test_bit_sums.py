"""Sums over all rows at once: the same as adding row by row."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from engine.search.bit_sums import BitSums, highest, rows_of

ROWS = st.sets(st.one_of(st.integers(0, 40), st.sampled_from([63, 64, 65_535])), max_size=20)
ADDED = st.lists(st.tuples(ROWS, st.integers(0, 3)), max_size=30)
"""Rows, and the digit that is added for them."""


def bits(rows: set[int]) -> int:
    return sum(1 << row for row in rows)


def summed(added: list[tuple[set[int], int]]) -> tuple[list[int], Counter[int]]:
    """The digits, and the same added row by row."""
    sums = BitSums()
    wanted: Counter[int] = Counter()
    for rows, digit in added:
        sums.add(bits(rows), digit)
        wanted.update(dict.fromkeys(rows, 2**digit))
    return sums.digits(), wanted


@given(ADDED)
def test_a_row_has_the_sum_of_all_that_was_added_for_it(added: list[tuple[set[int], int]]) -> None:
    digits, wanted = summed(added)
    found: Counter[int] = Counter()
    for digit, rows in enumerate(digits):
        found.update(dict.fromkeys(rows_of(rows), 2**digit))
    assert found == wanted


@given(ADDED, st.integers(1, 50))
def test_the_highest_are_all_above_the_last_that_is_asked_for_and_all_equal_to_it(
    added: list[tuple[set[int], int]], size: int
) -> None:
    digits, wanted = summed(added)
    above, equal = (rows_of(rows) for rows in highest(digits, size))
    ordered = sorted(wanted.values(), reverse=True)
    last = ordered[size - 1] if len(ordered) >= size else 0
    assert above == sorted(row for row, value in wanted.items() if value > last)
    assert equal == sorted(row for row, value in wanted.items() if value == last)


@given(ROWS, st.integers(1, 10))
def test_rows_come_in_order_and_no_more_than_are_wanted(rows: set[int], most: int) -> None:
    every = sorted(rows)
    assert rows_of(bits(rows)) == every
    some = rows_of(bits(rows), most)
    assert some == every[: len(some)]
    assert min(most, len(every)) <= len(some) < most + 8
