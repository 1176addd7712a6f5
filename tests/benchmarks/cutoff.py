"""The worth of the cutoff on LoCoMo: each of the seven collections with a model that was fitted to the other six.

`tests/labels/tuning/test_locomo.py` holds the numbers that were measured.
"""

from collections.abc import Sequence
from random import Random

from engine.config import Config
from labels.tuning.curve import ThresholdPoint, point
from labels.tuning.examples import JudgedPrompt
from labels.tuning.fitting import DEFAULT, fit, labelled
from labels.tuning.tuning import tune

MOST = Config().max_inject
CONFIDENCE = 0.9


def held_out(prompts: Sequence[JudgedPrompt]) -> list[list[float]]:
    """P(relevant) of every example, by weights that were fitted to the other collections."""
    weights = {name: fit(*labelled([one for one in prompts if one.group != name])) for name in groups(prompts)}
    return [weights[one.group].of_prompt(one) for one in prompts]


def groups(prompts: Sequence[JudgedPrompt]) -> list[str]:
    return sorted({one.group for one in prompts})


def at_recall(points: Sequence[ThresholdPoint], recall: float) -> ThresholdPoint:
    """The strictest point with at least this recall."""
    return max((one for one in points if (one.recall or 0) >= recall), key=lambda one: one.threshold)


def promise(prompts: Sequence[JudgedPrompt], target: float, seed: int) -> tuple[bool, ThresholdPoint] | None:
    """Whether a threshold from six resampled collections keeps the target on the seventh, and its point there.

    None if no threshold reaches the target on the six.
    """
    random = Random(seed)
    names = groups(prompts)
    held = names[seed % len(names)]
    drawn = {name: resampled([one for one in prompts if one.group == name], random) for name in names}
    made = tune([one for name in names if name != held for one in drawn[name]], target, CONFIDENCE, MOST, DEFAULT)
    if made.elsewhere is None:
        return None
    given = [made.weights.of_prompt(one) for one in drawn[held]]
    found = point(drawn[held], given, made.elsewhere.threshold, MOST, CONFIDENCE)
    return found.precision is None or found.precision >= target, found


def resampled(prompts: Sequence[JudgedPrompt], random: Random) -> list[JudgedPrompt]:
    return random.choices(prompts, k=len(prompts))
