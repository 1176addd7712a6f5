"""A promise of `tune` is kept as often as it says, on conversations from which the default model learned nothing."""

from math import ceil
from pathlib import Path

import pytest

from engine.config import Config
from labels.tuning.examples import JudgedPrompt
from labels.tuning.fitting import DEFAULT, NOTHING
from tests.benchmarks.cutoff import groups
from tests.benchmarks.learning import BARELY, NAMED, draw, log_loss, model, promise_counts
from tests.benchmarks.locomo import judged
from tests.labels.samples import known

pytestmark = pytest.mark.slow

KEPT, KEPT_TOGETHER = 0.88, 0.9
"""Shares of promises: of the draws for one target, and of those that were made for any target. The latter are too few
for a share of each target."""


@pytest.fixture(scope="module")
def prompts(shared_data: Path) -> list[JudgedPrompt]:
    return judged(shared_data / "locomo", Config())


@pytest.mark.parametrize("count", [20, 60])
def test_promises_are_kept_also_where_a_target_is_barely_reachable(prompts: list[JudgedPrompt], count: int) -> None:
    in_order = promise_counts(prompts, count, 70, DEFAULT)
    granted = {name: [one for one in promises if one] for name, promises in in_order.items()}
    broken = {name: sum(not one.is_kept for one in own) for name, own in granted.items()}
    assert all(broken[name] <= ceil((1 - KEPT) * len(in_order[name])) for name in in_order), broken
    assert sum(broken.values()) <= (1 - KEPT_TOGETHER) * sum(map(len, granted.values())), broken
    assert in_order.keys() == {"easy", "middling", BARELY, NAMED}
    assert len(granted["easy"]) >= (0.3 if count == 20 else 0.7) * len(in_order["easy"])


def test_twenty_labelled_prompts_already_help_and_the_prior_beats_a_fit_from_nothing(
    prompts: list[JudgedPrompt],
) -> None:
    losses: dict[str, list[float]] = {"default": [], "prior": [], "nothing": []}
    for group in groups(prompts):
        whole = [one for one in prompts if one.group == group]
        for seed in range(6):
            drawn = draw(whole, 20, seed)
            ids = {one.prompt_id for one in drawn}
            rest = [one for one in whole if one.prompt_id not in ids]
            for name, prior in (("default", None), ("prior", DEFAULT), ("nothing", NOTHING)):
                weights = known(model(drawn, prior))
                losses[name].append(log_loss(rest, weights))
    assert sum(losses["prior"]) < sum(losses["default"])
    assert sum(losses["prior"]) < sum(losses["nothing"])
