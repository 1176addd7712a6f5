"""The default cutoff model, for prompts and memories of any project.

`python -m tests.benchmarks.default_model --write` fits these numbers to the example projects, which were written for
this purpose, and to nothing else.
"""

INTERCEPT = -2.5076

WEIGHTS: dict[str, float] = {
    "strength": 1.7119,
    "lead": 0.5983,
    "rivals": -0.5773,
    "tag": 1.5496,
    "names": -0.1464,
    "asked": -0.212,
    "unknown": -1.7964,
}

SCALES: dict[str, float] = {
    "strength": 0.3085,
    "lead": 0.502,
    "rivals": 0.7988,
    "tag": 0.4445,
    "names": 0.8727,
    "asked": 0.7821,
    "unknown": 0.2049,
}
"""Standard deviation of each feature in the example projects. `memsift tune` measures changes of weights in it."""

THRESHOLD = 0.6
"""Least P(relevant) of an injected memory: an irrelevant memory costs as much as one and a half missed ones."""

DOUBT = 0.02
"""Least P(relevant) of a memory that a judge is asked about: 5 % of the relevant memories lie below."""
