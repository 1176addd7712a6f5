"""The worth of the cutoff on LoCoMo: each of the seven collections with a model that was fitted to the other six.

    python -m tests.benchmarks.cutoff FOLDER [--strategy memsift] [--features] [--resamplings 70] [--target .43 ...]

FOLDER holds memories.jsonl, prompts.jsonl and qrels.txt. Prints precision, recall and fire rates by threshold. With
--features also the loss without each feature. With --resamplings also how often a threshold that was chosen on six
collections keeps the target precision on the seventh. A resampling draws the prompts of all seven collections anew,
with replacement.
"""

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from random import Random

from engine.config import CHOICES, MEMSIFT, Config
from engine.cutoff import DIRECTIONS
from labels.tuning.curve import ThresholdPoint, curve, point
from labels.tuning.examples import Example, JudgedPrompt
from labels.tuning.fitting import DEFAULT, fit, labelled
from labels.tuning.tuning import tune
from tests.benchmarks.locomo import judged

MOST = Config().max_inject
CONFIDENCE = 0.9
RECALLS = (0.2, 0.25, 0.273, 0.3, 0.35, 0.4)


def held_out(prompts: Sequence[JudgedPrompt]) -> list[list[float]]:
    """P(relevant) of every example, by weights that were fitted to the other collections."""
    weights = {name: fit(*labelled([one for one in prompts if one.group != name])) for name in groups(prompts)}
    return [weights[one.group].of_prompt(one) for one in prompts]


def groups(prompts: Sequence[JudgedPrompt]) -> list[str]:
    return sorted({one.group for one in prompts})


def without(prompts: Sequence[JudgedPrompt], left_out: Collection[str]) -> list[JudgedPrompt]:
    """The prompts without some of the features."""

    def thinned(one: Example) -> Example:
        kept = {name: value for name, value in one.features.items() if name not in left_out}
        return Example(one.memory_id, one.title, kept, one.is_relevant)

    return [
        JudgedPrompt(one.prompt_id, one.text, one.relevant, tuple(map(thinned, one.examples)), one.group)
        for one in prompts
    ]


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


def shown(one: ThresholdPoint) -> str:
    bound = one.low if one.low_elsewhere is None else one.low_elsewhere
    values = (one.precision, bound, one.recall, one.fire_rate, one.false_fire_rate)
    return f"{one.threshold:5.2f} " + " ".join("    -" if value is None else f"{value:5.3f}" for value in values)


def print_promises(prompts: Sequence[JudgedPrompt], target: float, count: int) -> None:
    kept = [one for seed in range(count) if (one := promise(prompts, target, seed))]
    if not kept:
        print(f"target {target}: no threshold in {count} resamplings")
        return
    recall = sum(one.recall or 0 for _, one in kept) / len(kept)
    precision = sum(one.precision or 1 for _, one in kept) / len(kept)
    false = sum(one.false_fire_rate or 0 for _, one in kept) / len(kept)
    print(
        f"target {target}: a threshold in {len(kept)} of {count}, holds in {sum(holds for holds, _ in kept)}; "
        f"on average precision {precision:.3f}, recall {recall:.3f}, false fires {false:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--strategy", choices=CHOICES["match_strategy"][:2], default=MEMSIFT)
    parser.add_argument("--features", action="store_true")
    parser.add_argument("--resamplings", type=int, default=0)
    parser.add_argument("--target", type=float, nargs="+", default=[0.3, 0.43, 0.5])
    given = parser.parse_args()
    prompts = judged(given.folder, Config(match_strategy=given.strategy))
    points = curve(prompts, held_out(prompts), MOST, CONFIDENCE)
    print("threshold, precision, its bound in another collection, recall, fire rate, false-fire rate")
    print("\n".join(shown(one) for one in points[::4]))
    print(fit(*labelled(prompts)))
    if given.features:
        print("\nat recalls of", RECALLS, "precision / false-fire rate without")
        for name in (None, *DIRECTIONS):
            fewer = without(prompts, {name} if name else ())
            found = [at_recall(curve(fewer, held_out(fewer), MOST, CONFIDENCE), recall) for recall in RECALLS]
            print(f"{name or '(all there)':12}", *(f"{one.precision:.3f}/{one.false_fire_rate:.2f}" for one in found))
    for target in given.target if given.resamplings else ():
        print_promises(prompts, target, given.resamplings)


if __name__ == "__main__":
    main()
