"""The default cutoff model, for prompts and memories of any project.

`python -m tests.benchmarks.served --write` fits these numbers: to the corpus and the example projects, which were
written for this purpose, to labelled prompts on real public roots, and to facts from chats.
"""

INTERCEPT = -3.0135

WEIGHTS: dict[str, float] = {"strength": 0.3737, "short": -5.2695, "short_rivals": -0.9162, "short_tag": 5.9091}

SCALES: dict[str, float] = {
    "strength": 2.2952,
    "short": 0.3039,
    "short_rivals": 0.6932,
    "short_tag": 0.319,
    "lead": 0.4444,
    "names": 0.6432,
    "asked": 0.6778,
    "unknown": 0.2588,
}
"""Standard deviation of each feature in the example projects. `memsift tune` measures changes of weights in it."""

THRESHOLDS: dict[str, float] = {"strict": 0.371, "balanced": 0.245, "generous": 0.188}
"""Name -> least P(relevant) of an injected memory: it gives FALSE_FIRES on real roots, each measured with a model that
was fitted without it."""

FALSE_FIRES: dict[str, float] = {"strict": 0.02, "balanced": 0.1, "generous": 0.25}
"""Name -> of the prompts for which nothing is relevant, the largest share that may get something."""

MEASURED: dict[str, tuple[float, float]] = {"strict": (0.5, 0.86), "balanced": (0.65, 0.74), "generous": (0.72, 0.63)}
"""Name -> (served, useful) on these roots: of the prompts that need a memory, those that get one they need; of the
injected memories, the useful ones."""

BALANCED = "balanced"
THRESHOLD = THRESHOLDS[BALANCED]

DOUBT = 0.15
"""Least P(relevant) of a memory that a judge is asked about: on real roots, it is asked about 3 memories of 3 in 4
prompts, and a needed memory is among these for 83 % of the prompts that need one. For 100 prompts a day these are about
2,250 questions of 650 tokens a month."""
