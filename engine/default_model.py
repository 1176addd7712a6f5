"""The default cutoff model, for prompts and memories of any project.

`python -m tests.benchmarks.default_model --write` fits these numbers to the example projects, which were written for
this purpose, and to nothing else.
"""

INTERCEPT = -2.5237

WEIGHTS: dict[str, float] = {
    "strength": 1.7036,
    "lead": 0.6079,
    "rivals": -0.5669,
    "tag": 1.5559,
    "names": -0.1509,
    "asked": -0.2044,
    "unknown": -1.7898,
}

SCALES: dict[str, float] = {
    "strength": 0.3089,
    "lead": 0.5027,
    "rivals": 0.7975,
    "tag": 0.4426,
    "names": 0.8746,
    "asked": 0.7707,
    "unknown": 0.2034,
}
"""Standard deviation of each feature in the example projects. `memsift tune` measures changes of weights in it."""

THRESHOLD = 0.6
"""Least P(relevant) of an injected memory: an irrelevant memory costs as much as one and a half missed ones."""

DOUBT = 0.02
"""Least P(relevant) of a memory that a judge is asked about: 5 % of the relevant memories lie below."""
