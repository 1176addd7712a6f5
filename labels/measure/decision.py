"""The gate's decision: is the precision that was asked for reached or missed, and would the judge pay for itself?"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, quantiles
from typing import TYPE_CHECKING

from labels.measure.comparison import SystemComparison, compare
from labels.measure.live_interval import stratified_interval
from labels.measure.metrics import Ratio
from labels.measure.strata import LabelledSample, StratifiedEstimate, stratified_estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labels.measure.evidence import Evidence
    from labels.measure.intervals import Interval
    from labels.records import JudgeCall


@dataclass(frozen=True)
class Headline:
    """The precision of one system, the same in report and gate: over the prompts that are completely judged.

    `relevant` counts their relevant memories, of the judged ones. `estimate` gives each stratum its share of the frame;
    None before the first such prompt. `live` is the interval that holds at any look.
    """

    relevant: Ratio
    estimate: StratifiedEstimate | None
    live: Interval


def headline(sample: LabelledSample, confidence: float = 0.95) -> Headline:
    counts = sample.judged.values()
    return Headline(
        Ratio(int(sum(x for x, _ in counts)), int(sum(m for _, m in counts))),
        stratified_estimate(sample.judged, sample.frame, confidence),
        stratified_interval(sample.sequence, sample.shares, sample.most, confidence),
    )


# The gate

PASS, FAIL, UNDECIDED = VERDICTS = ("pass", "fail", "undecided")

FEWEST_TO_PLAN = 10
"""Judged prompts below which no number of further prompts is estimated: too little is known of the precision."""

AHEAD = (5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500)
"""The numbers of further prompts that are considered. If the last is not enough, no number is given."""

PAYS, COSTS, UNCLEAR = "pays", "costs", "unclear"
"""The answers of `JudgeCase.answer`."""


@dataclass(frozen=True)
class Gate:
    """The precision that is asked for: at least `least`, between 0 and 1.

    `zone` is the indifference zone, which contains `least`: inside it either answer is fine. A system passes as soon as
    the interval of its precision is not below `zone.low`, and fails as soon as it is below `zone.high`. Where both are
    true, it passes. `is_one_look`: a person asks once, so the narrower interval for a single look decides.
    """

    least: float
    zone: Interval
    confidence: float = 0.95
    is_one_look: bool = False


@dataclass(frozen=True)
class GateDecision:
    """The answer. `verdict` is one of VERDICTS.

    `live` is the interval of precision that holds at any look, or with `Gate.is_one_look` at this one. `estimate` is
    the best estimate, with the interval for a single look; None before the first judged prompt. `more` is about the
    number of further prompts that would decide, if precision stays where it is; None where that cannot be said, where a
    person looks only once, or the verdict is not UNDECIDED. `left` prompts of the frame are not completely judged.
    `either`: `live` lies inside the indifference zone.
    """

    verdict: str
    live: Interval
    estimate: StratifiedEstimate | None
    more: int | None
    left: int
    either: bool


def decide(sample: LabelledSample, gate: Gate) -> GateDecision:
    """Whether the precision of *sample* meets *gate*.

    The probability that a precision under `zone.low` passes, or one over `zone.high` fails, at any look is at most
    1 - confidence; with `gate.is_one_look`, at the first look.
    """
    found = headline(sample, gate.confidence)
    interval, verdict, estimate = deciding(found, gate), verdict_of(found, gate), found.estimate
    is_open = verdict == UNDECIDED and not gate.is_one_look
    more = prompts_needed(sample, gate, estimate) if is_open and estimate else None
    left = len(sample.injected) - len(sample.judged)
    return GateDecision(verdict, interval, estimate, more, left, all(sides(interval, gate)))


def deciding(found: Headline, gate: Gate) -> Interval:
    """The interval that decides."""
    return found.estimate.interval if gate.is_one_look and found.estimate else found.live


def verdict_of(found: Headline, gate: Gate) -> str:
    above, below = sides(deciding(found, gate), gate)
    return PASS if above else FAIL if below else UNDECIDED


def sides(live: Interval, gate: Gate) -> tuple[bool, bool]:
    """Whether the interval is high enough to pass, and low enough to fail."""
    return live.low >= gate.zone.low, live.high < gate.zone.high


def prompts_needed(sample: LabelledSample, gate: Gate, estimate: StratifiedEstimate) -> int | None:
    """About the number of further prompts that would decide, if they are like the judged ones.

    None from fewer than FEWEST_TO_PLAN prompts, within a standard error of the gate (where not even the side is known),
    and where more than the last of AHEAD are needed.
    """
    far = max(estimate.value - gate.zone.low, gate.zone.high - estimate.value)
    if estimate.prompts < FEWEST_TO_PLAN or far < standard_error(estimate):
        return None
    judged, shares, most = sample.sequence, sample.shares, sample.most

    def is_decided(more: int) -> bool:
        longer = [judged[number % len(judged)] for number in range(len(judged) + more)]
        return any(sides(stratified_interval(longer, shares, most, gate.confidence), gate))

    # the interval only narrows, so a number that decides is followed by numbers that decide, too
    place = bisect_left(AHEAD, True, key=is_decided)
    return AHEAD[place] if place < len(AHEAD) else None


def standard_error(estimate: StratifiedEstimate) -> float:
    return sqrt(estimate.value * (1 - estimate.value) / estimate.effective)


# The judge


@dataclass(frozen=True)
class Expense:
    """The cost of asking the judge once for a prompt, over the *calls* that the cache did not answer.

    Milliseconds are the median and the 95th percentile. `cost_usd` is the mean in US dollars over the calls with a
    known price; None where no price is known.
    """

    calls: int
    median_ms: float
    p95_ms: float
    cost_usd: float | None


@dataclass(frozen=True)
class JudgeCase:
    """The system with a judge against the same system without it.

    `failures` are the prompts on which the judge gave no answer, of those on which it was asked; they are left out.
    `expense` is None where no call is recorded.
    """

    comparison: SystemComparison
    failures: Ratio
    expense: Expense | None

    @property
    def answer(self) -> str | None:
        """PAYS or COSTS if the interval of the gain excludes 0, else UNCLEAR; None if no worth was given."""
        gain = self.comparison.gain
        if gain is None:
            return None
        if gain.interval is None or gain.interval.low <= 0 <= gain.interval.high:
            return UNCLEAR
        return PAYS if gain.interval.low > 0 else COSTS


def judge_case(
    evidence: Evidence, calls: Sequence[JudgeCall], plain: str, judged: str, worth: float | None
) -> JudgeCase | None:
    """The case for the system *judged* over *plain*; None if no prompt is completely judged for both.

    *worth* is the number of irrelevant memories saved that make up for one relevant memory lost.
    """
    systems = plain, judged
    prompts, strata = evidence.finished(systems), evidence.strata_of(systems)
    comparison = compare(evidence.answered, evidence.judgements, systems, prompts, strata=strata, worth=worth)
    if comparison is None:
        return None
    own = expense([call for call in calls if call.system == judged])
    return JudgeCase(comparison, evidence.failures(judged), own)


def expense(calls: Iterable[JudgeCall]) -> Expense | None:
    """Time and price of each call, divided by its answers: a replay asks several times, the hook once."""
    live = [call for call in calls if call.is_live]
    if not live:
        return None
    times = [call.elapsed_ms / max(1, call.answers) for call in live]
    prices = [call.cost_usd / max(1, call.answers) for call in live if call.cost_usd is not None]
    p95 = quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]
    return Expense(len(live), median(times), p95, fmean(prices) if prices else None)
