"""Learning curves of `memsift tune` on LoCoMo, and whether its promises are kept.

    python -m tests.benchmarks.learning FOLDER [--prompts 10 20 30 60 120 240] [--resamplings 140]

FOLDER holds memories.jsonl, prompts.jsonl and qrels.txt. Each of the seven collections stands for a person's root. A
resampling draws labelled prompts from one collection, with replacement. Printed are, for each number of prompts:

- the default model alone, a model around it, and a model from nothing, on the prompts that were not drawn: precision
  and false-fire rate at equal recall, and log loss;
- for targets that are easy, middling and barely reachable: how often a threshold is granted, and how often the
  precision in the whole collection then reaches the target; the same for the highest target that is named. The old
  rule, the lowest threshold whose bound reaches the target, is printed beside it.

At last, how often the bound of the default model for another project holds: each example project against the others.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import chain
from math import log
from pathlib import Path
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING

from engine import default_model
from engine.config import Config
from labels.tuning.curve import MIN_FIRED, STEPS, bound_elsewhere, chosen, curve, injected, judged, point, safest
from labels.tuning.fitting import DEFAULT, NOTHING, fit, labelled, out_of_fold
from labels.tuning.tuning import FROM_DEFAULT
from tests.benchmarks.cutoff import CONFIDENCE, MOST, groups, resampled
from tests.benchmarks.example_projects import example_projects
from tests.benchmarks.locomo import judged as read_locomo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from labels.tuning.curve import Counts, ThresholdPoint
    from labels.tuning.examples import JudgedPrompt
    from labels.tuning.fitting import FeatureWeights, Prior

RECALLS = (0.25, 0.35)
SHARES = {"easy": 0.3, "middling": 0.6}
BARELY, MARGIN = "barely", 0.02
NAMED = "named"
"""The highest target that can be promised, which `tune` names where a higher one was asked for."""

MODELS = {"default alone": None, "around the default": DEFAULT, "from nothing": NOTHING}


@dataclass(frozen=True)
class Quality:
    """Precision and false-fire rate at each of RECALLS, and log loss, on prompts that were not learned from."""

    at: tuple[tuple[float, float], ...]
    loss: float


@dataclass(frozen=True)
class Promise:
    """A granted threshold: whether the whole collection reaches the target there, and the recall there."""

    is_kept: bool
    recall: float


def draw(prompts: Sequence[JudgedPrompt], count: int, seed: int) -> list[JudgedPrompt]:
    return Random(seed).choices(prompts, k=count)


def model(drawn: Sequence[JudgedPrompt], prior: Prior | None) -> FeatureWeights | None:
    """The fitted weights; None where a fit from nothing is impossible, because all labels are the same."""
    rows, relevant = labelled(drawn)
    if prior is None:
        return DEFAULT.weights
    return fit(rows, relevant, prior) if prior is DEFAULT or len({*relevant}) == 2 else None


def quality(prompts: Sequence[JudgedPrompt], weights: FeatureWeights) -> Quality:
    given = [weights.of_prompt(one) for one in prompts]
    found = [strictest(prompts, given, recall) for recall in RECALLS]
    losses = [-log(max(1e-9, p if is_relevant else 1 - p)) for p, is_relevant in judged(prompts, given)]
    return Quality(tuple((one.precision or 0.0, one.false_fire_rate or 0.0) for one in found), fmean(losses))


def strictest(prompts: Sequence[JudgedPrompt], given: Sequence[Sequence[float]], recall: float) -> ThresholdPoint:
    """The point with the highest threshold that has this recall; the loosest point if none has."""
    low, high = 0, STEPS - 1
    while low < high:
        middle = (low + high + 1) // 2
        found = point(prompts, given, middle / STEPS, MOST, CONFIDENCE)
        low, high = (middle, high) if (found.recall or 0.0) >= recall else (low, middle - 1)
    return point(prompts, given, low / STEPS, MOST, CONFIDENCE)


def targets(prompts: Sequence[JudgedPrompt], count: int) -> dict[str, float]:
    """Targets for *count* labelled prompts, by what the default model reaches in the whole collection.

    Barely reachable is MARGIN below the best precision of a threshold that fires for MIN_FIRED of *count* prompts.
    """
    points = curve(prompts, [DEFAULT.weights.of_prompt(one) for one in prompts], MOST, CONFIDENCE)
    usable = [one.precision for one in points if (one.fire_rate or 0.0) * count >= MIN_FIRED and one.precision]
    if not usable:
        return {}
    loosest, best = usable[0], max(usable)
    return {name: loosest + share * (best - loosest) for name, share in SHARES.items()} | {BARELY: best - MARGIN}


def promises(
    whole: Sequence[JudgedPrompt], drawn: Sequence[JudgedPrompt], prior: Prior, wanted: Mapping[str, float]
) -> Iterator[tuple[str, str, Promise | None]]:
    """(rule, name of the target, promise) for each target; None where no threshold is granted."""
    weights = model(drawn, prior)
    points = curve(drawn, out_of_fold(drawn, prior), MOST, CONFIDENCE) if weights else []
    given = [weights.of_prompt(one) for one in whole] if weights else []
    reliable = [one for one in points if one.is_reliable]
    best = {"in order": safest(points), "lowest": max(reliable, key=lambda one: one.low or 0.0, default=None)}
    for rule, choose in (("in order", chosen), ("lowest", lowest)):
        named = best[rule]
        highest = {NAMED: int((named.low or 0.0) * 100) / 100} if named else {}
        for name, target in {**wanted, **highest}.items():
            found = choose(points, target)
            there = point(whole, given, found.threshold, MOST, CONFIDENCE) if found else None
            kept = there and Promise(there.precision is None or there.precision >= target, there.recall or 0.0)
            yield rule, name, kept


def lowest(points: Sequence[ThresholdPoint], target: float) -> ThresholdPoint | None:
    """The old rule: the lowest of all thresholds whose bound reaches the target."""
    return next((one for one in points if one.is_reliable and (one.low or 0.0) >= target), None)


def print_quality(prompts: Sequence[JudgedPrompt], count: int, resamplings: int) -> None:
    found: dict[str, list[Quality]] = {name: [] for name in MODELS}
    for group in groups(prompts):
        whole = [one for one in prompts if one.group == group]
        for seed in range(resamplings // 7):
            drawn = draw(whole, count, seed)
            ids = {one.prompt_id for one in drawn}
            rest = [one for one in whole if one.prompt_id not in ids]
            for name, prior in MODELS.items():
                if weights := model(drawn, prior):
                    found[name].append(quality(rest, weights))
    for name, own in found.items():
        at = [
            f"{fmean(one.at[place][0] for one in own):.2f}/{fmean(one.at[place][1] for one in own):.2f}"
            for place in range(len(RECALLS))
        ]
        print(f"{count:4} prompts  {name:20}", *at, f"loss {fmean(one.loss for one in own):.3f}")


def print_promises(prompts: Sequence[JudgedPrompt], count: int, resamplings: int) -> None:
    for prior_name, prior in (("around the default", DEFAULT), ("from nothing", NOTHING)):
        for rule, name, all_found in promise_counts(prompts, count, resamplings, prior):
            granted = [one for one in all_found if one]
            kept, recall = sum(one.is_kept for one in granted), fmean([one.recall for one in granted] or [0.0])
            print(
                f"{count:4} prompts  {prior_name:20} {rule:9} {name:9} granted {len(granted) / len(all_found):.2f}  "
                f"kept {kept} of {len(granted)}  broken {(len(granted) - kept) / len(all_found):.2f} of all  "
                f"recall {recall:.2f}"
            )


def promise_counts(
    prompts: Sequence[JudgedPrompt], count: int, resamplings: int, prior: Prior
) -> list[tuple[str, str, list[Promise | None]]]:
    """(rule, name of the target, promises of all resamplings)."""
    found: dict[tuple[str, str], list[Promise | None]] = {}
    for group in groups(prompts):
        whole = [one for one in prompts if one.group == group]
        wanted = targets(whole, count)
        for seed in range(resamplings // 7):
            for rule, name, promise in promises(whole, draw(whole, count, seed), prior, wanted):
                found.setdefault((rule, name), []).append(promise)
    return [(rule, name, own) for (rule, name), own in found.items()]


def default_holds(projects: Mapping[str, Sequence[JudgedPrompt]], held: str, seed: int) -> tuple[bool, float, float]:
    """Whether the default model's bound from other projects holds in *held*; the bound, and the precision there.

    The model is fitted to the resampled other projects, and measured on each with a model of the rest.
    """
    random = Random(seed)
    drawn = {name: resampled(own, random) for name, own in projects.items() if name != held}
    counts: list[tuple[int, int]] = []
    names: list[str] = []
    for name, own in drawn.items():
        rest = fit(*labelled(list(chain.from_iterable(one for other, one in drawn.items() if other != name))))
        counts += counts_at(own, rest)
        names += [name] * len(own)
    weights = fit(*labelled(list(chain.from_iterable(drawn.values()))))
    there = counts_at(projects[held], weights)
    precision = sum(x for x, _ in there) / max(1, sum(m for _, m in there))
    bound = bound_elsewhere(counts, names, CONFIDENCE) or 0.0
    return precision >= bound, bound, precision


def counts_at(prompts: Sequence[JudgedPrompt], weights: FeatureWeights) -> Counts:
    """(relevant, injected) of each prompt at the default threshold."""
    sets = [injected(one, weights.of_prompt(one), default_model.THRESHOLD, MOST) for one in prompts]
    return [(sum(one.is_relevant is True for one in found), len(found)) for found in sets]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prompts", type=int, nargs="+", default=[10, 20, 30, 60, 120, 240])
    parser.add_argument("--resamplings", type=int, default=140)
    given = parser.parse_args()
    prompts = read_locomo(given.folder, Config())
    print("precision/false-fire rate at recalls of", *RECALLS)
    for count in given.prompts:
        print_quality(prompts, count, given.resamplings)
    for count in [one for one in given.prompts if one >= FROM_DEFAULT.prompts]:
        print_promises(prompts, count, given.resamplings)
    projects = example_projects(Config())
    held = [default_holds(projects, name, seed) for name in projects for seed in range(given.resamplings // 5)]
    print(f"the default model's bound for another project holds in {sum(one[0] for one in held)} of {len(held)}")
    print(f"on average bound {fmean(one[1] for one in held):.2f}, precision {fmean(one[2] for one in held):.2f}")


if __name__ == "__main__":
    main()
