"""The default cutoff model, for prompts and memories of any project.

`python -m tests.benchmarks.default_model --write` fits these numbers to the example projects, which were written for
this purpose, and to nothing else.
"""

INTERCEPT = -3.3

WEIGHTS: dict[str, float] = {
    "strength": 0.5,
}

SCALES: dict[str, float] = {
    "strength": 1.0,
    "short": 0.3,
    "short_rivals": 0.5,
    "short_tag": 0.3,
    "lead": 0.5,
    "names": 0.87,
    "asked": 0.77,
    "unknown": 0.2,
}
"""Standard deviation of each feature in the example projects. `memsift tune` measures changes of weights in it."""

THRESHOLD = 0.35
"""Least P(relevant) of an injected memory: an irrelevant memory costs as much as one and a half missed ones."""

DOUBT = 0.02
"""Least P(relevant) of a memory that a judge is asked about: 5 % of the relevant memories lie below."""
