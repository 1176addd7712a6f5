"""Whether switching the judge on would pay: what it takes away, what it costs, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, median, quantiles
from typing import TYPE_CHECKING

from labels.measure.comparison import SystemComparison, compare
from labels.measure.metrics import Ratio, judge_failures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from labels.measure.gate.evidence import Evidence
    from labels.records import JudgeCall

PAYS, COSTS, UNCLEAR = "pays", "costs", "unclear"
"""What `JudgeCase.answer` can be."""


@dataclass(frozen=True)
class Expense:
    """What asking the judge once for a prompt takes, over *calls* that were made and not answered by the cache.

    Milliseconds at the median and at the 95th percentile, and US dollars on average over those whose price is known;
    None where none is.
    """

    calls: int
    median_ms: float
    p95_ms: float
    cost_usd: float | None


@dataclass(frozen=True)
class JudgeCase:
    """The judged system against the same one without the judge.

    `failures` are the prompts on which the judge gave no answer, of those on which it was asked; they count with what
    was injected instead. `expense` is None where nothing is recorded.
    """

    comparison: SystemComparison
    failures: Ratio
    expense: Expense | None

    @property
    def answer(self) -> str | None:
        """PAYS or COSTS if the interval of the gain says so, else UNCLEAR; None if it was not said what it is worth."""
        gain = self.comparison.gain
        if gain is None:
            return None
        if gain.interval is None or gain.interval.low <= 0 <= gain.interval.high:
            return UNCLEAR
        return PAYS if gain.interval.low > 0 else COSTS


def judge_case(evidence: Evidence, plain: str, judged: str, worth: float | None) -> JudgeCase | None:
    """The case for the system *judged* over *plain*; None if no prompt is judged in full for both.

    *worth* is how many irrelevant memories less make up for one relevant memory less.
    """
    systems = plain, judged
    prompts = evidence.finished(systems)
    found = compare(
        evidence.rows, evidence.judgements, systems, prompts, strata=evidence.strata_of(systems), worth=worth
    )
    if found is None:
        return None
    return JudgeCase(
        found, judge_failures(evidence.of(judged)), expense([call for call in evidence.calls if call.system == judged])
    )


def expense(calls: Iterable[JudgeCall]) -> Expense | None:
    """Each call's time and price by the number of its answers: a replay asks several times, the hook once."""
    live = [call for call in calls if call.is_live]
    if not live:
        return None
    times = [call.elapsed_ms / max(1, call.answers) for call in live]
    return Expense(len(live), median(times), percentile_95(times), mean_cost(live))


def percentile_95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def mean_cost(calls: Sequence[JudgeCall]) -> float | None:
    prices = [call.cost_usd / max(1, call.answers) for call in calls if call.cost_usd is not None]
    return fmean(prices) if prices else None
