import random
from itertools import pairwise
from math import pi, sqrt

import numpy as np
import pytest

from labels.measure.gate import AHEAD, FAIL, PASS, UNDECIDED, Gate, decide
from labels.measure.intervals import (
    ANYTIME,
    LAST_BOUND,
    LOOKS,
    ONCE,
    PLANNED,
    RESERVED,
    Interval,
    betting_intervals,
    deciding_interval,
    headline_interval,
)
from labels.measure.metrics import Sample
from tests.labels.samples import Counts, World, known


def gate(least: float, low: float | None = None, high: float | None = None, looks: str = PLANNED) -> Gate:
    return Gate(least, Interval(least if low is None else low, least if high is None else high), looks)


def sample(prompts: list[Counts], unjudged: int = 0) -> Sample:
    judged = {f"p{number}": counts for number, counts in enumerate(prompts)}
    return Sample(judged, len(prompts) + unjudged, most=3)


def test_for_any_look_the_verdict_follows_the_confidence_sequence() -> None:
    prompts = World(0.7).prompts(random.Random(2), 60)
    found = decide(sample(prompts), gate(0.7, looks=ANYTIME))
    assert [found.live] == betting_intervals(prompts, 3, [60])
    single, interval = known(headline_interval(prompts)), known(found.estimate).interval
    assert (interval.low, interval.high) == pytest.approx((single.low, single.high))
    between = (found.live.low + single.low) / 2
    assert (
        decide(sample(prompts), gate(between, looks=ANYTIME)).verdict == UNDECIDED
    )  # a single look would have passed it
    assert decide(sample(prompts), gate(found.live.low, looks=ANYTIME)).verdict == PASS


def test_in_the_indifference_zone_either_answer_comes_sooner_and_an_interval_inside_it_passes() -> None:
    prompts = World(0.75).prompts(random.Random(3), 120)
    live = deciding_interval(prompts, 3)
    middle = (live.low + live.high) / 2
    assert decide(sample(prompts), gate(middle)).verdict == UNDECIDED
    above = decide(sample(prompts), gate(middle, live.low, middle + 0.01))
    below = decide(sample(prompts), gate(middle, middle - 0.01, live.high + 0.001))
    assert (above.verdict, above.either) == (PASS, False)
    assert (below.verdict, below.either) == (FAIL, False)
    for least in (0.5, 0.95):
        found = decide(sample(prompts), gate(least, 0.4, 0.99))
        assert (found.verdict, found.either) == (PASS, True)


def test_the_number_of_further_prompts_is_estimated() -> None:
    prompts = World(0.9).prompts(random.Random(5), 30)
    found = decide(sample(prompts, unjudged=400), gate(0.8))
    assert found.verdict == UNDECIDED
    assert known(found.more) > AHEAD[0]
    assert decide(sample(prompts * 40), gate(0.8)).verdict == PASS
    again = [*prompts, *(prompts * 40)[: found.more]]
    assert decide(sample(again), gate(0.8)).verdict == PASS
    sooner = AHEAD[AHEAD.index(found.more) - 1]
    assert decide(sample(again[: 30 + sooner]), gate(0.8)).verdict == UNDECIDED
    assert found.left == 400


@pytest.mark.parametrize(
    ("precision", "number", "least"), [(0.9, 8, 0.8), (0.8, 60, 0.8)], ids=["too few prompts", "too near the gate"]
)
def test_no_number_of_further_prompts_is_guessed(precision: float, number: int, least: float) -> None:
    world = World(precision)
    guesses = [decide(sample(world.prompts(random.Random(seed), number)), gate(least)) for seed in range(20)]
    assert sum(guess.verdict == UNDECIDED and guess.more is None for guess in guesses) >= 12


# Planned looks

MIXED = (1,) * 54 + (2,) * 14 + (3,) * 32
"""The numbers of memories that real hooks inject for a prompt."""


def crossing(bound: float) -> float:
    """The probability that Brownian motion is beyond +-*bound* at one of the looks; the last one is at time 1."""
    times = [look / LOOKS[-1] for look in LOOKS]
    places, step = np.linspace(-bound, bound, 801, retstep=True)
    weights = np.full(801, step)
    weights[[0, -1]] /= 2
    density = np.exp(-(places**2) / (2 * times[0])) / sqrt(2 * pi * times[0])
    for before, after in pairwise(times):
        apart = places[:, None] - places
        moved = np.exp(-(apart**2) / (2 * (after - before))) / sqrt(2 * pi * (after - before))
        density = moved @ (density * weights)
    return float(1 - (density * weights).sum())


def test_the_bounds_of_the_planned_looks_spend_the_error_that_is_not_reserved() -> None:
    assert crossing(LAST_BOUND) == pytest.approx(0.05 - RESERVED, abs=1e-5)


def test_the_first_prompts_count_at_the_largest_look_that_is_reached() -> None:
    prompts = World(0.7).prompts(random.Random(2), 120)
    for number, counted, look in (
        (19, 19, 20),
        (20, 20, 45),
        (44, 20, 45),
        (45, 45, 70),
        (99, 70, 100),
        (120, 120, None),
    ):
        found = decide(sample(prompts[:number]), gate(0.9))
        assert (known(found.estimate).prompts, found.waiting, found.look) == (counted, number - counted, look)
        assert found.to_go == (look - number if look else 0)
        same = decide(sample(prompts[:counted]), gate(0.9))
        assert (found.verdict, found.live, found.relevant) == (same.verdict, same.live, same.relevant)
    assert decide(sample(prompts[:19]), gate(0.001)).verdict == UNDECIDED, "nothing is known before the first look"


def test_after_the_last_look_the_interval_only_narrows() -> None:
    prompts = World(0.7).prompts(random.Random(2), 400)
    last, *later = (deciding_interval(prompts[:number], 3) for number in (100, 101, 200, 400))
    for before, after in pairwise([last, *later]):
        assert before.low <= after.low <= after.high <= before.high
    (reserved,) = betting_intervals(prompts, 3, [400], 1 - RESERVED)
    assert later[-1] == Interval(max(last.low, reserved.low), min(last.high, reserved.high)) != last


def shares(truth: float, least: float, runs: int, looks: str = PLANNED) -> tuple[float, float]:
    """The shares of *runs* that ever pass a gate of *least*, and that ever fail it, by the last planned look."""
    rng, world = random.Random(1), World(truth, 0.15, MIXED)
    passed = failed = 0
    for _ in range(runs):
        prompts = world.prompts(rng, LOOKS[-1])
        seen = [deciding_interval(prompts[:look], 3, looks) for look in (LOOKS if looks != ANYTIME else LOOKS[-1:])]
        passed += any(interval.low >= least for interval in seen)
        failed += any(interval.high < least for interval in seen)
    return passed / runs, failed / runs


@pytest.mark.slow
def test_planned_looks_are_rarely_wrong_and_one_look_repeated_is_often() -> None:
    for precision in (0.6, 0.8):
        assert sum(shares(precision, precision, 1500)) <= 0.05
        assert sum(shares(precision, precision, 500, ONCE)) > 0.1


@pytest.mark.slow
def test_planned_looks_pass_in_two_thirds_of_the_runs_where_any_look_passes_in_two_fifths() -> None:
    for least, truth, fewest in ((0.6, 0.7, 0.64), (0.8, 0.9, 0.83)):
        passed, failed = shares(truth, least, 600)
        assert (passed > fewest, failed) == (True, 0.0)
        assert shares(truth, least, 100, ANYTIME)[0] < 0.7 * passed
