"""The weights of the cutoff: scikit-learn's where no bound is in the way, and never the wrong way."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from engine.config import Config
from engine.cutoff import DIRECTIONS, FALLING, RISING, features
from engine.retrieval import Candidate
from engine.search.postings import Unit
from engine.search.ranking import CandidatePool, rank
from engine.search.stems import stem
from labels.tuning.examples import JudgedPrompt
from labels.tuning.fitting import DEFAULT, NOTHING, FeatureWeights, confirmed, fit, labelled, learn, out_of_fold
from tests.engine.builders import memory
from tests.labels.tuning.judged import example, judged, true_probability, world


def test_without_a_bound_in_the_way_the_weights_are_scikit_learns() -> None:
    rows, relevant = labelled(world(200))
    names = ["lead", "strength", "short_tag"]
    rows = [{name: row[name] for name in names} for row in rows]
    found = fit(rows, relevant)
    table = np.array([[row[name] for name in names] for row in rows])
    oracle = LogisticRegression(C=NOTHING.variances[0], tol=1e-10, max_iter=10_000).fit(
        (table - table.mean(0)) / table.std(0), relevant
    )
    assert [found.by_feature[name] for name in names] == pytest.approx(oracle.coef_[0] / table.std(0), abs=1e-3)
    assert min(oracle.coef_[0]) > 0


def test_the_labels_decide_how_far_the_default_model_moves_so_that_more_of_them_never_hurt() -> None:
    """The world contradicts the default model: a fit that stayed near it would lose more with every label."""
    unseen = world(400, seed=9)
    known = [one for prompt in unseen for one in prompt.examples]
    lost = {}
    for count in (10, 30, 100, 300):
        for prior in (DEFAULT, NOTHING):
            given = learn(world(count, seed=5), prior).probabilities([one.features for one in known])
            labels = [one.is_relevant for one in known]
            lost[prior is DEFAULT, count] = log_loss(labels, given)
    assert lost[True, 10] > lost[True, 30] > lost[True, 100] > lost[True, 300] - 0.005
    for count in (30, 100, 300):
        assert lost[True, count] <= lost[False, count] + 0.03
    assert lost[True, 300] < log_loss(labels, [true_probability(dict(one.features)) for one in known]) + 0.02


def test_labels_that_agree_with_the_default_model_leave_it_nearly_as_it_is() -> None:
    """Few labels are alike by chance. A fit believes them; prompts that it has not seen do not confirm it."""
    rows = [dict(one.features) for prompt in world(400, seed=4) for one in prompt.examples]
    said = DEFAULT.weights.probabilities(rows)

    def lost(weights: FeatureWeights) -> float:
        return float(((weights.probabilities(rows) - said) ** 2).mean())

    held = [lost(learn(prompts, DEFAULT)) for prompts in map(agreeing, range(12))]
    free = [lost(fit(*labelled(prompts), DEFAULT)) for prompts in map(agreeing, range(12))]
    assert sum(held) < 0.2 * sum(free)
    assert confirmed(agreeing(0)[:1], DEFAULT) == 0
    assert confirmed(world(300), DEFAULT) > 0.9


def agreeing(seed: int) -> list[JudgedPrompt]:
    """Labelled prompts for which the default model is right."""
    random = Random(seed)
    prompts = world(20, seed=seed)
    given = [zip(prompt.examples, DEFAULT.weights.of_prompt(prompt), strict=True) for prompt in prompts]
    return [
        judged(f"p{place}", *(replace(one, is_relevant=random.random() < p) for one, p in own))
        for place, own in enumerate(given)
    ]


@settings(max_examples=10)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1), st.booleans()), min_size=4, max_size=40))
def test_no_labels_make_a_weight_go_the_wrong_way(drawn: list[tuple[float, float, float, bool]]) -> None:
    rows = [{"strength": a, "names": b, "lead": c} for a, b, c, _ in drawn]
    weights = fit(rows, [relevant for *_, relevant in drawn]).by_feature
    assert {name for name, weight in weights.items() if weight < 0 and DIRECTIONS.get(name) == RISING} == set()
    assert {name for name, weight in weights.items() if weight > 0 and DIRECTIONS.get(name) == FALLING} == set()


def test_a_memory_that_holds_more_of_the_prompt_is_never_less_likely() -> None:
    weights = fit(*labelled(world(60, seed=3)))
    words = [Unit(text, ((stem(text),),), 1, 1) for text in ("cache", "redis", "key", "expiry")]
    summary = memory("a title").summary
    last = 0.0
    for held in range(1, 5):
        strength = 2.0 * held
        matched = tuple(word.text for word in words[:held])
        pool = CandidatePool([Candidate(summary, -strength, 0, -strength, matched)], words)
        (made,) = features(rank(pool.memories, Config()), pool).values()
        (probability,) = weights.probabilities([made])
        assert probability >= last
        last = probability


def test_probabilities_out_of_fold_come_from_other_prompts() -> None:
    prompts = world(60)
    liar = judged("liar", *(example(f"m{i}", True, **dict.fromkeys(DIRECTIONS, 0.0)) for i in range(200)))
    honest = judged("liar", *(example(f"m{i}", False, **dict.fromkeys(DIRECTIONS, 0.0)) for i in range(200)))
    assert out_of_fold([*prompts, liar])[-1] == out_of_fold([*prompts, honest])[-1]
    assert len(out_of_fold(prompts)) == 60
    unknown = judged("unknown", example("m", None, lead=0.5))
    assert labelled([*prompts, unknown]) == labelled(prompts), "what nobody judged is not learned from"
    assert len(out_of_fold([*prompts, unknown])[-1]) == 1
    twice = out_of_fold([*prompts, *prompts])
    assert twice[:60] == twice[60:], "a prompt that was drawn twice stays in one fold"
