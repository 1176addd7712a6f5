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
"""Name -> least P(relevant) of an injected memory: at most 2, 10 and 25 % false fires on real roots, each measured with
a model that was fitted without it."""

THRESHOLD = THRESHOLDS["balanced"]

DOUBT = 0.15
"""Least P(relevant) of a memory that a judge is asked about: on real roots, it is asked about 3 memories of 3 in 4
prompts, and a needed memory is among these for 83 % of the prompts that need one."""


def threshold_of(value: float | str) -> float:
    """The least P(relevant) of a name in THRESHOLDS, or the number itself."""
    return THRESHOLDS[value] if isinstance(value, str) else value
