import random

import pytest

from labels.measure.evidence import Sample
from labels.measure.gate import AHEAD, FAIL, PASS, UNDECIDED, Gate, decide
from labels.measure.intervals import Interval, betting_intervals, headline_interval
from tests.labels.simulated import Counts, World


def gate(least: float, low: float | None = None, high: float | None = None) -> Gate:
    return Gate(least, Interval(least if low is None else low, least if high is None else high))


def sample(prompts: list[Counts], unjudged: int = 0) -> Sample:
    judged = {f"p{number}": counts for number, counts in enumerate(prompts)}
    return Sample(judged, len(prompts) + unjudged, most=3)


def test_the_verdict_follows_the_live_interval_not_that_of_a_single_look() -> None:
    prompts = World(0.7).prompts(random.Random(2), 60)
    found = decide(sample(prompts), gate(0.7))
    assert [found.live] == betting_intervals(prompts, 3, [60])
    assert found.estimate is not None
    single = headline_interval(prompts)
    assert single is not None
    assert (found.estimate.interval.low, found.estimate.interval.high) == pytest.approx((single.low, single.high))
    between = (found.live.low + single.low) / 2
    assert decide(sample(prompts), gate(between)).verdict == UNDECIDED  # a single look would have passed it
    assert decide(sample(prompts), gate(found.live.low)).verdict == PASS


def test_in_the_indifference_zone_either_answer_comes_sooner() -> None:
    prompts = World(0.75).prompts(random.Random(3), 120)
    (live,) = betting_intervals(prompts, 3, [120])
    middle = (live.low + live.high) / 2
    assert decide(sample(prompts), gate(middle)).verdict == UNDECIDED
    above = decide(sample(prompts), gate(middle, live.low, middle + 0.01))
    below = decide(sample(prompts), gate(middle, middle - 0.01, live.high + 0.001))
    assert (above.verdict, above.either) == (PASS, False)
    assert (below.verdict, below.either) == (FAIL, False)


def test_an_interval_inside_the_zone_passes() -> None:
    prompts = World(0.75).prompts(random.Random(3), 120)
    for least in (0.5, 0.95):
        found = decide(sample(prompts), gate(least, 0.4, 0.99))
        assert (found.verdict, found.either) == (PASS, True)


def test_the_number_of_further_prompts_is_estimated() -> None:
    prompts = World(0.9).prompts(random.Random(5), 30)
    found = decide(sample(prompts, unjudged=400), gate(0.8))
    assert found.verdict == UNDECIDED
    assert found.more is not None
    assert found.more > AHEAD[0]
    assert decide(sample(prompts * 40), gate(0.8)).verdict == PASS
    again = [*prompts, *(prompts * 40)[: found.more]]
    assert decide(sample(again), gate(0.8)).verdict == PASS
    sooner = AHEAD[AHEAD.index(found.more) - 1]
    assert decide(sample(again[: 30 + sooner]), gate(0.8)).verdict == UNDECIDED
    assert found.left == 400


@pytest.mark.parametrize(
    ("precision", "number", "least"),
    [(0.9, 8, 0.8), (0.8, 60, 0.8)],
    ids=["too few prompts", "too near the gate"],
)
def test_no_number_of_further_prompts_is_guessed(precision: float, number: int, least: float) -> None:
    world = World(precision)
    guesses = [decide(sample(world.prompts(random.Random(seed), number)), gate(least)) for seed in range(20)]
    assert sum(guess.verdict == UNDECIDED and guess.more is None for guess in guesses) >= 12


@pytest.mark.slow
def test_a_pass_is_rarely_wrong_however_often_a_person_asks() -> None:
    rng = random.Random(7)
    passed = 0
    for _ in range(100):
        prompts = World(0.78).prompts(rng, 100)
        passed += any(decide(sample(prompts[:moment]), gate(0.8)).verdict == PASS for moment in (10, 20, 40, 70, 100))
    assert passed <= 2
