"""The best of many rows: as many as count, equal ones in an order of their own, however many there are."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.best import best

VALUES = st.dictionaries(st.integers(0, 60), st.sampled_from([1.0, 2.0, 3.0, 4.0]), max_size=40)


def in_order(rows: list[int], _: int) -> list[int]:
    return sorted(rows)


def wanted(values: dict[int, float], size: int, uncounted: set[int]) -> set[int]:
    """By looking at each row: the higher value first, then the lower row."""
    found = set()
    for row in sorted(values, key=lambda row: (-values[row], row)):
        if not size:
            break
        found.add(row)
        size -= row not in uncounted
    return found


@given(VALUES, st.integers(1, 12), st.sets(st.integers(0, 60)))
def test_so_many_as_count_are_found_and_what_stands_among_them(
    values: dict[int, float], size: int, uncounted: set[int]
) -> None:
    found = best(values, size, lambda row: row not in uncounted, in_order)
    assert len(found) == len(set(found))
    assert set(found) == wanted(values, size, uncounted) or _has_no_more(values, found, size, uncounted)


def _has_no_more(values: dict[int, float], found: list[int], size: int, uncounted: set[int]) -> bool:
    """Fewer than *size* count, or what does not count is as good as the last: then it may be among them."""
    least = min(values[row] for row in wanted(values, size, uncounted)) if values else 0.0
    more = set(found) - wanted(values, size, uncounted)
    return wanted(values, size, uncounted) <= set(found) and all(
        row in uncounted and values[row] == least for row in more
    )


@pytest.mark.parametrize("uncounted", [set(), set(range(0, 5000, 2))])
def test_among_thousands_the_same_are_found_as_by_sorting_all(uncounted: set[int]) -> None:
    rng = random.Random(1)
    values = {row: rng.random() for row in range(5000)}
    found = best(values, 30, lambda row: row not in uncounted, in_order)
    assert set(found) == wanted(values, 30, uncounted)


def test_thousands_of_equal_ones_are_cut_by_their_order() -> None:
    values = dict.fromkeys(range(5000), 1.0) | {7000: 2.0}
    assert best(values, 3, lambda _: True, in_order) == [7000, 0, 1]
