"""What the cutoff is worth on LoCoMo, on collections that it did not learn from: measured once, and not to be lost."""

from pathlib import Path

import pytest

from engine.config import FTS5_BM25, Config
from labels.tuning.curve import ThresholdPoint, curve
from labels.tuning.examples import JudgedPrompt
from tests.benchmarks.cutoff import CONFIDENCE, MOST, at_recall, held_out, promise
from tests.benchmarks.locomo import judged
from tests.labels.samples import known

pytestmark = pytest.mark.slow

BM25_PRECISION, BM25_RECALL = 0.148, 0.420
"""The top three of `fts5_bm25`, which injects something for every prompt."""


@pytest.fixture(scope="module")
def prompts(shared_data: Path) -> list[JudgedPrompt]:
    return judged(shared_data / "locomo", Config())


def points_of(prompts: list[JudgedPrompt]) -> list[ThresholdPoint]:
    return curve(prompts, held_out(prompts), MOST, CONFIDENCE)


def test_at_two_thirds_of_the_recall_it_is_three_times_as_precise_as_bm25(prompts: list[JudgedPrompt]) -> None:
    points = points_of(prompts)
    found = at_recall(points, 0.65 * BM25_RECALL)
    assert known(found.precision) >= 3.5 * BM25_PRECISION
    assert (found.false_fire_rate or 0) <= 0.32
    more = at_recall(points, 0.35)
    assert known(more.precision) >= 2.65 * BM25_PRECISION
    assert (more.false_fire_rate or 0) <= 0.54


def test_a_cutoff_on_the_original_rules_is_worth_as_much(shared_data: Path) -> None:
    found = at_recall(points_of(judged(shared_data / "locomo", Config(match_strategy=FTS5_BM25))), 0.65 * BM25_RECALL)
    assert known(found.precision) >= 3.5 * BM25_PRECISION
    assert (found.false_fire_rate or 0) <= 0.3


def test_what_six_collections_promise_holds_on_the_seventh(prompts: list[JudgedPrompt]) -> None:
    """The target is barely reachable in another collection: now and then no threshold is granted."""
    made = [promise(prompts, 2.9 * BM25_PRECISION, seed) for seed in range(21)]
    found = [one for one in made if one]
    assert len(found) >= 10
    assert sum(holds for holds, _ in found) >= 0.88 * len(found)
    assert sum(one.recall or 0 for _, one in found) / len(found) >= 0.5 * BM25_RECALL
