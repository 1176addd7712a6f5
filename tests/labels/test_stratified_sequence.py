from __future__ import annotations

import random
from itertools import pairwise, product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labels.measure.intervals import Interval
from labels.measure.sequences import NOTHING_KNOWN, as_array, betting_interval, capitals
from labels.measure.stratified_sequence import (
    MAX_LOOKS,
    least_sums,
    log_capitals,
    looks,
    stratified_interval,
    stratified_intervals,
)
from tests.labels.simulated import Frame, World, disagreements_first

Counts = tuple[int, int]
RICH = 40.0
COUNTS = st.integers(0, 3).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m)))


def mixed(number: int, seed: int) -> list[tuple[str, Counts]]:
    """Prompts of a good and a bad kind in turns."""
    rng = random.Random(seed)
    worlds = {"good": World(0.9), "bad": World(0.3)}
    return [(name, worlds[name].prompt(rng)) for _, name in zip(range(number), ["good", "bad"] * number, strict=False)]


def product_at(judged: list[tuple[str, Counts]], precisions: dict[str, float]) -> float:
    """The greatest product of capitals at any of the looks, by the plain sequence's own gamblers."""
    greatest = 0.0
    for number in looks(len(judged)):
        made = 1.0
        for name, p in precisions.items():
            counts = [each for stratum, each in judged[:number] if stratum == name]
            made *= float(capitals(as_array(counts), 3, p)[-1]) if counts else 1.0
        greatest = max(greatest, made)
    return greatest


def test_one_stratum_is_the_sequence_itself() -> None:
    prompts = World(0.7).prompts(random.Random(5), 40)
    judged = [("all", counts) for counts in prompts]
    assert stratified_interval(judged, {"all": 1.0, "empty": 0.0}, 3) == betting_interval(prompts, 3)


def test_without_prompts_nothing_is_known() -> None:
    assert stratified_interval([], {}, 3) == NOTHING_KNOWN
    assert stratified_interval([], {"good": 0.5, "bad": 0.5}, 3) == NOTHING_KNOWN
    assert stratified_interval([("good", (0, 0))] * 5, {"good": 0.5, "bad": 0.5}, 3) == NOTHING_KNOWN


def test_a_stratum_without_labels_may_be_anything() -> None:
    good = World(0.9).prompts(random.Random(6), 40)
    whole = stratified_interval([("good", counts) for counts in good], {"good": 0.75, "unseen": 0.25}, 3)
    part = betting_interval(good, 3)
    assert whole.low == pytest.approx(0.75 * part.low, abs=0.003)
    assert whole.high == pytest.approx(0.75 * part.high + 0.25, abs=0.003)


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_lower_bound_is_where_the_product_is_rich_whatever_the_parts_are(share: float) -> None:
    judged, shares = mixed(60, 3), {"good": share, "bad": 1 - share}
    low = stratified_interval(judged, shares, 3).low

    def least(precision: float) -> float:
        """The smallest product over a grid of the parts that come to *precision*."""
        parts = [{"good": good, "bad": (precision - share * good) / (1 - share)} for good in np.linspace(0.005, 1, 200)]
        return min(product_at(judged, part) for part in parts if 0 < part["bad"] <= 1)

    assert 0.2 < low < 0.9 * share + 0.3 * (1 - share)
    assert least(low) >= RICH
    assert least(low + 0.01) < RICH


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("abc"), COUNTS), max_size=50))
def test_relevant_and_irrelevant_are_treated_alike(judged: list[tuple[str, Counts]]) -> None:
    shares = {"a": 0.5, "b": 0.3, "c": 0.2}
    found = stratified_interval(judged, shares, 3)
    mirror = stratified_interval([(name, (m - x, m)) for name, (x, m) in judged], shares, 3)
    assert 0 <= found.low <= found.high <= 1
    assert (found.low, found.high) == pytest.approx((1 - mirror.high, 1 - mirror.low))


def test_what_was_ruled_out_at_one_look_stays_ruled_out() -> None:
    found = stratified_intervals(mixed(80, 1), {"good": 0.5, "bad": 0.5}, 3, range(1, 81))
    assert all(one.low <= other.low <= other.high <= one.high for one, other in pairwise(found))


def test_disagreements_first_is_never_wrong_too_often_and_narrower_than_two_sequences() -> None:
    rng = random.Random(20261122)
    wrong, narrower = 0, []
    for _ in range(40):
        counts, strata = Frame(400, 0.35).draw(rng)
        sizes = {name: sum(counts[each][1] for each in counts if strata[each] == name) for name in strata.values()}
        shares = {name: size / sum(sizes.values()) for name, size in sizes.items()}
        judged = [(strata[each], counts[each]) for each in disagreements_first(strata, 150, rng)]
        live = stratified_interval(judged, shares, 3)
        truth = sum(x for x, _ in counts.values()) / sum(m for _, m in counts.values())
        wrong += not live.low <= truth <= live.high
        narrower.append(added_up(judged, shares) - (live.high - live.low))
    assert wrong <= 2
    assert sum(narrower) / 40 > 0.04


def added_up(judged: list[tuple[str, Counts]], shares: dict[str, float]) -> float:
    """How wide a sequence for each of two strata is, at half of alpha."""
    parts = {name: betting_interval([c for each, c in judged if each == name], 3, 0.975) for name in shares}
    return sum(share * (parts[name].high - parts[name].low) for name, share in shares.items())


def test_it_holds_even_where_what_was_found_decides_which_stratum_comes_next() -> None:
    rng = random.Random(9)
    worlds, shares = {"good": World(0.8), "bad": World(0.4)}, {"good": 0.5, "bad": 0.5}
    wrong = 0
    for _ in range(60):
        judged: list[tuple[str, Counts]] = []
        for _ in range(60):
            stays = judged and judged[-1][1][0] == judged[-1][1][1]
            name = judged[-1][0] if stays else rng.choice(["good", "bad"])
            judged.append((name, worlds[name].prompt(rng)))
        live = stratified_interval(judged, shares, 3)
        wrong += not live.low <= 0.6 <= live.high
    assert wrong <= 3


def test_looks_are_few_and_the_last_is_now() -> None:
    assert [list(looks(total)) for total in (0, 1, 3)] == [[0], [1], [1, 2, 3]]
    for total in (40, 41, 150, 10_000):
        assert (looks(total)[-1], len(looks(total)) <= MAX_LOOKS, looks(total)[0] >= 1) == (total, True, True)


def test_prompts_taken_together_come_to_the_same_capital() -> None:
    prompts, p = World(0.6, sizes=(0, 1, 2, 3)).prompts(random.Random(2), 30), np.array([0.1, 0.5, 1.0])
    made = log_capitals(prompts, 3, [0, 7, 30], p)
    for column, one in enumerate(p):
        alone = capitals(as_array(prompts), 3, one)
        assert list(made[:, column]) == pytest.approx([0.0, log(alone[6]), log(alone[29])])


def test_the_least_sums_are_those_of_every_pair() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 4)), rng.normal(size=(2, 3))
    found = least_sums(first, second)
    for row, place in product(range(2), range(6)):
        pairs = [first[row, i] + second[row, place - i] for i in range(4) if 0 <= place - i < 3]
        assert found[row, place] == min(pairs)


def test_more_confidence_is_a_wider_interval() -> None:
    judged, shares = mixed(60, 4), {"good": 0.5, "bad": 0.5}
    sure, surer = stratified_interval(judged, shares, 3, 0.9), stratified_interval(judged, shares, 3, 0.99)
    assert isinstance(sure, Interval)
    assert surer.low < sure.low < sure.high < surer.high
