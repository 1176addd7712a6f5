import random

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, precision_recall_curve

from labels.measure.curves import MAX_LOOKS, MAX_POINTS, PROBABILITY, STRENGTH, Coverage, coverage, history, reliability
from labels.measure.intervals import ANYTIME
from labels.measure.metrics import Sample, headline
from tests.labels.samples import Found, known, outcome


def scored(prompts: int, *, probabilities: bool = False):  # type: ignore[no-untyped-def]
    """One memory for each prompt, relevant with a probability that is its strength; with the judgements."""
    made = random.Random(7)
    rows, people = [], {}
    for number in range(prompts):
        chance = made.random()
        found = Found(-chance, "high", 1, chance if probabilities else None)
        rows.append(outcome(["m"], prompt_id=f"p{number}", found=(found,)))
        people[f"p{number}"] = {"m": made.random() < chance}
    return rows, people


@pytest.mark.parametrize(("probabilities", "by"), [(False, STRENGTH), (True, PROBABILITY)])
def test_the_curve_equals_that_of_scikit_learn(probabilities: bool, by: str) -> None:
    rows, people = scored(50, probabilities=probabilities)
    found = known(coverage(rows, people))
    assert found.by == by
    truth = [people[row.prompt_id]["m"] for row in rows]
    precision, recall, least = precision_recall_curve(truth, [-(row.scores[0] or 0.0) for row in rows])
    expected = list(zip(least, precision[:-1], recall[:-1], strict=True))[::-1]
    assert len(found.points) == 50 - 4
    for point, (strength, exact, of_all) in zip(found.points, expected[4:], strict=True):
        assert (point.least, point.precision, point.recall) == pytest.approx((strength, exact, of_all), abs=1e-9)
        assert point.fires == point.judged / 50


def test_the_last_point_of_the_curve_is_the_whole_system_and_unlabelled_memories_count_only_for_the_fire_rate() -> None:
    rows, people = scored(400)
    found = known(coverage(rows, people))
    assert len(found.points) <= MAX_POINTS
    relevant = sum(judged["m"] for judged in people.values())
    assert found.points[-1][1:] == (relevant / 400, 1.0, 1.0, 400)
    rows, people = scored(20)
    some = {name: judged for name, judged in people.items() if name not in ("p3", "p4")}
    found = coverage(rows, some)
    assert isinstance(found, Coverage)
    assert (found.points[-1].fires, found.points[-1].judged) == (1.0, 18)


def test_without_scores_probabilities_or_labels_there_is_no_curve() -> None:
    assert coverage([outcome(["m"], prompt_id=f"p{number}") for number in range(9)], {}) is None
    assert reliability(*scored(5)) is None
    assert history(Sample({}, 1)) == ()


def test_reliability_equals_that_of_scikit_learn() -> None:
    rows, people = scored(500, probabilities=True)
    found = known(reliability(rows, people))
    truth = [people[row.prompt_id]["m"] for row in rows]
    said = [row.probabilities["m"] for row in rows]
    shares, means = calibration_curve(truth, said, n_bins=10)
    assert found.brier == pytest.approx(brier_score_loss(truth, said), abs=1e-9)
    assert np.array([each.found for each in found.bins]) == pytest.approx(shares, abs=1e-9)
    assert np.array([each.said for each in found.bins]) == pytest.approx(means, abs=1e-9)
    assert sum(each.memories for each in found.bins) == found.memories == 500


@pytest.mark.parametrize("prompts", [1, 39, 40, 41, 300])
def test_the_history_ends_with_the_present_interval(prompts: int) -> None:
    judged = {f"p{number}": (int(number % 3 > 0), 1) for number in range(prompts)}
    sample = Sample(judged, prompts)
    moments = history(sample)
    assert 0 < len(moments) <= MAX_LOOKS
    assert moments[-1].prompts == prompts
    assert moments[-1].live == headline(sample, ANYTIME).live
    assert moments[-1].precision == pytest.approx(sum(x for x, _ in judged.values()) / prompts)
    widths = [each.live.high - each.live.low for each in moments]
    assert widths == sorted(widths, reverse=True)
