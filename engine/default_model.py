"""The default cutoff model, for prompts and memories of any project.

`python -m tests.benchmarks.default_model --write` fits these numbers to the example projects, which were written for
this purpose, and to nothing else.
"""

INTERCEPT = -2.6849

WEIGHTS: dict[str, float] = {
    "strength": 1.9082,
    "lead": 0.4709,
    "rivals": -0.62,
    "tag": 1.5704,
    "names": -0.1341,
    "asked": -0.2551,
    "unknown": -1.718,
}

SCALES: dict[str, float] = {
    "strength": 0.3051,
    "lead": 0.4966,
    "rivals": 0.7944,
    "tag": 0.4401,
    "names": 0.8722,
    "asked": 0.8508,
    "unknown": 0.2088,
}
"""Standard deviation of each feature in the example projects. `memsift tune` measures changes of weights in it."""

THRESHOLD = 0.6
"""Least P(relevant) of an injected memory: an irrelevant memory costs as much as one and a half missed ones."""

DOUBT = 0.02
"""Least P(relevant) of a memory that a judge is asked about: 5 % of the relevant memories lie below."""
