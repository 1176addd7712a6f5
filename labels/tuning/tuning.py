"""Labels -> a cutoff: the model, the threshold that keeps the promise, and what both are worth."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING

from sklearn.metrics import brier_score_loss

from engine.errors import TuningError
from labels.tuning.curve import NO_STRATA, asked, best, chosen, curve, doubt, injected
from labels.tuning.fitting import fit, labelled, out_of_fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labels.tuning.curve import Point, Probabilities, Strata
    from labels.tuning.examples import Example, JudgedPrompt
    from labels.tuning.fitting import Weights

MIN_PROMPTS = 30
MIN_EACH = 20
"""Labels of either kind. From 30 prompts and their top three on a model is worth having: on LoCoMo its precision at a
quarter of the recall is .59, that of 60 prompts .60, of 1,100 .62."""

BINS = 10


@dataclass(frozen=True)
class Reliability:
    """The `count` examples whose P(relevant) lies in one tenth of 0..1: its mean, and the share that is relevant."""

    predicted: float
    observed: float
    count: int


@dataclass(frozen=True)
class Change:
    """What the cutoff does with one example that is injected without it, or would be with it."""

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
    """A fit. `at` is the point that reaches the `target`, None if none does; `reachable` the one that comes nearest.

    `doubt` is where the judge's band begins; `asked`, for how many prompts a judge is asked with it, and without.
    `brier` is the mean squared error of P(relevant), 0..1, and `base_rate` the share of examples that are relevant: to
    say that for every one would have a Brier score of base_rate (1 - base_rate). All figures are out of fold.
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
    prompts: Sequence[JudgedPrompt], target: float, confidence: float, most: int, strata: Strata = NO_STRATA
) -> Tuning:
    """Fit a cutoff that is right in *target* of what it injects, with *confidence* (0.5..1).

    *most* are injected for a prompt. With *strata*, the promise is about all their prompts, in the proportions in which
    they come, whichever of them were labelled first. Raises TuningError for too few labels, saying how many more it
    takes.
    """
    refuse_too_few(prompts)
    rows, relevant = labelled(prompts)
    given = out_of_fold(prompts)
    points = curve(prompts, given, most, confidence, strata)
    at = chosen(points, target)
    least = doubt(prompts, given, at.threshold) if at else 0.0
    known = [p for p, one in _examples(prompts, given) if one.is_relevant is not None]
    return Tuning(
        weights=fit(rows, relevant),
        target=target,
        confidence=confidence,
        points=tuple(points),
        at=at,
        reachable=best(points),
        doubt=least,
        asked=(asked(given, least, at.threshold if at else least), asked(given, 0.0, inf)),
        brier=float(brier_score_loss(relevant, known)),
        base_rate=sum(relevant) / len(relevant),
        reliability=reliability(relevant, known),
        changes=changes(prompts, given, at.threshold, most) if at else (),
        labels_hash=labels_hash(prompts),
        prompts=len(prompts),
        relevant=sum(relevant),
        not_relevant=len(relevant) - sum(relevant),
        groups=len({one.group for one in prompts}),
    )


def refuse_too_few(prompts: Sequence[JudgedPrompt]) -> None:
    """Raise TuningError unless there are enough labels of memories that reach the cutoff."""
    judged = [one for one in prompts if any(each.is_relevant is not None for each in one.examples)]
    _, relevant = labelled(prompts)
    missing = [
        _missing(MIN_PROMPTS - len(judged), "prompts"),
        _missing(MIN_EACH - sum(relevant), "relevant memories"),
        _missing(MIN_EACH - (len(relevant) - sum(relevant)), "memories that are not relevant"),
    ]
    if any(missing):
        raise TuningError(
            f"Too few labels to tune from: {len(judged):,} prompts, {sum(relevant):,} memories relevant and "
            f"{len(relevant) - sum(relevant):,} not, of those that are found now. It takes {MIN_PROMPTS} prompts and "
            f"{MIN_EACH} of each, so these are missing: {', '.join(filter(None, missing))}."
        )


def reliability(relevant: Sequence[bool], probabilities: Sequence[float]) -> tuple[Reliability, ...]:
    """How often what was said to be relevant with some probability is, by tenths of it; empty ones left out."""
    tenths: dict[int, list[tuple[float, bool]]] = {}
    for p, is_relevant in zip(probabilities, relevant, strict=True):
        tenths.setdefault(min(BINS - 1, int(p * BINS)), []).append((p, is_relevant))
    pairs = (tenths[tenth] for tenth in sorted(tenths))
    return tuple(Reliability(fmean(p for p, _ in one), fmean(yes for _, yes in one), len(one)) for one in pairs)


def changes(prompts: Sequence[JudgedPrompt], given: Probabilities, threshold: float, most: int) -> tuple[Change, ...]:
    """Everything that is injected without the cutoff or with it, by prompt, in rank order."""
    found = []
    for prompt, probabilities in zip(prompts, given, strict=True):
        before = {one.memory_id for one in injected(prompt, probabilities, 0.0, most)}
        after = {one.memory_id for one in injected(prompt, probabilities, threshold, most)}
        found += [
            Change(
                prompt.prompt_id,
                prompt.text,
                one.memory_id,
                one.title,
                p,
                one.is_relevant,
                one.memory_id in before,
                one.memory_id in after,
            )
            for one, p in zip(prompt.examples, probabilities, strict=True)
            if one.memory_id in before | after
        ]
    return tuple(found)


def labels_hash(prompts: Sequence[JudgedPrompt]) -> str:
    """16 hex digits for what was learned from."""
    lines = sorted(
        f"{prompt.prompt_id}\t{one.memory_id}\t{one.is_relevant}"
        for prompt in prompts
        for one in prompt.examples
        if one.is_relevant is not None
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _examples(prompts: Sequence[JudgedPrompt], given: Probabilities) -> Iterable[tuple[float, Example]]:
    for prompt, probabilities in zip(prompts, given, strict=True):
        yield from zip(probabilities, prompt.examples, strict=True)


def _missing(count: int, what: str) -> str:
    return f"{count:,} {what}" if count > 0 else ""
