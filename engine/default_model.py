"""The default cutoff model, for prompts and memories of any project.

`python -m tests.benchmarks.default_model --write` fits these numbers to the example projects, which were written for
this purpose, and to nothing else.
"""

INTERCEPT = -2.5126

WEIGHTS: dict[str, float] = {
    "strength": 1.7171,
    "lead": 0.5839,
    "rivals": -0.5918,
    "tag": 1.5575,
    "names": -0.1449,
    "asked": -0.2127,
    "unknown": -1.7752,
}

SCALES: dict[str, float] = {
    "strength": 0.3089,
    "lead": 0.5029,
    "rivals": 0.7978,
    "tag": 0.4446,
    "names": 0.8737,
    "asked": 0.7827,
    "unknown": 0.2048,
}
"""Standard deviation of each feature in the example projects. `memsift tune` measures changes of weights in it."""

THRESHOLD = 0.6
"""Least P(relevant) of an injected memory: an irrelevant memory costs as much as one and a half missed ones."""

DOUBT = 0.02
"""Least P(relevant) of a memory that a judge is asked about: 5 % of the relevant memories lie below."""
