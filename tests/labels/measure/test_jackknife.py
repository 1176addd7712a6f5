import random
from collections import Counter
from math import sqrt
from statistics import mean, stdev

import pytest
from scipy import stats

from labels.measure.intervals import Drawn, Interval, jackknife_interval, student_quantile


def test_students_quantile_is_scipys() -> None:
    for freedom in [*range(1, 60), 99, 100, 1000, 9999]:
        for confidence in (0.5, 0.95, 0.99):
            oracle = stats.t.ppf((1 + confidence) / 2, freedom)
            assert student_quantile(freedom, confidence) == pytest.approx(oracle, rel=1e-9), freedom


def drawn(numbers: list[float], weight: float = 1.0) -> Drawn:
    return Drawn(Counter((number, 1.0) for number in numbers), weight)


def average(sums: object) -> float:
    total, number = sums  # type: ignore[misc]
    return float(total / number)


def test_the_interval_of_a_mean_is_students() -> None:
    numbers = random.Random(1).choices([0.0, 1.0, 2.0, 5.0], k=30)
    oracle = stats.t(29, mean(numbers), stdev(numbers) / sqrt(30)).interval(0.95)
    found = jackknife_interval([drawn(numbers)], average)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(oracle, abs=1e-9)


def test_the_variance_of_a_weighted_mean_adds_up_over_strata() -> None:
    rng = random.Random(2)
    some, others = rng.choices([0.0, 1.0, 3.0], k=12), rng.choices([2.0, 4.0], k=9)
    found = jackknife_interval([drawn(some, 5.0), drawn(others, 20.0)], average)
    shares = 60 / 240, 180 / 240
    error = sqrt((shares[0] * stdev(some)) ** 2 / 12 + (shares[1] * stdev(others)) ** 2 / 9)
    assert found is not None
    assert (found.high - found.low) / 2 == pytest.approx(stats.t.ppf(0.975, 19) * error)
    assert (found.high + found.low) / 2 == pytest.approx(shares[0] * mean(some) + shares[1] * mean(others))


def test_nothing_is_said_of_a_stratum_with_a_single_prompt() -> None:
    assert jackknife_interval([drawn([1.0, 2.0]), drawn([1.0])], average) is None


def test_nothing_is_said_where_one_prompt_carries_the_number() -> None:
    assert jackknife_interval([drawn([0.0, 0.0, 3.0])], lambda sums: sums[0] or None) is None


def test_an_interval_stays_within_what_is_possible() -> None:
    found = jackknife_interval([drawn([0.0, 1.0, 1.0])], average, Interval(0, 1))
    assert found is not None
    assert (found.low, found.high) == (0, 1)
