"""The default model: fitted to the example projects, and measured across them and on LoCoMo.

    python -m tests.benchmarks.default_model [--write] [--features] [--locomo FOLDER]

Prints precision, recall and fire rates by threshold, each project with a model that was fitted to the other projects.
With --locomo also on LoCoMo, from which nothing is learned: FOLDER holds memories.jsonl, prompts.jsonl and qrels.txt.
Prompts with turns before them are measured with these turns and without. With --features the same without each feature.
With --write the model goes into engine/default_model.py.
"""

from __future__ import annotations

import argparse
import re
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine import default_model
from engine.config import Config
from engine.cutoff import DIRECTIONS
from engine.lean.record import replace
from labels.tuning.curve import curve, doubt, point
from labels.tuning.fitting import FeatureWeights, fit, labelled
from tests.benchmarks.cutoff import CONFIDENCE, MOST, at_recall, held_out, shown, without
from tests.benchmarks.example_projects import TOP, example_projects
from tests.benchmarks.locomo import judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.prompt import Prompt
    from labels.tuning.curve import ThresholdPoint
    from labels.tuning.examples import JudgedPrompt

FILE = TOP / "engine/default_model.py"
DIGITS = 4
LEARNED = Config(max_inject=5)
"""With it 15 memories of a prompt reach the cutoff, not 9: more near-misses to learn from."""

RECALLS = (0.2, 0.25, 0.3, 0.35)


def fitted(prompts: Sequence[JudgedPrompt]) -> dict[str, float | dict[str, float]]:
    """Name in engine/default_model.py -> its value."""
    rows, relevant = labelled(prompts)
    weights = fit(rows, relevant)
    deviations = {name: float(np.std([row[name] for row in rows])) for name in DIRECTIONS}
    return {
        "INTERCEPT": round(weights.intercept, DIGITS),
        "WEIGHTS": {name: round(weight, DIGITS) for name, weight in weights.by_feature.items()},
        "SCALES": {name: round(value, DIGITS) for name, value in deviations.items()},
        "DOUBT": doubt(prompts, held_out(prompts), default_model.THRESHOLD),
    }


def write(values: dict[str, float | dict[str, float]]) -> None:
    text = FILE.read_text(encoding="utf-8")
    for name, value in values.items():
        body = f"{value}"
        if isinstance(value, dict):
            body = "{\n" + "".join(f'    "{key}": {number},\n' for key, number in value.items()) + "}"
        text = re.sub(rf"(?ms)^({name}[^=\n]* = )(\{{.*?\}}|[^\n{{]*)$", rf"\g<1>{body}", text)
    FILE.write_text(text, encoding="utf-8")


def with_and_without_turns() -> tuple[ThresholdPoint, ThresholdPoint]:
    """The prompts that have turns before them, with these turns and without, at the shipped model's threshold."""
    model = FeatureWeights(default_model.INTERCEPT, default_model.WEIGHTS)

    def measured(*, keeps: bool) -> ThresholdPoint:
        def change(prompt: Prompt) -> Prompt | None:
            return (prompt if keeps else replace(prompt, turns=())) if prompt.turns else None

        prompts = list(chain.from_iterable(example_projects(Config(), change).values()))
        return point(prompts, [model.of_prompt(one) for one in prompts], default_model.THRESHOLD, MOST, CONFIDENCE)

    return measured(keeps=True), measured(keeps=False)


def print_features(prompts: Sequence[JudgedPrompt], locomo: Sequence[JudgedPrompt]) -> None:
    print("\nat recalls of", RECALLS, "precision / false-fire rate without a feature, across projects and on LoCoMo")
    for name in (None, *DIRECTIONS):
        fewer = without(prompts, {name} if name else ())
        weights = fit(*labelled(fewer))
        across = curve(fewer, held_out(fewer), MOST, CONFIDENCE)
        there = curve(locomo, [weights.of_prompt(one) for one in locomo], MOST, CONFIDENCE) if locomo else []
        found = [at_recall(points, recall) for points in (across, there) if points for recall in RECALLS]
        print(f"{name or '(all there)':12}", *(f"{one.precision:.3f}/{one.false_fire_rate:.2f}" for one in found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--features", action="store_true")
    parser.add_argument("--locomo", type=Path)
    given = parser.parse_args()
    prompts = list(chain.from_iterable(example_projects(LEARNED).values()))
    locomo = judged(given.locomo, Config()) if given.locomo else []
    values = fitted(prompts)
    print(values)
    if given.write:
        write(values)
    weights = fit(*labelled(prompts))
    print("\nthreshold, precision, its bound in another project, recall, fire rate, false-fire rate: across projects")
    print("\n".join(shown(one) for one in curve(prompts, held_out(prompts), MOST, CONFIDENCE)[::5]))
    print("\nprompts with turns before them, with these turns and without")
    print("\n".join(map(shown, with_and_without_turns())))
    if locomo:
        points = curve(locomo, [weights.of_prompt(one) for one in locomo], MOST, CONFIDENCE)
        print("\non LoCoMo")
        print("\n".join(map(shown, points[::5])))
    if given.features:
        print_features(prompts, locomo)


if __name__ == "__main__":
    main()
