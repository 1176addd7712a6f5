import random
from collections import Counter
from math import sqrt

import pytest

from labels.measure.intervals import Drawn, headline_interval, variance
from labels.measure.strata import StratifiedEstimate, stratified_estimate
from tests.labels.simulated import Population, World, disagreements_first


def estimate(judged: dict[str, tuple[int, int]], strata: dict[str, str]) -> StratifiedEstimate:
    made = stratified_estimate(judged, strata)
    assert made is not None
    return made


def test_one_stratum_gives_the_headline_interval() -> None:
    prompts = World(0.7, sizes=(1, 2, 3)).prompts(random.Random(1), 40)
    judged = {str(number): counts for number, counts in enumerate(prompts)}
    made = estimate(judged, dict.fromkeys([*judged, "unlabelled"], "all"))
    interval = headline_interval(prompts)
    assert interval is not None
    assert made.value == pytest.approx(sum(x for x, _ in prompts) / sum(m for _, m in prompts))
    assert (made.interval.low, made.interval.high) == pytest.approx((interval.low, interval.high))
    assert (made.prompts, made.uncovered) == (40, 0)


def test_each_prompt_counts_with_its_weight() -> None:
    strata = {f"d{n}": "differ" for n in range(10)} | {f"a{n}": "agree" for n in range(30)}
    judged = {"d0": (0, 2), "d1": (1, 2), "a0": (3, 3)}
    # 10/2 * 1 + 30/1 * 3 relevant of 10/2 * 4 + 30/1 * 3
    assert estimate(judged, strata).value == pytest.approx(95 / 110)


def test_the_variance_has_the_textbooks_two_parts() -> None:
    differ, agree = Counter({(0, 2): 1, (2, 2): 1, (1, 2): 1}), Counter({(2, 2): 1, (1, 2): 1})
    p = (0.4 * 1 + 0.6 * 1.5) / 2
    within = (0.4**2 * 1 / 3 + 0.6**2 * 0.5 / 2) / 4
    between = (0.4 * (1 - 2 * p) ** 2 + 0.6 * (1.5 - 2 * p) ** 2) / 100 / 4
    assert variance([Drawn(differ, 40 / 3), Drawn(agree, 60 / 2)], p, 100) == pytest.approx(within + between)


def test_the_share_of_strata_without_labels_is_known() -> None:
    strata = {"d0": "differ", "a0": "agree", "a1": "agree", "a2": "agree"}
    assert estimate({"d0": (1, 2)}, strata).uncovered == pytest.approx(0.75)


def test_prompts_outside_the_frame_do_not_count() -> None:
    assert estimate({"p0": (1, 2), "gone": (2, 2)}, {"p0": "all"}).value == 0.5
    assert stratified_estimate({"gone": (2, 2)}, {"p0": "all"}) is None
    assert stratified_estimate({"p0": (0, 0)}, {"p0": "all"}) is None
    assert stratified_estimate({}, {}) is None


@pytest.mark.parametrize("share", [0.35, 0.7])
def test_disagreements_first_is_unbiased_and_no_worse_than_chance(share: float) -> None:
    rng = random.Random(20261122)
    weighted, plain, chance, covered = [], [], [], 0
    frame = Population(400, share=share)
    truth = share * 0.5 + (1 - share) * 0.85
    for _ in range(300):
        counts, strata = frame.draw(rng)
        whole = ratio(counts, list(counts))
        chosen = disagreements_first(strata, 150, rng)
        made = estimate({name: counts[name] for name in chosen}, strata)
        weighted.append(made.value - whole)
        plain.append(ratio(counts, list(chosen)) - whole)
        chance.append(ratio(counts, rng.sample(list(counts), 150)) - whole)
        covered += made.interval.low <= truth <= made.interval.high
    assert abs(sum(weighted) / 300) < 0.005
    assert sum(plain) / 300 < -0.015
    assert rmse(weighted) <= rmse(chance)
    assert covered >= 0.94 * 300


def ratio(counts: dict[str, tuple[int, int]], names: list[str]) -> float:
    return sum(counts[name][0] for name in names) / sum(counts[name][1] for name in names)


def rmse(errors: list[float]) -> float:
    return sqrt(sum(error**2 for error in errors) / len(errors))
