"""The default cutoff model, for prompts and memories of any project.

`python -m tests.benchmarks.served --write` fits these numbers: to the corpus and the example projects, which were
written for this purpose, to labelled prompts on real public roots, and to facts from chats.
"""

INTERCEPT = -2.7738

WEIGHTS: dict[str, float] = {"strength": 0.2932, "short": -1.2783, "short_rivals": -1.0284, "short_tag": 2.3599}

SCALES: dict[str, float] = {
    "strength": 2.5192,
    "short": 0.3059,
    "short_rivals": 0.6897,
    "short_tag": 0.3152,
    "lead": 0.4406,
    "names": 0.6332,
    "asked": 0.6573,
    "unknown": 0.2916,
}
"""Standard deviation of each feature in the example projects. `memsift tune` measures changes of weights in it."""

THRESHOLDS: dict[str, float] = {"strict": 0.341, "balanced": 0.236, "generous": 0.184}
"""Name -> least P(relevant) of an injected memory: it gives FALSE_FIRES on real roots, each measured with a model that
was fitted without it."""

FALSE_FIRES: dict[str, float] = {"strict": 0.02, "balanced": 0.1, "generous": 0.25}
"""Name -> of the prompts for which nothing is relevant, the largest share that may get something."""

MEASURED: dict[str, tuple[float, float]] = {"strict": (0.42, 0.87), "balanced": (0.54, 0.74), "generous": (0.62, 0.64)}
"""Name -> (served, useful) on these roots: of the prompts that need a memory, those that get one they need; of the
injected memories, the useful ones."""

THRESHOLDS_WITH_PHRASES: dict[str, float] = {"strict": 0.478, "balanced": 0.264, "generous": 0.208}
"""THRESHOLDS where the memories have phrases by which they are asked for: the same weights, measured with phrases."""

BALANCED = "balanced"
THRESHOLD = THRESHOLDS[BALANCED]

DOUBT = 0.15
"""Least P(relevant) of a memory that a judge is asked about: on real roots, it is asked about 3 memories of 3 in 4
prompts, and a needed memory is among these for 83 % of the prompts that need one. For 100 prompts a day these are about
2,250 questions of 650 tokens a month."""
