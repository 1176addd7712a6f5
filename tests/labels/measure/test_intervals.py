"""Intervals for one look, and for any look."""

from __future__ import annotations

import random
from math import log

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from labels.measure.intervals import (
    NOTHING_KNOWN,
    Interval,
    betting_intervals,
    design_effect,
    effective_size,
    headline_interval,
    wilson,
)
from tests.labels.samples import World, known

UNEVEN = [(3, 3), (0, 3), (2, 2), (1, 3), (0, 0), (1, 1), (3, 3), (0, 2), (2, 3)]


def close(interval: Interval | None, low: float, high: float) -> bool:
    return interval is not None and (interval.low, interval.high) == pytest.approx((low, high), abs=1e-6)


def test_wilson_equals_that_of_statsmodels_also_for_a_size_that_is_not_whole() -> None:
    for successes, n in [(41, 50), (0, 10), (10, 10), (1, 1), (0, 1), (112, 243)]:
        for confidence in [0.8, 0.95, 0.99]:
            oracle = proportion_confint(successes, n, alpha=1 - confidence, method="wilson")
            assert close(wilson(successes, n, confidence), *oracle), (successes, confidence)
    oracle = proportion_confint(20.5, 25.0, method="wilson")
    assert close(wilson(20.5, 25.0), *oracle)
    assert wilson(0, 0) is None


@given(st.integers(0, 60), st.integers(1, 60))
def test_wilson_holds_the_estimate_and_stays_a_proportion(successes: int, more: int) -> None:
    n = successes + more
    interval = known(wilson(successes, n))
    assert 0 <= interval.low <= successes / n <= interval.high <= 1


def test_the_cluster_variance_is_that_of_a_regression_with_clustered_errors() -> None:
    values, prompts = [], []
    for number, (relevant, judged) in enumerate(UNEVEN):
        values += [1.0] * relevant + [0.0] * (judged - relevant)
        prompts += [number] * judged
    fit = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": prompts})
    effect = known(design_effect([counts for counts in UNEVEN if counts[1]]))
    assert (effect * 0.6 * 0.4 / 20) ** 0.5 == pytest.approx(float(fit.bse[0]), abs=1e-6)


def test_the_design_effect_is_1_for_single_memories_their_number_for_identical_ones_and_narrows_nothing() -> None:
    alone = [(1, 1)] * 30 + [(0, 1)] * 20
    identical = [(3, 3)] * 30 + [(0, 3)] * 20
    assert design_effect(alone) == pytest.approx(50 / 49)
    assert design_effect(identical) == pytest.approx(3 * 50 / 49)
    even = [(1, 2)] * 20
    assert design_effect(even) == 0
    assert effective_size(even) == 40
    assert headline_interval(even) == wilson(20, 40)


def test_two_extreme_prompts_lower_the_effective_size_where_few_are_judged() -> None:
    one_bad = [(3, 3)] * 19 + [(2, 3)]
    shown, feared = known(design_effect(one_bad)), known(design_effect([*one_bad, (3, 3), (0, 3)]))
    assert shown < 1.1 < 2 < feared
    assert effective_size(one_bad) == pytest.approx(60 / feared)
    assert headline_interval([*one_bad, (0, 0)]) == headline_interval(one_bad)


def test_the_headline_interval_is_wilsons_with_the_effective_size() -> None:
    identical = [(3, 3)] * 30 + [(0, 3)] * 20
    n = 150 / (3 * 50 / 49)
    assert effective_size(identical) == pytest.approx(n)
    assert close(headline_interval(identical), *proportion_confint(0.6 * n, n, method="wilson"))


def test_all_or_none_relevant_and_a_single_prompt_count_about_one_memory_for_each_prompt() -> None:
    for relevant in (3, 0):
        assert design_effect([(relevant, 3)] * 10) is None
        assert 9 < effective_size([(relevant, 3)] * 10) < 10
        assert 48 < effective_size([(relevant, 3)] * 50) < 50
    assert design_effect([(2, 3)]) is None
    assert 0.9 < effective_size([(2, 3)]) < 1
    interval = known(headline_interval([(2, 3)]))
    assert interval.high - interval.low > 0.75


def test_nothing_judged_has_no_interval() -> None:
    assert headline_interval([]) is None
    assert headline_interval([(0, 0)]) is None
    assert design_effect([]) is None


@pytest.mark.parametrize(("number", "precision"), [(20, 0.9), (45, 0.6)])
def test_the_headline_interval_covers_clustered_prompts_where_the_plain_one_does_not(
    number: int, precision: float
) -> None:
    rng = random.Random(20250601)
    covered = plain = 0
    for _ in range(600):
        prompts = World(precision).prompts(rng, number)
        headline, naive = known(headline_interval(prompts)), known(wilson(sum(x for x, _ in prompts), 3 * number))
        covered += headline.low <= precision <= headline.high
        plain += naive.low <= precision <= naive.high
    assert covered >= 0.94 * 600
    assert plain <= 0.88 * 600


# Any look


PROMPT = st.integers(0, 3).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m)))
COUNTS = st.lists(PROMPT, max_size=40)
THRESHOLD = 40.0


def betting_interval(per_prompt: list[tuple[int, int]], most: float, confidence: float = 0.95) -> Interval:
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
    prompts = [*[(3, 3)] * 300, *[(0, 3)] * 900, *[(3, 3)] * 300]
    first, last = betting_intervals(prompts, 3, [300, 1500])
    assert (first, last) == (betting_interval(prompts[:300], 3), betting_interval(prompts, 3))


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
    found, other = betting_interval(prompts, 3), betting_interval([(m - x, m) for x, m in prompts], 3)
    assert -1e-6 <= found.low - max(rejected, default=0.0) <= 1 / 1001
    assert (other.low, other.high) == pytest.approx((1 - found.high, 1 - found.low), abs=2e-6)
