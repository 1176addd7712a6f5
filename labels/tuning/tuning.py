"""From labels to a cutoff: the fitted model, the chosen threshold, and measures of both."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING

from sklearn.metrics import brier_score_loss

from engine.errors import TuningError
from labels.tuning.curve import NO_STRATA, curve, doubt, highest_bound, injected, judge_calls, judged, lowest_reaching
from labels.tuning.fitting import fit, labelled, out_of_fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.tuning.curve import Point, Probabilities, Strata
    from labels.tuning.examples import JudgedPrompt
    from labels.tuning.fitting import Weights

MIN_PROMPTS, MIN_EACH = 30, 20
"""The numbers of labelled prompts, and of relevant and of irrelevant memories, that a fit needs. With 30 prompts, the
precision on LoCoMo at a quarter of the recall is .59; with 60 prompts .60, with 1,100 prompts .62."""

BINS = 10


@dataclass(frozen=True)
class Reliability:
    """The examples whose P(relevant) lies in one tenth of 0..1: mean P, share of relevant examples, and number."""

    predicted: float
    observed: float
    count: int


@dataclass(frozen=True)
class Change:
    """An example that is injected without the cutoff (`before`), with it (`after`), or both."""

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

    `at` is the chosen point, None if no bound reaches the `target`; `reachable` is the point with the highest bound.
    `doubt` is the lower end of the judge's band; `asked` counts the prompts with a judge call, with the band and
    without. `brier` is the mean squared error of P(relevant), 0..1, and `base_rate` the share of relevant examples: a
    constant P = base_rate has a Brier score of base_rate (1 - base_rate).
    """

    weights: Weights
    target: float
    confidence: float
    points: tuple[Point, ...]
    at: Point | None
    reachable: Point | None
    doubt: float
    asked: tuple[int, int]
    brier: float
    base_rate: float
    reliability: tuple[Reliability, ...]
    changes: tuple[Change, ...]
    labels_hash: str
    prompts: int
    relevant: int
    not_relevant: int
    groups: int


def tune(
    prompts: Sequence[JudgedPrompt], target: float, confidence: float, max_inject: int, strata: Strata = NO_STRATA
) -> Tuning:
    """Fit a cutoff whose precision is at least *target* with *confidence* (0.5..1).

    With *strata*, precision is about all their prompts, whichever were labelled first. Raises TuningError for too few
    labels, with the missing numbers.
    """
    refuse_too_few(prompts)
    rows, relevant = labelled(prompts)
    probabilities = out_of_fold(prompts)
    points = curve(prompts, probabilities, max_inject, confidence, strata)
    at = lowest_reaching(points, target)
    low = doubt(prompts, probabilities, at.threshold) if at else 0.0
    known = judged(prompts, probabilities)
    return Tuning(
        weights=fit(rows, relevant),
        target=target,
        confidence=confidence,
        points=tuple(points),
        at=at,
        reachable=highest_bound(points),
        doubt=low,
        asked=(judge_calls(probabilities, low, at.threshold if at else low), judge_calls(probabilities, 0.0, inf)),
        brier=float(brier_score_loss(relevant, [p for p, _ in known])),
        base_rate=sum(relevant) / len(relevant),
        reliability=reliability(known),
        changes=changes(prompts, probabilities, at.threshold, max_inject) if at else (),
        labels_hash=labels_hash(prompts),
        prompts=len(prompts),
        relevant=sum(relevant),
        not_relevant=len(relevant) - sum(relevant),
        groups=len({one.group for one in prompts}),
    )


def refuse_too_few(prompts: Sequence[JudgedPrompt]) -> None:
    """Raise TuningError unless enough memories that reach the cutoff have labels."""
    judged = sum(any(one.is_relevant is not None for one in prompt.examples) for prompt in prompts)
    _, labels = labelled(prompts)
    relevant = sum(labels)
    others = len(labels) - relevant
    missing = {
        "prompts": MIN_PROMPTS - judged,
        "relevant memories": MIN_EACH - relevant,
        "memories that are not relevant": MIN_EACH - others,
    }
    if max(missing.values()) > 0:
        named = ", ".join(f"{count:,} {what}" for what, count in missing.items() if count > 0)
        raise TuningError(
            f"Too few labels to tune from: {judged:,} prompts, {relevant:,} relevant and {others:,} other memories "
            f"that reach the cutoff now. It takes {MIN_PROMPTS} prompts and {MIN_EACH} memories of each kind, so these "
            f"are missing: {named}."
        )


def reliability(known: Sequence[tuple[float, bool]]) -> tuple[Reliability, ...]:
    """Mean P and observed share by tenths of P, without empty tenths."""
    tenths: dict[int, list[tuple[float, bool]]] = {}
    for p, is_relevant in known:
        tenths.setdefault(min(BINS - 1, int(p * BINS)), []).append((p, is_relevant))
    pairs = (tenths[tenth] for tenth in sorted(tenths))
    return tuple(Reliability(fmean(p for p, _ in own), fmean(yes for _, yes in own), len(own)) for own in pairs)


def changes(
    prompts: Sequence[JudgedPrompt], probabilities: Probabilities, threshold: float, max_inject: int
) -> tuple[Change, ...]:
    """All examples that are injected without the cutoff or with it, by prompt, in rank order."""
    found = []
    for prompt, own in zip(prompts, probabilities, strict=True):
        before, after = ({one.memory_id for one in injected(prompt, own, p, max_inject)} for p in (0.0, threshold))
        for one, p in zip(prompt.examples, own, strict=True):
            was, will_be = one.memory_id in before, one.memory_id in after
            if was or will_be:
                about = (prompt.prompt_id, prompt.text, one.memory_id, one.title)
                found.append(Change(*about, p, one.is_relevant, was, will_be))
    return tuple(found)


def labels_hash(prompts: Sequence[JudgedPrompt]) -> str:
    """16 hex digits of a hash of all labelled examples."""
    lines = sorted(
        f"{prompt.prompt_id}\t{one.memory_id}\t{one.is_relevant}"
        for prompt in prompts
        for one in prompt.examples
        if one.is_relevant is not None
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]
