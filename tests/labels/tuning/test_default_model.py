"""The default model: fitted to the example projects, and as precise as it was measured."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import pytest

from engine import default_model
from engine.config import DEFAULT, FTS5_BM25, Config
from engine.cutoff import DIRECTIONS, default_cutoff
from labels.tuning.curve import point
from labels.tuning.fitting import FeatureWeights, fit, labelled, prior_of
from tests.benchmarks.cutoff import CONFIDENCE, MOST, held_out
from tests.benchmarks.default_model import LEARNED, fitted, with_and_without_turns
from tests.benchmarks.example_projects import example_projects
from tests.benchmarks.locomo import judged
from tests.benchmarks.pastes import LENGTHS, of_projects, pastes, recall, with_paste
from tests.labels.tuning.judged import world

if TYPE_CHECKING:
    from pathlib import Path

    from labels.tuning.curve import ThresholdPoint
    from labels.tuning.examples import JudgedPrompt

MODEL = FeatureWeights(default_model.INTERCEPT, default_model.WEIGHTS)
THRESHOLD = default_model.THRESHOLD


@pytest.fixture(scope="module")
def projects() -> dict[str, list[JudgedPrompt]]:
    return example_projects(LEARNED)


@pytest.fixture(scope="module")
def everything(projects: dict[str, list[JudgedPrompt]]) -> list[JudgedPrompt]:
    return list(chain.from_iterable(projects.values()))


def at_threshold(prompts: list[JudgedPrompt], probabilities: list[list[float]]) -> ThresholdPoint:
    return point(prompts, probabilities, THRESHOLD, MOST, CONFIDENCE)


def test_the_shipped_numbers_are_those_that_the_example_projects_give(everything: list[JudgedPrompt]) -> None:
    made = fitted(everything)
    assert made["INTERCEPT"] == pytest.approx(default_model.INTERCEPT, abs=0.002)
    assert made["WEIGHTS"] == pytest.approx(default_model.WEIGHTS, abs=0.002)
    assert made["SCALES"] == pytest.approx(default_model.SCALES, abs=0.002)
    assert made["DOUBT"] == pytest.approx(default_model.DOUBT, abs=0.011)


def test_the_example_projects_have_enough_prompts_for_which_nothing_is_relevant(
    projects: dict[str, list[JudgedPrompt]],
) -> None:
    assert len(projects) == 5
    for name, prompts in projects.items():
        assert len(prompts) >= (52 if name == "demo" else 60)
        if name != "demo":
            assert sum(not one.relevant for one in prompts) >= len(prompts) / 3


def test_on_a_project_that_it_has_not_learned_from_it_seldom_fires_in_vain(everything: list[JudgedPrompt]) -> None:
    probabilities = held_out(everything)
    before = point(everything, probabilities, 0.0, MOST, CONFIDENCE)
    found = at_threshold(everything, probabilities)
    assert (before.precision or 1) <= 0.25
    assert (found.precision or 0) >= 0.7
    assert (found.recall or 0) >= 0.2
    assert (found.false_fire_rate or 0) <= 0.04


@pytest.mark.slow
def test_on_locomo_from_which_it_has_learned_nothing_it_is_three_times_as_precise_as_bm25(shared_data: Path) -> None:
    prompts = judged(shared_data / "locomo", Config())
    found = at_threshold(prompts, [MODEL.of_prompt(one) for one in prompts])
    assert (found.precision or 0) >= 0.42
    assert (found.recall or 0) >= 0.33
    assert (found.false_fire_rate or 1) <= 0.42


def test_the_engine_computes_what_was_fitted(everything: list[JudgedPrompt]) -> None:
    cutoff = default_cutoff(Config())
    assert cutoff is not None
    example = everything[0].examples[0]
    assert cutoff.model.probability(example.features) == pytest.approx(MODEL.of_prompt(everything[0])[0])
    assert (cutoff.kind, cutoff.least(has_judge=False)) == (DEFAULT, THRESHOLD)
    assert default_cutoff(Config(match_strategy=FTS5_BM25)) is None


@pytest.mark.slow
def test_the_turns_before_a_prompt_bring_its_memories_and_nothing_in_vain() -> None:
    with_turns, without = with_and_without_turns()
    assert (with_turns.recall or 0) >= 1.5 * (without.recall or 0) > 0
    assert (with_turns.precision or 0) >= 0.75
    assert with_turns.false_fire_rate == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["code", "log", "prose"])
@pytest.mark.parametrize("words", LENGTHS)
def test_a_question_before_a_long_paste_is_answered_as_well_as_alone(kind: str, words: int) -> None:
    alone = recall(of_projects(lambda prompt: prompt))
    assert recall(of_projects(with_paste(pastes()[kind], words))) >= 0.8 * alone > 0.15


# The default model as a prior


def test_without_labels_of_both_kinds_the_weights_stay_near_the_prior() -> None:
    prior = prior_of("memsift")
    rows, _ = labelled(world(3))
    found = fit(rows[:4], [False] * 4, prior)
    moved = {
        name: abs(found.by_feature.get(name, 0.0) - prior.weights.by_feature.get(name, 0.0)) * prior.scales[name]
        for name in DIRECTIONS
    }
    assert max(moved.values()) < 0.05
    assert found.intercept < prior.weights.intercept


def test_many_labels_move_the_weights_away_from_the_prior() -> None:
    prior = prior_of("memsift")
    few, many = world(10, seed=2), world(3000, seed=2)
    moved = [fit(*labelled(prompts), prior).by_feature["lead"] for prompts in (few, many)]
    assert abs(moved[0] - prior.weights.by_feature["lead"]) < 0.5
    assert moved[1] > 3.0


def test_another_strategy_has_no_prior() -> None:
    assert prior_of(FTS5_BM25).weights.by_feature == {}
