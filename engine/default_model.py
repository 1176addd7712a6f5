"""The default cutoff model, for prompts and memories of any project.

`python -m tests.benchmarks.served --write` fits these numbers: to the corpus and the example projects, which were
written for this purpose, to labelled prompts on real public roots, and to facts from chats.
"""

INTERCEPT = -3.0962

WEIGHTS: dict[str, float] = {
    "strength": 0.387,
    "short": -5.1693,
    "short_rivals": -0.9524,
    "short_tag": 5.7292,
}

SCALES: dict[str, float] = {
    "strength": 2.294,
    "short": 0.3038,
    "short_rivals": 0.693,
    "short_tag": 0.3189,
    "lead": 0.4447,
    "names": 0.6433,
    "asked": 0.6778,
    "unknown": 0.2585,
}
"""Standard deviation of each feature in the example projects. `memsift tune` measures changes of weights in it."""

THRESHOLDS: dict[str, float] = {
    "strict": 0.376,
    "balanced": 0.241,
    "generous": 0.183,
}
"""Name -> least P(relevant) of an injected memory: it gives FALSE_FIRES on real roots, each measured with a model that
was fitted without it."""

FALSE_FIRES: dict[str, float] = {
    "strict": 0.02,
    "balanced": 0.1,
    "generous": 0.25,
}
"""Name -> of the prompts for which nothing is relevant, the largest share that may get something."""

MEASURED: dict[str, tuple[float, float]] = {
    "strict": (0.5, 0.85),
    "balanced": (0.65, 0.73),
    "generous": (0.73, 0.62),
}
"""Name -> (served, useful) on these roots: of the prompts that need a memory, those that get one they need; of the
injected memories, the useful ones."""

BALANCED = "balanced"
THRESHOLD = THRESHOLDS[BALANCED]

DOUBT = 0.12
"""Least P(relevant) of a memory that a judge is asked about."""


def threshold_of(value: float | str) -> float:
    """The least P(relevant) of a name in THRESHOLDS, or the number itself."""
    return THRESHOLDS[value] if isinstance(value, str) else value
