"""Sums over all rows at once: the same as adding row by row."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from engine.search.bit_sums import BitSums, highest, rows_of
from engine.search.postings import SEGMENT

ROWS = st.sets(st.one_of(st.integers(0, 40), st.sampled_from([63, 64, SEGMENT - 1])), max_size=20)
ADDED = st.lists(st.tuples(st.sampled_from([0, 1, 3]), ROWS, st.integers(0, 3)), max_size=30)
"""Segment, rows of it, and the digit that is added for them."""


def bits(rows: set[int]) -> int:
    return sum(1 << row for row in rows)


def summed(added: list[tuple[int, set[int], int]]) -> tuple[dict[int, list[int]], Counter[int]]:
    """The digits by segment, and the same added row by row."""
    sums: dict[int, BitSums] = {}
    wanted: Counter[int] = Counter()
    for segment, rows, digit in added:
        sums.setdefault(segment, BitSums()).add(bits(rows), digit)
        wanted.update(dict.fromkeys((segment * SEGMENT + row for row in rows), 2**digit))
    return {segment: one.digits() for segment, one in sums.items()}, wanted


@given(ADDED)
def test_a_row_has_the_sum_of_all_that_was_added_for_it(added: list[tuple[int, set[int], int]]) -> None:
    digits, wanted = summed(added)
    found: Counter[int] = Counter()
    for segment, sets in digits.items():
        for digit, rows in enumerate(sets):
            found.update(dict.fromkeys(rows_of({segment: rows}), 2**digit))
    assert found == wanted


@given(ADDED, st.integers(1, 50))
def test_the_highest_are_all_above_the_last_that_is_asked_for_and_all_equal_to_it(
    added: list[tuple[int, set[int], int]], size: int
) -> None:
    digits, wanted = summed(added)
    above, equal = (rows_of(sets) for sets in highest(digits, size))
    ordered = sorted(wanted.values(), reverse=True)
    last = ordered[size - 1] if len(ordered) >= size else 0
    assert sorted(above) == sorted(row for row, value in wanted.items() if value > last)
    assert sorted(equal) == sorted(row for row, value in wanted.items() if value == last)


@given(st.dictionaries(st.integers(0, 3), ROWS), st.integers(1, 10))
def test_rows_come_in_order_and_no_more_than_are_wanted(rows: dict[int, set[int]], most: int) -> None:
    sets = {segment: bits(some) for segment, some in rows.items()}
    every = [segment * SEGMENT + row for segment, some in rows.items() for row in sorted(some)]
    assert rows_of(sets) == every
    some = rows_of(sets, most)
    assert some == every[: len(some)]
    assert min(most, len(every)) <= len(some) < most + 8
