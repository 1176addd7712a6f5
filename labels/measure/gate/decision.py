"""The gate: is the precision that was asked for reached, missed, or not known yet?"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING

from labels.measure.stratified import Estimate, stratified_estimate
from labels.measure.stratified_sequence import stratified_interval

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from labels.measure.intervals import Interval
    from labels.measure.stratified import Counts

PASS, FAIL, UNDECIDED = VERDICTS = ("pass", "fail", "undecided")

FEWEST_TO_PLAN = 10
"""Prompts without which nothing is said about how many more are needed: too little is known of the precision."""

AHEAD = (5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500)
"""How many more prompts are considered; whoever would need more than the last is told that it cannot be said."""


@dataclass(frozen=True)
class Gate:
    """What was asked for: a precision of at least `least`, between 0 and 1.

    `zone` holds `least`; inside it either answer is fine. A system passes once its precision is surely at least
    `zone.low`, and fails once it is surely under `zone.high`; where both are sure, it passes.
    """

    least: float
    zone: Interval
    confidence: float = 0.95


@dataclass(frozen=True)
class Sample:
    """What is known of the precision of one system.

    `judged` are the (relevant, judged) counts of each prompt that is judged in full, in the order in which they were.
    `injected` is how many memories the system injects, at least 1, for every prompt of the frame for which it injects
    any, judged or not. `strata` is the stratum of each of these where the order of labelling was not random; empty
    means that it was.
    """

    judged: Mapping[str, Counts]
    injected: Mapping[str, int]
    strata: Mapping[str, Hashable] = field(default_factory=dict)

    @property
    def frame(self) -> dict[str, Hashable]:
        """The stratum of each prompt in the frame."""
        return {prompt_id: self.strata.get(prompt_id, "") for prompt_id in self.injected}

    @property
    def sequence(self) -> list[tuple[Hashable, Counts]]:
        """The stratum of each judged prompt and its counts, in order."""
        frame = self.frame
        return [(frame[prompt_id], counts) for prompt_id, counts in self.judged.items()]

    @property
    def shares(self) -> dict[Hashable, float]:
        """Each stratum's part of all that is injected."""
        sizes: Counter[Hashable] = Counter()
        for prompt_id, stratum in self.frame.items():
            sizes[stratum] += self.injected[prompt_id]
        return {stratum: size / sizes.total() for stratum, size in sizes.items()}

    @property
    def most(self) -> int:
        return max(self.injected.values(), default=1)


@dataclass(frozen=True)
class Decision:
    """The answer. `verdict` is one of VERDICTS.

    `live` is the interval in which precision is for sure: it may be looked at after every label. `estimate` is the best
    guess, with the interval for a single look; None before the first judged prompt. `more` is about how many prompts
    will still have to be judged if precision stays where it is; None where that cannot be said, or nothing is open.
    `left` prompts of the frame are not judged in full. `either`: precision is surely inside the indifference zone.
    """

    verdict: str
    live: Interval
    estimate: Estimate | None
    more: int | None
    left: int
    either: bool


def decide(sample: Sample, gate: Gate) -> Decision:
    """Whether the precision of *sample* meets *gate*.

    It is wrong with a probability of at most 1 - confidence, over all moments at which somebody may look: a precision
    under `zone.low` does not pass and one over `zone.high` does not fail.
    """
    live = stratified_interval(sample.sequence, sample.shares, sample.most, gate.confidence)
    estimate = stratified_estimate(sample.judged, sample.frame, gate.confidence)
    above, below = sides(live, gate)
    verdict = PASS if above else FAIL if below else UNDECIDED
    more = prompts_needed(sample, gate, estimate) if verdict == UNDECIDED and estimate else None
    return Decision(verdict, live, estimate, more, len(sample.injected) - len(sample.judged), above and below)


def sides(live: Interval, gate: Gate) -> tuple[bool, bool]:
    """Whether precision is surely high enough to pass, and surely low enough to fail."""
    return live.low >= gate.zone.low, live.high < gate.zone.high


def prompts_needed(sample: Sample, gate: Gate, estimate: Estimate) -> int | None:
    """About how many more prompts decide, if those to come are like those there are; None where it cannot be said.

    It cannot be said from fewer than FEWEST_TO_PLAN prompts, within a standard error of the gate, where not even the
    side is known, or where more than the last of AHEAD are needed.
    """
    far = max(estimate.value - gate.zone.low, gate.zone.high - estimate.value)
    if estimate.prompts < FEWEST_TO_PLAN or far < standard_error(estimate):
        return None
    judged, shares, most = sample.sequence, sample.shares, sample.most

    def is_decided(more: int) -> bool:
        longer = [judged[number % len(judged)] for number in range(len(judged) + more)]
        return any(sides(stratified_interval(longer, shares, most, gate.confidence), gate))

    # the interval narrows, so what decides with some prompts more decides with any further ones
    place = bisect_left(AHEAD, True, key=is_decided)
    return AHEAD[place] if place < len(AHEAD) else None


def standard_error(estimate: Estimate) -> float:
    return sqrt(estimate.value * (1 - estimate.value) / estimate.effective)
