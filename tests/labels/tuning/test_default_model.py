"""The default model: what it is worth on roots that it has not learned from, and as a prior."""

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from engine import default_model
from engine.config import DEFAULT, FTS5_BM25, THRESHOLDS, Config
from engine.cutoff import DIRECTIONS, default_cutoff
from engine.lean.record import replace as changed
from engine.prompt import Prompt
from labels.tuning.curve import point
from labels.tuning.fitting import FeatureWeights, fit, labelled, prior_of
from tests.benchmarks.learning import CONFIDENCE, MOST
from tests.benchmarks.locomo import judged
from tests.benchmarks.served import (
    CORPUS,
    EXAMPLES,
    TOP,
    corpus_roots,
    example_roots,
    graded,
    left_out,
    measured,
    scored,
)
from tests.labels.samples import known
from tests.labels.tuning.judged import world

MODEL = FeatureWeights(default_model.INTERCEPT, default_model.WEIGHTS)
THRESHOLD = default_model.THRESHOLD


FLOORS = {CORPUS: (0.40, 0.54, 0.38), EXAMPLES: (0.50, 0.47, 0.29)}
"""Set -> the least share of served prompts and of useful memories, and the most false fires, at `balanced`."""

LEAST_SERVED = {
    "concrete": 0.6,
    "error": 0.6,
    "followup": 0.28,
    "negated": 0.5,
    "several": 0.75,
    "spelling": 0.75,
    "to 40": 0.4,
    "to 150": 0.34,
    "to 600": 0.4,
}
"""Kind of prompt, or words in the shortest memory that it needs -> the least share of served prompts in the corpus."""


@pytest.mark.slow
def test_on_roots_that_it_has_not_learned_from_it_serves_and_seldom_fires_for_nothing() -> None:
    prompts = [prompt for root in (*corpus_roots(), *example_roots()) for prompt in graded(root)]
    rows = left_out(prompts, prompts)
    for name, (least_served, least_useful, most_fires) in FLOORS.items():
        found = measured([row for row in rows if row[0].set == name], THRESHOLD)
        share = {measure: part / of for measure, (part, of) in found.items()}
        assert share["served"] >= least_served, (name, share)
        assert share["useful"] >= least_useful, (name, share)
        assert share["false"] <= most_fires, (name, share)
    for group, least in LEAST_SERVED.items():
        own = [row for row in rows if row[0].set == CORPUS and group in (row[0].kind, row[0].length)]
        part, of = measured(own, THRESHOLD)["served"]
        assert part >= least * of > 0, (group, part, of)


def test_the_names_are_in_order_of_their_false_fires_and_serve_more_the_looser_they_are() -> None:
    assert list(default_model.THRESHOLDS) == list(default_model.FALSE_FIRES) == list(THRESHOLDS)
    assert sorted(default_model.THRESHOLDS.values(), reverse=True) == list(default_model.THRESHOLDS.values())
    assert [*default_model.MEASURED.values()] == sorted(default_model.MEASURED.values())


@pytest.mark.slow
def test_on_locomo_it_is_three_times_as_precise_as_bm25(shared_data: Path) -> None:
    prompts = judged(shared_data / "locomo", Config())
    found = point(prompts, [MODEL.of_prompt(one) for one in prompts], THRESHOLD, MOST, CONFIDENCE)
    assert (found.precision or 0) >= 0.42
    assert (found.recall or 0) >= 0.29
    assert (found.false_fire_rate or 1) <= 0.43


def test_the_engine_computes_what_was_fitted() -> None:
    cutoff = known(default_cutoff(Config()))
    prompt = world(1)[0]
    found = [cutoff.model.probability(example.features) for example in prompt.examples]
    assert found == pytest.approx(MODEL.of_prompt(prompt))
    assert (cutoff.kind, cutoff.least(has_judge=False)) == (DEFAULT, THRESHOLD)
    assert default_cutoff(Config(match_strategy=FTS5_BM25)) is None


def served(is_asked: Callable[[Prompt], bool], change: Callable[[Prompt], Prompt] = lambda prompt: prompt) -> float:
    """The share of served prompts, of those of the example projects that are asked, as *change* makes them."""
    prompts = []
    for root in example_roots():
        asked = [(change(prompt), kind) for prompt, kind in root.prompts if is_asked(prompt)]
        prompts += graded(replace(root, prompts=asked))
    part, of = measured(scored(prompts, MODEL), THRESHOLD)["served"]
    return part / of


@pytest.mark.slow
def test_the_turns_before_a_prompt_bring_its_memories() -> None:
    def has_turns(prompt: Prompt) -> bool:
        return bool(prompt.turns)

    assert served(has_turns) >= 1.5 * served(has_turns, lambda prompt: changed(prompt, turns=())) > 0


def paste(kind: str, words: int) -> str:
    """The first *words* words of code, a log or prose of this project that seldom change, repeated, in whole lines."""
    files = ["engine/search/stems.py", "engine/search/tokens.py"] if kind == "code" else ["LICENSE"]
    kept: list[str] = []
    for line in cycle("\n\n".join((TOP / file).read_text("utf-8") for file in files).splitlines()):
        if words <= 0:
            break
        kept.append(f"2026-03-02T11:{len(kept) % 60:02}:07Z INFO api.loans: {line}" if kind == "log" else line)
        words -= len(kept[-1].split())
    return "\n".join(kept)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["code", "log", "prose"])
def test_a_question_before_a_long_paste_is_answered_as_well_as_alone(kind: str) -> None:
    def is_short(prompt: Prompt) -> bool:
        return len(prompt.text.split()) <= 40

    alone = served(is_short)
    for words in (400, 2000, 5000):
        behind = paste(kind, words)
        pasted = served(is_short, lambda prompt: changed(prompt, text=f"{prompt.text}\n\n{behind}"))  # noqa: B023
        assert pasted >= 0.8 * alone > 0.15, words


# The default model as a prior


def test_without_labels_of_both_kinds_the_weights_stay_near_the_prior_of_the_strategy() -> None:
    prior = prior_of("memsift")
    rows, _ = labelled(world(3))
    found = fit(rows[:4], [False] * 4, prior)
    moved = {
        name: abs(found.by_feature.get(name, 0.0) - prior.weights.by_feature.get(name, 0.0)) * prior.scales[name]
        for name in DIRECTIONS
    }
    assert max(moved.values()) < 0.15
    assert found.intercept < prior.weights.intercept
    assert prior_of(FTS5_BM25).weights.by_feature == {}
