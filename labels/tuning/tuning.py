"""From labels to a cutoff: the fitted model, the chosen threshold, and measures of both."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from sklearn.metrics import brier_score_loss

from engine.config import OFF
from engine.errors import TuningError
from engine.phrases.measuring import phrased_line
from engine.wording import counted
from labels.measure.curves import binned
from labels.tuning.curve import (
    MIN_GROUPS,
    choose,
    curve,
    doubt,
    injected,
    judge_calls,
    judged,
    measure_sets,
    named_thresholds,
    safest,
)
from labels.tuning.fitting import NOTHING, labelled, learn, out_of_fold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labels.tuning.curve import Probabilities, ThresholdPoint
    from labels.tuning.examples import Example, JudgedPrompt
    from labels.tuning.fitting import FeatureWeights, Prior


class Needs(NamedTuple):
    """The least numbers of labelled prompts, and of relevant and of irrelevant memories, for a fit."""

    prompts: int
    each: int


FROM_DEFAULT, FROM_NOTHING = Needs(20, 5), Needs(30, 20)
"""A fit around the default model, and a fit from labels alone. README.md has the learning curves of both."""

OWN, ELSEWHERE, NO_PROMISE = "the roots of the labels", "a root without labels", "none"
"""The roots for which a precision is promised."""


@dataclass(frozen=True)
class ReliabilityBin:
    """The examples whose P(relevant) lies in one tenth of 0..1: mean P, share of relevant examples, and number."""

    predicted: float
    observed: float
    count: int


@dataclass(frozen=True)
class ChangedExample:
    """An example that is injected today (`before`), with the new cutoff (`after`), or both."""

    prompt_id: str
    prompt: str
    memory_id: str
    title: str
    probability: float
    is_relevant: bool | None
    before: bool
    after: bool


@dataclass(frozen=True)
class Tuning:
    """A fit and its threshold. All measures are out of fold: on prompts that the weights were not fitted to.

    `at` is the chosen point, None if the `target` cannot be promised; `elsewhere` is the same for a root without
    labels. `reachable` is the safest point: its bound is the highest target that can be promised. `today` is what is
    injected today, with a cutoff of the kind `today_cutoff`. `is_from_default`: the fit started from the default model.
    For `silent` prompts no memory is known to be relevant. `roots` are those with labels, `groups` their number.
    `thresholds` are those of the names in `engine.config.THRESHOLDS`, empty where too few prompts are silent.
    `doubt` is the lower end of the judge's band; `asked` counts the prompts with a judge call, with the band and
    without. `brier` is the mean squared error of P(relevant), 0..1, and `base_rate` the share of relevant examples: a
    constant P = base_rate has a Brier score of base_rate (1 - base_rate). `has_phrases`: some of the memories were
    searched by phrases. `phrased` prompts were left out, because they are phrases now.
    """

    weights: FeatureWeights
    target: float
    confidence: float
    points: tuple[ThresholdPoint, ...]
    at: ThresholdPoint | None
    reachable: ThresholdPoint | None
    doubt: float
    asked: tuple[int, int]
    brier: float
    base_rate: float
    reliability: tuple[ReliabilityBin, ...]
    changes: tuple[ChangedExample, ...]
    labels_hash: str
    prompts: int
    relevant: int
    not_relevant: int
    groups: int
    elsewhere: ThresholdPoint | None
    today: ThresholdPoint
    today_cutoff: str
    is_from_default: bool
    silent: int
    roots: tuple[str, ...]
    thresholds: Mapping[str, float]
    has_phrases: bool
    phrased: int

    def promise_in(self, root: str) -> str | None:
        """The promise that holds in *root*: OWN, ELSEWHERE or NO_PROMISE; None if the model must not be used there."""
        if root in self.roots:
            return OWN if self.at else None
        if self.groups >= MIN_GROUPS:
            return ELSEWHERE if self.elsewhere else None
        return NO_PROMISE if self.at else None

    def point_for(self, promise: str) -> ThresholdPoint | None:
        """The point that keeps a promise."""
        return self.elsewhere if promise == ELSEWHERE else self.at


def tune(
    prompts: Sequence[JudgedPrompt],
    target: float,
    confidence: float,
    max_inject: int,
    prior: Prior = NOTHING,
    today_cutoff: str = OFF,
) -> Tuning:
    """Fit a cutoff around *prior* whose precision is at least *target* with *confidence* (0.5..1).

    *today_cutoff* is the kind of the cutoff in use (`engine.config.CUTOFFS`). Prompts that are phrases are left out.
    Raises TuningError for too few labels, with the missing numbers.
    """
    phrased = sum(prompt.is_phrase for prompt in prompts)
    prompts = [prompt for prompt in prompts if not prompt.is_phrase]
    refuse_too_few(prompts, FROM_NOTHING if prior is NOTHING else FROM_DEFAULT, phrased)
    _, relevant = labelled(prompts)
    probabilities = out_of_fold(prompts, prior)
    points = curve(prompts, probabilities, max_inject, confidence)
    groups = len({prompt.group for prompt in prompts})
    at, elsewhere = choose(points, target), choose(points, target, groups)
    low = doubt(prompts, probabilities, at.threshold) if at else 0.0
    known = judged(prompts, probabilities)
    today = [[example for example in prompt.examples if example.memory_id in prompt.today] for prompt in prompts]
    least = at or elsewhere
    return Tuning(
        weights=learn(prompts, prior),
        target=target,
        confidence=confidence,
        points=tuple(points),
        at=at,
        reachable=safest(points),
        doubt=low,
        asked=(judge_calls(probabilities, low, at.threshold if at else low), judge_calls(probabilities, 0.0, inf)),
        brier=float(brier_score_loss(relevant, [p for p, _ in known])),
        base_rate=sum(relevant) / len(relevant),
        reliability=tuple(
            ReliabilityBin(fmean(p for p, _ in own), fmean(yes for _, yes in own), len(own)) for own in binned(known)
        ),
        changes=changes(prompts, today, probabilities, least.threshold, max_inject) if least else (),
        labels_hash=labels_hash(prompts),
        prompts=len(prompts),
        relevant=sum(relevant),
        not_relevant=len(relevant) - sum(relevant),
        groups=groups,
        elsewhere=elsewhere,
        today=measure_sets(prompts, today, 0.0, confidence),
        today_cutoff=today_cutoff,
        is_from_default=prior is not NOTHING,
        silent=sum(prompt.needs_nothing for prompt in prompts),
        roots=tuple(sorted({prompt.group for prompt in prompts if labelled([prompt])[1]})),
        thresholds=named_thresholds(prompts, probabilities),
        has_phrases=any(prompt.has_phrases for prompt in prompts),
        phrased=phrased,
    )


def refuse_too_few(prompts: Sequence[JudgedPrompt], needs: Needs, phrased: int) -> None:
    """Raise TuningError unless enough memories that reach the cutoff have labels. *phrased* prompts were left out."""
    judged = sum(bool(labelled([prompt])[1]) for prompt in prompts)
    _, labels = labelled(prompts)
    relevant = sum(labels)
    others = len(labels) - relevant
    missing = [
        (needs.prompts - judged, "prompt"),
        (needs.each - relevant, "relevant memory"),
        (needs.each - others, "irrelevant memory"),
    ]
    if named := [counted(count, noun) for count, noun in missing if count > 0]:
        raise TuningError(
            f"Too few labels to tune: {counted(relevant + others, 'label')} on {counted(judged, 'prompt')} count, "
            f"{relevant:,} relevant. It takes {needs.prompts} prompts, {needs.each} relevant and {needs.each} "
            f"irrelevant memories. Missing: {', '.join(named)}. "
            f"{''.join(f'{said} ' for said in phrased_line(phrased))}Next: label more prompts: memsift, then L."
        )


def changes(
    prompts: Sequence[JudgedPrompt],
    today: Sequence[Sequence[Example]],
    probabilities: Probabilities,
    threshold: float,
    max_inject: int,
) -> tuple[ChangedExample, ...]:
    """All examples that are injected today or with the new cutoff, by prompt, in rank order."""
    found = []
    for prompt, now, own in zip(prompts, today, probabilities, strict=True):
        before = {example.memory_id for example in now}
        after = {example.memory_id for example, _ in injected(prompt, own, threshold, max_inject)}
        for example, p in zip(prompt.examples, own, strict=True):
            was, will_be = example.memory_id in before, example.memory_id in after
            if was or will_be:
                about = (prompt.prompt_id, prompt.text, example.memory_id, example.title)
                found.append(ChangedExample(*about, p, example.is_relevant, was, will_be))
    return tuple(found)


def labels_hash(prompts: Sequence[JudgedPrompt]) -> str:
    """16 hex digits of a hash of all labelled examples."""
    lines = sorted(
        f"{prompt.prompt_id}\t{example.memory_id}\t{example.is_relevant}"
        for prompt in prompts
        for example in prompt.examples
        if example.is_relevant is not None
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]
