from __future__ import annotations

from dataclasses import replace

import pytest

from labels.measure.estimates import estimate, live_interval
from labels.measure.gate.decision import Sample
from labels.measure.intervals import headline_interval
from labels.measure.metrics import Ratio, Tally
from labels.measure.sequences import betting_interval
from labels.measure.stratified import stratified_estimate
from labels.measure.weights import Weights, prompt_weights

TALLIES = [Tally(f"p{number}", 3, 3, number % 4) for number in range(12)]
STRATA = {f"p{number}": "differ" if number < 6 else "same" for number in range(12)} | {
    f"q{number}": "same" for number in range(20)
}
WEIGHTS = Weights(STRATA, prompt_weights(STRATA, {each.prompt_id for each in TALLIES}))


def test_a_random_draw_has_the_headline_interval() -> None:
    found = estimate(TALLIES)
    assert found.ratio == Ratio(18, 36)
    assert found.interval == headline_interval([(each.relevant, each.judged) for each in TALLIES])


def test_prompts_labelled_by_strata_give_the_stratified_estimate() -> None:
    found = estimate(TALLIES, WEIGHTS)
    oracle = stratified_estimate({each.prompt_id: (each.relevant, each.judged) for each in TALLIES}, STRATA)
    assert oracle is not None
    assert found.ratio.value == pytest.approx(oracle.value)
    assert found.interval == oracle.interval


def test_a_part_of_what_is_injected_is_estimated_over_the_same_strata() -> None:
    """What only some prompts have is a domain: the others add nothing, but they were looked at."""
    found = estimate(TALLIES[:8], WEIGHTS)
    judged = {each.prompt_id: (each.relevant, each.judged) if each in TALLIES[:8] else (0, 0) for each in TALLIES}
    oracle = stratified_estimate(judged, STRATA)
    assert oracle is not None
    assert found.ratio.value == pytest.approx(oracle.value)
    assert found.interval is not None
    assert vars(found.interval) == pytest.approx(vars(oracle.interval))


def test_the_live_interval_takes_the_prompts_as_they_were_labelled() -> None:
    sample = Sample(judged={"p3": (3, 3), "p1": (1, 3), "p2": (2, 3)}, injected={"p1": 3, "p2": 3, "p3": 3, "p4": 1})
    found = live_interval(sample)
    assert found is not None
    assert vars(found) == pytest.approx(vars(betting_interval([(3, 3), (1, 3), (2, 3)], 3)))
    assert live_interval(replace(sample, judged={})) is None
