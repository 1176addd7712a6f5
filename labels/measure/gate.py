"""The gate: are the precision and the served share that were asked for reached or missed, and would the judge pay?"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean, median, quantiles
from typing import TYPE_CHECKING

from engine.config import JUDGED
from engine.judge.verdict import MAX_UNANSWERED
from labels.measure.comparison import SystemComparison, comparison_of
from labels.measure.intervals import ANYTIME, LOOKS, ONCE, PLANNED, Interval, deciding_interval
from labels.measure.metrics import Headline, Ratio, false_fire_rate, headline
from labels.measure.report import MAX_UNJUDGED, Gaps, Later, Outdated, above, gaps_in, later_prompts, outdated_prompts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labels.measure.evidence import Evidence
    from labels.measure.intervals import Estimate
    from labels.measure.metrics import Sample
    from labels.records import JudgeCall, Outcome

PASS, FAIL, UNDECIDED = VERDICTS = ("pass", "fail", "undecided")

FEWEST_TO_PLAN = 10
"""Judged prompts below which no number of further prompts is estimated: too little is known of the precision."""

FEWEST_IN_NEED = 30
"""Prompts in need below which the served share is not decided: so few may be all of one sort."""

AHEAD = (5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500)
"""The numbers of further prompts that are considered. If the last is not enough, no number is given."""

MAX_UNLABELLED, MAX_LATER = 0.1, 1 / 3
"""The shares above which there is no answer: of memories without a label that counts, and of prompts after labels."""

PAYS, COSTS, UNCLEAR = "pays", "costs", "unclear"
"""The answers of `JudgeCase.answer`."""


@dataclass(frozen=True)
class Gate:
    """The precision, or the served share, that is asked for: at least `least`, between 0 and 1.

    `zone` is the indifference zone, which contains `least`: inside it either answer is fine. A system passes as soon as
    the interval of its precision is not below `zone.low`, and fails as soon as it is below `zone.high`. Where both are
    true, it passes. `looks` says when a person asks: PLANNED, ANYTIME or ONCE.
    """

    least: float
    zone: Interval
    looks: str = PLANNED


@dataclass(frozen=True, kw_only=True)
class GateDecision(Headline):
    """A headline with the answer. `verdict` is one of VERDICTS.

    `more` is about the number of further prompts that would decide, if precision stays where it is; None where that
    cannot be said, where a person looks only once, or the verdict is not UNDECIDED. `left` more prompts can be judged.
    `either`: `live` lies inside the indifference zone.
    """

    verdict: str
    more: int | None
    left: int
    either: bool


def decide(sample: Sample, gate: Gate) -> GateDecision:
    """Whether the precision of *sample* meets *gate*.

    The probability that a precision under `zone.low` passes, or one over `zone.high` fails, at any of the looks is at
    most .05.
    """
    found = headline(sample, gate.looks)
    verdict, estimate = verdict_of(found.live, gate), found.estimate
    is_open = verdict == UNDECIDED and gate.looks != ONCE
    more = prompts_needed(sample, gate, estimate) if is_open and estimate else None
    left, either = sample.whole - len(sample.judged), all(sides(found.live, gate))
    return GateDecision(**vars(found), verdict=verdict, more=more, left=left, either=either)


def verdict_of(live: Interval, gate: Gate) -> str:
    above, below = sides(live, gate)
    return PASS if above else FAIL if below else UNDECIDED


def sides(live: Interval, gate: Gate) -> tuple[bool, bool]:
    """Whether the interval is high enough to pass, and low enough to fail."""
    return live.low >= gate.zone.low, live.high < gate.zone.high


def prompts_needed(sample: Sample, gate: Gate, estimate: Estimate) -> int | None:
    """About the number of further prompts that would decide, if they are like the judged ones.

    None from fewer than FEWEST_TO_PLAN prompts, within a standard error of the gate (where not even the side is known),
    and where more than the last of AHEAD are needed.
    """
    far = max(estimate.value - gate.zone.low, gate.zone.high - estimate.value)
    standard_error = sqrt(estimate.value * (1 - estimate.value) / estimate.effective)
    if estimate.prompts < FEWEST_TO_PLAN or far < standard_error:
        return None
    counts = sample.counts
    looks = [look - len(counts) for look in LOOKS if look > len(counts)] if gate.looks == PLANNED else []
    ahead = [*looks, *(max(looks, default=0) + more for more in AHEAD)]

    def is_decided(more: int) -> bool:
        longer = [counts[number % len(counts)] for number in range(len(counts) + more)]
        return any(sides(deciding_interval(longer, sample.most, gate.looks), gate))

    # the interval only narrows, so a number that decides is followed by numbers that decide, too
    return next(iter(ahead[bisect_left(ahead, True, key=is_decided) :]), None)


# The report of a gate


@dataclass(frozen=True)
class Caveats:
    """The facts that forbid an answer for one system: it would be about something else than the question.

    Its prompts were replayed with other settings, the judge gave no answer on many (`unanswered`), labels were given
    with rank, score or verdict in view (`sighted`), `gaps` are many or matter, and many prompts are `later` than the
    labels. Each is None where it does not hold.
    """

    outdated: Outdated | None
    unanswered: Ratio | None
    sighted: Ratio | None
    gaps: Gaps | None
    later: Later | None

    @property
    def forbid(self) -> bool:
        return any(vars(self).values())


@dataclass(frozen=True)
class GateReport:
    """The decision on one system.

    `decision` is about precision. `served` is about the prompts that need a memory, with the same confidence, and
    `served_decision` the answer where a share of them was asked for. `verdict` is that of both: FAIL if one fails, PASS
    if none is open.

    `relevant` are the relevant memories, of those judged in the prompts that count; `silent` the prompts for which the
    system injects nothing, of all replayed ones; `false_fires` the prompts for which it injects something, of those for
    which nothing is relevant. `labels` is the number of labels. `failures` are the prompts without an answer of the
    judge, of those on which it was asked. Where `caveats` forbid an answer, the verdict is UNDECIDED.
    """

    system: str
    gate: Gate
    decision: GateDecision
    relevant: Ratio
    silent: Ratio
    false_fires: Ratio
    served: Headline
    least_served: float | None
    served_decision: GateDecision | None
    labels: int
    failures: Ratio
    caveats: Caveats
    judge: JudgeCase | None
    evidence: Evidence

    @property
    def verdict(self) -> str:
        found = [decision.verdict for decision in (self.decision, self.served_decision) if decision]
        return next((verdict for verdict in (FAIL, UNDECIDED) if verdict in found), PASS)

    @property
    def missing_in_need(self) -> int:
        """The number of prompts in need without which the served share is not decided."""
        return 0 if self.least_served is None else max(0, FEWEST_IN_NEED - self.served.relevant.whole)

    @property
    def pending(self) -> GateDecision:
        """The decision that more labels are needed for: that on precision, unless only the other one is open."""
        served = self.served_decision
        return served if served and served.verdict == UNDECIDED != self.decision.verdict else self.decision


def gate_report(
    evidence: Evidence,
    system: str,
    gate: Gate,
    worth: float | None = None,
    least_served: float | None = None,
    max_unlabelled: float = MAX_UNLABELLED,
) -> GateReport:
    """The answer for *system*, which must be one of the evidence's.

    *least_served* is a second condition, 0..1; it has no planned looks, and decides at any look. There is no answer if
    more than *max_unlabelled* of the memories, 0..1, are gaps.
    """
    evidence = evidence.ordered
    later = later_prompts(evidence, system)
    caveats = Caveats(
        outdated=outdated_prompts(evidence, system),
        unanswered=above(evidence.failures(system), MAX_UNANSWERED),
        sighted=evidence.facts.sighted,
        gaps=forbidding_gaps(evidence, system, gate, max_unlabelled),
        later=later if later and above(later.prompts, MAX_LATER) else None,
    )
    sample = evidence.sample(system)
    decision, rows, served = decide(sample, gate), evidence.of(system), evidence.served_sample(system)
    conditions, looks = [decision], ONCE if gate.looks == ONCE else ANYTIME
    if least_served is not None:
        condition = Gate(least_served, Interval(least_served, least_served), looks)
        conditions.append(decide(served, condition))
        if len(served.judged) < FEWEST_IN_NEED:
            conditions[-1] = replace(conditions[-1], verdict=UNDECIDED, more=None)
    if caveats.forbid:
        conditions = [replace(made, verdict=UNDECIDED) for made in conditions]
    tallies = [row.tally for row in evidence.tallied[system]]
    plain = system.removesuffix(JUDGED)
    has_both = {plain, plain + JUDGED} <= set(evidence.systems) and not evidence.is_dead(plain + JUDGED)
    return GateReport(
        system=system,
        gate=gate,
        decision=conditions[0],
        relevant=decision.relevant,
        silent=Ratio(sum(not row.injected for row in rows), len(rows)),
        false_fires=false_fire_rate(tallies, evidence.without_relevant),
        served=headline(served, looks),
        least_served=least_served,
        served_decision=conditions[1] if conditions[1:] else None,
        labels=evidence.judged.whole if evidence.is_qrels else len(evidence.labels),
        failures=evidence.failures(system),
        caveats=caveats,
        judge=judge_case(evidence, plain, plain + JUDGED, worth) if has_both else None,
        evidence=evidence,
    )


def forbidding_gaps(evidence: Evidence, system: str, gate: Gate, most: float) -> Gaps | None:
    """The gaps, if they are more than the share *most*; also if they are many and the verdict depends on them.

    With a limit above MAX_UNLABELLED, it does not matter whether the verdict depends on them.
    """
    gaps = gaps_in(evidence, system)
    if above(gaps.memories, most):
        return gaps
    if most > MAX_UNLABELLED or not above(gaps.memories, MAX_UNJUDGED):
        return None
    gapped = [row for row in evidence.of(system) if row.prompt_id in gaps.left]
    cases = [evidence, *(filled(evidence, gapped, is_relevant=is_relevant) for is_relevant in (True, False))]
    verdicts = {verdict_of(headline(case.sample(system), gate.looks).live, gate) for case in cases}
    return gaps if len(verdicts) > 1 else None


def filled(evidence: Evidence, gapped: Iterable[Outcome], *, is_relevant: bool) -> Evidence:
    """The evidence if every gap of the *gapped* outcomes were relevant, or if none were."""
    judgements, moments = dict(evidence.judgements), dict(evidence.moments or {})
    for row in gapped:
        known = moments.get(row.prompt_id, {})
        judgements[row.prompt_id] = dict.fromkeys(row.injected, is_relevant) | dict(judgements.get(row.prompt_id, {}))
        moments[row.prompt_id] = dict.fromkeys(row.injected, min(known.values(), default=0)) | dict(known)
    return replace(evidence, judgements=judgements, moments=moments)


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
        return {0: UNCLEAR, 1: PAYS, -1: COSTS}[gain.sign] if gain else None


def judge_case(evidence: Evidence, plain: str, judged: str, worth: float | None) -> JudgeCase | None:
    """The case for the system *judged* over *plain*; None if no prompt is completely judged for both.

    *worth* is the number of irrelevant memories saved that make up for one relevant memory lost.
    """
    comparison = comparison_of(evidence, (plain, judged), worth)
    own = [row.call for row in evidence.rows if row.system == judged and row.call]
    return JudgeCase(comparison, evidence.failures(judged), expense(own)) if comparison else None


def expense(calls: Iterable[JudgeCall]) -> Expense | None:
    """Time and price of each call, divided by its answers: a replay asks several times, the hook once."""
    live = [call for call in calls if call.is_live]
    if not live:
        return None
    times = [call.elapsed_ms / max(1, call.answers) for call in live]
    prices = [call.cost_usd / max(1, call.answers) for call in live if call.cost_usd is not None]
    p95 = quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]
    return Expense(len(live), median(times), p95, fmean(prices) if prices else None)
