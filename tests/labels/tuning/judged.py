"""Labelled prompts: made by hand, or drawn from a seeded world with known weights."""

from collections.abc import Sequence
from math import exp
from random import Random

from engine.cutoff import DIRECTIONS
from labels.tuning.examples import Example, JudgedPrompt

TRUE_WEIGHTS = {"lead": 6.0, "strength": 2.0, "short_tag": 1.5}
TRUE_INTERCEPT = -6.0


def example(memory_id: str, is_relevant: bool | None, **features: float) -> Example:
    return Example(memory_id, f"Title of {memory_id}", features, is_relevant)


def judged(prompt_id: str, *examples: Example, relevant: int | None = None, group: str = "") -> JudgedPrompt:
    """A prompt. *relevant* defaults to the number of relevant examples. Today the first three are injected."""
    known = sum(one.is_relevant is True for one in examples)
    today = frozenset(one.memory_id for one in examples[:3])
    number = known if relevant is None else relevant
    return JudgedPrompt(prompt_id, f"Text of {prompt_id}", number, examples, group, today)


def labels_only(prompt_id: str, *labels: bool | None, group: str = "") -> JudgedPrompt:
    """A prompt whose examples have labels and no features."""
    return judged(prompt_id, *(example(f"m{i}", label) for i, label in enumerate(labels)), group=group)


def world(count: int, seed: int = 1, groups: Sequence[str] = ("",), size: int = 4) -> list[JudgedPrompt]:
    """Prompts whose memories are relevant with the probability of TRUE_WEIGHTS."""
    random = Random(seed)
    return [
        judged(f"p{seed}-{i}", *(drawn(random, f"m{j}") for j in range(size)), group=groups[i % len(groups)])
        for i in range(count)
    ]


def drawn(random: Random, memory_id: str) -> Example:
    features = {name: random.random() for name in DIRECTIONS}
    return example(memory_id, random.random() < true_probability(features), **features)


def true_probability(features: dict[str, float]) -> float:
    z = TRUE_INTERCEPT + sum(weight * features[name] for name, weight in TRUE_WEIGHTS.items())
    return 1 / (1 + exp(-z))
