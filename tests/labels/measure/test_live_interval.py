from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labels.measure.intervals import (
    NOTHING_KNOWN,
    Interval,
    betting_intervals,
)
from tests.benchmarks.other_sequences import mirrored

if TYPE_CHECKING:
    from labels.measure.intervals import PerPrompt

PROMPT = st.integers(0, 3).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m)))
COUNTS = st.lists(PROMPT, max_size=40)
THRESHOLD = 40.0


def betting_interval(per_prompt: PerPrompt, most: float, confidence: float = 0.95) -> Interval:
    """The interval after all prompts."""
    return betting_intervals(per_prompt, most, [len(per_prompt)], confidence)[0]


def test_without_prompts_nothing_is_known() -> None:
    assert betting_interval([], 3) == NOTHING_KNOWN
    assert betting_interval([(0, 0), (0, 0)], 3) == NOTHING_KNOWN


@given(COUNTS, st.sets(st.integers(0, 40)))
def test_the_interval_at_a_moment_is_that_of_the_prompts_until_then(
    prompts: list[tuple[int, int]], at: set[int]
) -> None:
    moments = sorted(number for number in at if number <= len(prompts))
    found = betting_intervals(prompts, 3, moments)
    alone = [betting_interval(prompts[:number], 3) for number in moments]
    assert [each.low for each in found] == pytest.approx([each.low for each in alone], abs=1e-6)
    assert [each.high for each in found] == pytest.approx([each.high for each in alone], abs=1e-6)


def test_a_capital_may_overflow_or_vanish() -> None:
    prompts = [*[(3, 3)] * 800, *[(0, 3)] * 2400, *[(3, 3)] * 800]
    first, last = betting_intervals(prompts, 3, [800, 4000])
    assert (first, last) == (betting_interval(prompts[:800], 3), betting_interval(prompts, 3))


@given(COUNTS)
def test_the_interval_only_narrows_and_stays_a_proportion(prompts: list[tuple[int, int]]) -> None:
    shorter, longer = betting_interval(prompts[:-1], 3), betting_interval(prompts, 3)
    assert 0 <= longer.low <= longer.high <= 1
    # unless it has run empty, what was ruled out stays ruled out
    assert longer.low >= shorter.low or longer.high <= shorter.low + 1e-5 or longer.low == shorter.high


def stacked(counts: list[tuple[int, int]], precisions: np.ndarray) -> np.ndarray:
    """The logarithm of the mean capital of the five stakes for each precision."""
    capital = np.ones((5, len(precisions)))
    for x, m in counts:
        capital *= 1 + np.outer((0.1, 0.3, 0.5, 0.7, 0.9), (x - precisions * m) / (precisions * 3))
    made: np.ndarray = np.log(capital.mean(axis=0))
    return made


@settings(max_examples=25)
@given(COUNTS)
def test_the_bound_is_that_of_capitals_as_arrays(prompts: list[tuple[int, int]]) -> None:
    precisions = np.arange(1, 1001) / 1001
    ever = np.maximum.reduce([stacked(prompts[:number], precisions) for number in range(len(prompts) + 1)])
    rejected = precisions[ever >= log(THRESHOLD)]
    found, other = betting_interval(prompts, 3), betting_interval(mirrored(prompts), 3)
    assert -1e-6 <= found.low - max(rejected, default=0.0) <= 1 / 1001
    assert (other.low, other.high) == pytest.approx((1 - found.high, 1 - found.low), abs=2e-6)
