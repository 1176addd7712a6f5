"""A regularised logistic regression whose weights have a fixed sign.

    minimise over b, w:  sum of ln(1 + exp(z)) - y z  +  sum of w^2 / (2 C),  z = b + sum of w x

with x in units of its standard deviation. It is scikit-learn's LogisticRegression(C=C), but with bounds on the weights,
which scikit-learn does not offer. The problem stays convex; L-BFGS-B solves it (Byrd, Lu, Nocedal and Zhu, SIAM J. Sci.
Comput. 16, 1995). The bounds keep few labels from teaching that a better match is less relevant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from sklearn.model_selection import GroupKFold

from engine.cutoff import CATEGORY, DIRECTIONS, FALLING, RISING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labels.tuning.examples import JudgedPrompt

    Numbers = np.ndarray[Any, np.dtype[np.float64]]
    Bounds = tuple[float | None, float | None]

C = 0.3
"""The strength of the weights against the penalty: the best of 0.03, 0.1, 0.3 and 1 on LoCoMo, at 30 to 300 prompts."""

FOLDS = 5
FREE: Bounds = (None, None)
BOUNDS: dict[int, Bounds] = {RISING: (0.0, None), FALLING: (None, 0.0)}


@dataclass(frozen=True)
class Weights:
    """Weights of the features in their own units, not standardised."""

    intercept: float
    by_feature: Mapping[str, float]

    def probabilities(self, rows: Sequence[Mapping[str, float]]) -> Numbers:
        z = [self.intercept + sum(w * row.get(name, 0.0) for name, w in self.by_feature.items()) for row in rows]
        return np.asarray(1 / (1 + np.exp(-np.array(z, float))))

    def of_prompt(self, prompt: JudgedPrompt) -> list[float]:
        """P(relevant) of each example."""
        return [float(p) for p in self.probabilities([example.features for example in prompt.examples])]


def fit(rows: Sequence[Mapping[str, float]], relevant: Sequence[bool]) -> Weights:
    """The weights that best predict *relevant* from *rows* of features. Zero weights are left out."""
    names = [*DIRECTIONS, *sorted({name for row in rows for name in row if name.startswith(CATEGORY)})]
    table = np.array([[row.get(name, 0.0) for name in names] for row in rows], float)
    scales = np.array([_scale(name, column) for name, column in zip(names, table.T, strict=True)])
    means = table.mean(axis=0)
    bounds = [FREE, *(BOUNDS.get(DIRECTIONS.get(name, 0), FREE) for name in names)]
    found = _minimised((table - means) / scales, np.array(relevant, float), bounds)
    weights = found[1:] / scales
    named = {name: round(float(weight), 6) for name, weight in zip(names, weights, strict=True) if abs(weight) > 1e-6}
    return Weights(round(float(found[0] - weights @ means), 6), named)


def out_of_fold(prompts: Sequence[JudgedPrompt]) -> list[list[float]]:
    """P(relevant) of every example, by weights that were fitted without its prompt: a list for each prompt."""
    count = min(FOLDS, len(prompts))
    ids = [prompt.prompt_id for prompt in prompts]
    found: list[list[float]] = [[] for _ in prompts]
    for others, own in GroupKFold(count, shuffle=True, random_state=0).split(prompts, groups=ids):
        weights = fit(*labelled([prompts[place] for place in others]))
        for place in own:
            found[place] = weights.of_prompt(prompts[place])
    return found


def labelled(prompts: Sequence[JudgedPrompt]) -> tuple[list[Mapping[str, float]], list[bool]]:
    """The features and the labels of all judged examples."""
    examples = [(one.features, one.is_relevant) for prompt in prompts for one in prompt.examples]
    known = [(row, is_relevant) for row, is_relevant in examples if is_relevant is not None]
    return [row for row, _ in known], [is_relevant for _, is_relevant in known]


def _scale(name: str, column: Numbers) -> float:
    """A rare category must not weigh more because it is rare, so categories keep their unit."""
    return 1.0 if name.startswith(CATEGORY) else float(column.std()) or 1.0


def _minimised(table: Numbers, y: Numbers, bounds: Sequence[Bounds]) -> Numbers:
    def loss(b: Numbers) -> tuple[float, Numbers]:
        z = table @ b[1:] + b[0]
        wrong = 1 / (1 + np.exp(-z)) - y
        value = np.logaddexp(0, z).sum() - y @ z + b[1:] @ b[1:] / (2 * C)
        return float(value), np.concatenate([[wrong.sum()], table.T @ wrong + b[1:] / C])

    return np.asarray(minimize(loss, np.zeros(table.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=bounds).x)
