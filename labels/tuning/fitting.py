"""A regularised logistic regression whose weights have a fixed sign, around a prior.

    minimise over b, w:  sum of ln(1 + exp(z)) - y z  +  sum of (s (w - w0))^2 / (2 v)  +  (b - b0)^2 / (2 v_b)
    with z = b + sum of w x

The prior is the default model: weights w0, intercept b0, and s, the standard deviation of each feature in the example
projects. v and v_b say how far labels may move the weights and the intercept: it is the estimate of greatest posterior
probability with normal priors (Bishop, Pattern Recognition and Machine Learning, 2006, section 4.5).

The labels choose v and v_b, too: those of the greatest evidence, which is the probability of the labels over all
weights (Laplace's approximation, ibid. section 4.4.1). So few labels that agree with the default model leave it as it
is, and more labels, or labels that contradict it, move it as far as they say.

Labels of few prompts are alike by chance, and the evidence believes them. So `learn` goes only a part of the way from
the default model to the fit: mean^2 / (mean^2 + error^2) of the gain in log loss, measured on prompts that the fit has
not seen, with the standard error of its mean. The default model stays where they show no gain.

Without a prior, w0 = 0, b is free, and s is the standard deviation in the labels themselves: scikit-learn's
LogisticRegression(C=v), but with bounds on the weights, which scikit-learn does not offer. The problem is convex;
L-BFGS-B solves it (Byrd, Lu, Nocedal and Zhu, SIAM J. Sci. Comput. 16, 1995). The bounds keep few labels from teaching
that a better match is less relevant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.model_selection import GroupKFold

from engine import default_model
from engine.config import MEMSIFT
from engine.cutoff import DIRECTIONS, FALLING, RISING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from labels.tuning.examples import JudgedPrompt

    Numbers = np.ndarray[Any, np.dtype[np.float64]]
    Bounds = tuple[float | None, float | None]

FOLDS = 5
SMALLEST = 1e-9
"""The least probability that a loss is measured with."""

FREE: Bounds = (None, None)
BOUNDS: dict[int, Bounds] = {RISING: (0.0, None), FALLING: (None, 0.0)}


@dataclass(frozen=True)
class FeatureWeights:
    """Weights of the features in their own units, not standardised."""

    intercept: float
    by_feature: Mapping[str, float]

    def probabilities(self, rows: Sequence[Mapping[str, float]]) -> Numbers:
        z = [self.intercept + sum(w * row.get(name, 0.0) for name, w in self.by_feature.items()) for row in rows]
        return np.asarray(expit(np.array(z, float)))

    def moved(self, end: FeatureWeights, part: float) -> FeatureWeights:
        """The weights that lie a *part*, 0..1, of the way to those of *end*."""
        names = dict.fromkeys([*self.by_feature, *end.by_feature])
        between = {
            name: (1 - part) * self.by_feature.get(name, 0.0) + part * end.by_feature.get(name, 0.0) for name in names
        }
        intercept = (1 - part) * self.intercept + part * end.intercept
        return FeatureWeights(round(intercept, 6), {name: round(w, 6) for name, w in between.items() if w})

    def of_prompt(self, prompt: JudgedPrompt) -> list[float]:
        """P(relevant) of each example."""
        return [float(p) for p in self.probabilities([example.features for example in prompt.examples])]


@dataclass(frozen=True)
class Prior:
    """The weights before any label, the variances v of weights to choose from, and v_b / v (inf: a free intercept).

    `scales` are the units of the features; empty for their standard deviations in the labels.
    """

    weights: FeatureWeights = field(default_factory=lambda: FeatureWeights(0.0, {}))
    scales: Mapping[str, float] = field(default_factory=dict)
    variances: Sequence[float] = (1.0,)
    intercept_ratio: float = float("inf")


NOTHING = Prior()
"""For a fit from labels alone. Its variance is the best of 0.1, 0.3, 1 and 3 across the example projects."""

DEFAULT = Prior(
    FeatureWeights(default_model.INTERCEPT, default_model.WEIGHTS),
    default_model.SCALES,
    variances=(0.003, 0.03, 0.3, 3.0),
    intercept_ratio=30.0,
)
"""The default model."""


def prior_of(strategy: str) -> Prior:
    """The default model for the strategy that it was made for."""
    return DEFAULT if strategy == MEMSIFT else NOTHING


def fit(rows: Sequence[Mapping[str, float]], relevant: Sequence[bool], prior: Prior = NOTHING) -> FeatureWeights:
    """The weights that best predict *relevant* from *rows* of features, near the *prior*. Zero weights are left out."""
    table = np.array([[row.get(name, 0.0) for name in DIRECTIONS] for row in rows], float)
    scales = np.array(
        [prior.scales.get(name) or float(column.std()) or 1.0 for name, column in zip(DIRECTIONS, table.T, strict=True)]
    )
    before = [prior.weights.by_feature.get(name, 0.0) for name in DIRECTIONS] * scales
    start = np.concatenate([[prior.weights.intercept], before])
    stiffnesses = [1 / np.array([prior.intercept_ratio * v, *[v] * len(DIRECTIONS)]) for v in prior.variances]
    fits = [_minimise(table / scales, np.array(relevant, float), start, stiffness) for stiffness in stiffnesses]
    found, _ = max(fits, key=itemgetter(1))
    weights = zip(DIRECTIONS, found[1:] / scales, strict=True)
    named = {name: round(float(weight), 6) for name, weight in weights if abs(weight) > 1e-6}
    return FeatureWeights(round(float(found[0]), 6), named)


def learn(prompts: Sequence[JudgedPrompt], prior: Prior = NOTHING) -> FeatureWeights:
    """The weights that the labels of *prompts* teach: a fit, held back to the prior as far as unseen prompts say."""
    found = fit(*labelled(prompts), prior)
    return found if prior is NOTHING else prior.weights.moved(found, confirmed(prompts, prior))


def confirmed(prompts: Sequence[JudgedPrompt], prior: Prior) -> float:
    """The part of the way from the prior to a fit, 0..1, that prompts which the fit has not seen confirm."""
    known, gains = [prompt for prompt in prompts if labelled([prompt])[1]], []
    for others, places in _folds(known):
        weights = fit(*labelled(others), prior)
        gains += [_loss(known[place], prior.weights) - _loss(known[place], weights) for place in places]
    gained = fmean(gains or [0.0])
    return gained**2 / (gained**2 + variance(gains) / len(gains)) if gained > 0 else 0.0


def out_of_fold(prompts: Sequence[JudgedPrompt], prior: Prior = NOTHING) -> list[list[float]]:
    """P(relevant) of every example, by weights that were learned without its prompt: a list for each prompt."""
    found: list[list[float]] = [[] for _ in prompts]
    for others, places in _folds(prompts):
        weights = learn(others, prior)
        for place in places:
            found[place] = weights.of_prompt(prompts[place])
    return found


def labelled(prompts: Sequence[JudgedPrompt]) -> tuple[list[Mapping[str, float]], list[bool]]:
    """The features and the labels of all judged examples."""
    examples = [(example.features, example.is_relevant) for prompt in prompts for example in prompt.examples]
    known = [(row, is_relevant) for row, is_relevant in examples if is_relevant is not None]
    return [row for row, _ in known], [is_relevant for _, is_relevant in known]


def _folds(prompts: Sequence[JudgedPrompt]) -> Iterator[tuple[list[JudgedPrompt], list[int]]]:
    """(all other prompts, the places of its own) for each fold. A prompt that was drawn twice stays in one fold."""
    ids = [prompt.prompt_id for prompt in prompts]
    count = min(FOLDS, len({*ids}))
    folds = GroupKFold(count, shuffle=True, random_state=0).split(prompts, groups=ids) if count > 1 else ()
    for others, own in folds:
        yield [prompts[place] for place in others], list(own)


def _loss(prompt: JudgedPrompt, weights: FeatureWeights) -> float:
    """The sum of the log loss over the judged examples of a prompt."""
    rows, relevant = labelled([prompt])
    p = weights.probabilities(rows)
    return float(-np.log(np.clip(np.where(relevant, p, 1 - p), SMALLEST, 1)).sum())


def _minimise(table: Numbers, y: Numbers, start: Numbers, stiffness: Numbers) -> tuple[Numbers, float]:
    """The intercept and the weights, and the logarithm of the evidence.

    *stiffness*: 1 / variance of each, about *start*. With a variance of infinity the evidence is not defined, and the
    number means nothing.
    """

    def loss(b: Numbers) -> tuple[float, Numbers]:
        z, moved = table @ b[1:] + b[0], b - start
        wrong = expit(z) - y
        value = np.logaddexp(0, z).sum() - y @ z + moved @ (stiffness * moved) / 2
        return float(value), np.concatenate([[wrong.sum()], table.T @ wrong]) + stiffness * moved

    bounds = [FREE, *(BOUNDS.get(direction, FREE) for direction in DIRECTIONS.values())]
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    p, columns = expit(table @ best.x[1:] + best.x[0]), np.column_stack([np.ones(len(y)), table])
    curvature = (columns.T * (p * (1 - p))) @ columns + np.diag(stiffness)
    spread = np.log(stiffness[stiffness > 0]).sum() - np.linalg.slogdet(curvature)[1]
    return np.asarray(best.x), float(spread / 2 - best.fun)
