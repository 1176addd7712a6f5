"""The default cutoff model, for prompts and memories of any project.

`python -m tests.benchmarks.default_model --write` fits these numbers to the example projects, which were written for
this purpose, and to nothing else.
"""

INTERCEPT = -2.5181

WEIGHTS: dict[str, float] = {
    "strength": 1.7077,
    "lead": 0.6059,
    "rivals": -0.5699,
    "tag": 1.5516,
    "names": -0.1472,
    "asked": -0.2086,
    "unknown": -1.7959,
}

SCALES: dict[str, float] = {
    "strength": 0.3087,
    "lead": 0.5032,
    "rivals": 0.7987,
    "tag": 0.4444,
    "names": 0.8738,
    "asked": 0.7812,
    "unknown": 0.205,
}
"""Standard deviation of each feature in the example projects. `memsift tune` measures changes of weights in it."""

THRESHOLD = 0.6
"""Least P(relevant) of an injected memory: an irrelevant memory costs as much as one and a half missed ones."""

DOUBT = 0.02
"""Least P(relevant) of a memory that a judge is asked about: 5 % of the relevant memories lie below."""
