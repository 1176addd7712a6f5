"""Learning curves of `memsift tune`, and whether its promises are kept.

    python -m tests.benchmarks.learning [--locomo FOLDER] [--resamplings 3] [--promises 20 60]

Each root of the corpus, the example projects and, with --locomo, the chats (FOLDER holds memories.jsonl, prompts.jsonl
and qrels.txt) stands for a person's root. Labelled prompts are drawn from it, or from all other roots. Printed is the
log loss on the prompts of the root that were not drawn: of the default model alone, of `tune`, of a fit from nothing.

With --promises, for numbers of prompts drawn from a chat: for targets that are easy, middling and barely reachable, how
often a threshold is granted, and how often the precision in the whole chat then reaches the target; the same for the
highest target that is named.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from random import Random
from statistics import fmean

from engine.config import Config
from labels.tuning.curve import MIN_FIRED, choose, curve, judged, point, safest
from labels.tuning.examples import Example, JudgedPrompt
from labels.tuning.fitting import DEFAULT, NOTHING, FeatureWeights, Prior, labelled, learn, out_of_fold
from tests.benchmarks.locomo import judged as read_locomo
from tests.benchmarks.served import LabelledRoot, chat_roots, corpus_roots, example_roots, graded

MOST = Config().max_inject
CONFIDENCE = 0.9
COUNTS = (20, 40, 80, 160, 1000)
LEAST_LEFT = 30
"""Prompts to measure on."""

SHARES = {"easy": 0.3, "middling": 0.6}
BARELY, MARGIN = "barely", 0.02
NAMED = "named"
"""The highest target that can be promised, which `tune` names where a higher one was asked for."""

MODELS = {"default": None, "tune": DEFAULT, "nothing": NOTHING}


@dataclass(frozen=True)
class Promise:
    """A granted threshold: whether the whole collection reaches the target there, and the recall there."""

    is_kept: bool
    recall: float


def groups(prompts: Sequence[JudgedPrompt]) -> list[str]:
    return sorted({one.group for one in prompts})


def draw(prompts: Sequence[JudgedPrompt], count: int, seed: int) -> list[JudgedPrompt]:
    return Random(seed).choices(prompts, k=count)


def model(drawn: Sequence[JudgedPrompt], prior: Prior | None) -> FeatureWeights | None:
    """The fitted weights; None where a fit from nothing is impossible, because all labels are the same."""
    _, relevant = labelled(drawn)
    if prior is None:
        return DEFAULT.weights
    return learn(drawn, prior) if prior is DEFAULT or len({*relevant}) == 2 else None


def log_loss(prompts: Sequence[JudgedPrompt], weights: FeatureWeights) -> float:
    given = judged(prompts, [weights.of_prompt(one) for one in prompts])
    return fmean(-log(max(1e-9, p if is_relevant else 1 - p)) for p, is_relevant in given)


def labelled_prompts(root: LabelledRoot) -> list[JudgedPrompt]:
    """The prompts of a root with what is useful in its labels."""
    found = []
    for number, prompt in enumerate(graded(root)):
        examples = tuple(
            Example(one.memory_id, "", one.features, None if one.grade is None else one.grade > 0)
            for one in prompt.candidates
        )
        useful = sum(one.is_relevant is True for one in examples)
        found.append(JudgedPrompt(f"{root.name}-{number}", "", useful, examples, root.name))
    return found


def print_curves(roots: Mapping[tuple[str, str], list[JudgedPrompt]], count: int, resamplings: int) -> None:
    """*roots*: (set, name) -> prompts."""
    for source in ("own root", "other roots"):
        found: dict[tuple[str, str], list[float]] = {}
        for (kind, name), own in roots.items():
            others = [one for (_, other), prompts in roots.items() if other != name for one in prompts]
            for seed in range(resamplings):
                random = Random(f"{count} {seed}")
                shuffled = random.sample(own, len(own))
                drawn, rest = (shuffled[:count], shuffled[count:]) if source == "own root" else (others, own)
                if len(rest) >= LEAST_LEFT and len(drawn) >= count:
                    drawn = random.sample(drawn, count)
                    for model_name, prior in MODELS.items():
                        if weights := model(drawn, prior):
                            found.setdefault((kind, model_name), []).append(log_loss(rest, weights))
        for kind in dict.fromkeys(kind for kind, _ in found):
            shown = (f"{name} {fmean(found[kind, name]):.3f}" for name in MODELS if (kind, name) in found)
            print(f"{count:5} prompts of {source:12} {kind:9}", *shown)


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
) -> Iterator[tuple[str, Promise | None]]:
    """(name of the target, promise) for each target; None where no threshold is granted."""
    weights = model(drawn, prior)
    points = curve(drawn, out_of_fold(drawn, prior), MOST, CONFIDENCE) if weights else []
    given = [weights.of_prompt(one) for one in whole] if weights else []
    best = safest(points)
    highest = {NAMED: int((best.low or 0.0) * 100) / 100} if best else {}
    for name, target in {**wanted, **highest}.items():
        found = choose(points, target)
        there = point(whole, given, found.threshold, MOST, CONFIDENCE) if found else None
        yield name, there and Promise(there.precision is None or there.precision >= target, there.recall or 0.0)


def print_promises(prompts: Sequence[JudgedPrompt], count: int, resamplings: int) -> None:
    for prior_name, prior in (("around the default", DEFAULT), ("from nothing", NOTHING)):
        for name, all_found in promise_counts(prompts, count, resamplings, prior).items():
            granted = [one for one in all_found if one]
            kept, recall = sum(one.is_kept for one in granted), fmean([one.recall for one in granted] or [0.0])
            print(
                f"{count:4} prompts  {prior_name:20} {name:9} granted {len(granted) / len(all_found):.2f}  "
                f"kept {kept} of {len(granted)}  broken {(len(granted) - kept) / len(all_found):.2f} of all  "
                f"recall {recall:.2f}"
            )


def promise_counts(
    prompts: Sequence[JudgedPrompt], count: int, resamplings: int, prior: Prior
) -> dict[str, list[Promise | None]]:
    """Name of the target -> promises of all resamplings."""
    found: dict[str, list[Promise | None]] = {}
    for group in groups(prompts):
        whole = [one for one in prompts if one.group == group]
        wanted = targets(whole, count)
        for seed in range(resamplings // 7):
            for name, promise in promises(whole, draw(whole, count, seed), prior, wanted):
                found.setdefault(name, []).append(promise)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--resamplings", type=int, default=3)
    parser.add_argument("--promises", type=int, nargs="*", default=())
    given = parser.parse_args()
    chats = chat_roots(given.locomo) if given.locomo else ()
    roots = {(root.set, root.name): labelled_prompts(root) for root in (*corpus_roots(), *example_roots(), *chats)}
    for count in COUNTS:
        print_curves(roots, count, given.resamplings)
    if given.promises:
        prompts = read_locomo(given.locomo, Config())
        for count in given.promises:
            print_promises(prompts, count, 7 * given.resamplings)


if __name__ == "__main__":
    main()
