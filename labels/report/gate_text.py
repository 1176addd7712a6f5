"""What `memsift gate` says, for somebody at a terminal who has read no manual, and for a program."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from labels.measure.gate.decision import AHEAD, FEWEST_TO_PLAN, PASS, UNDECIDED
from labels.measure.gate.judge_case import COSTS, PAYS
from labels.report.figures import counted
from labels.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.comparison import Difference, SystemComparison
    from labels.measure.gate.decision import Gate
    from labels.measure.gate.judge_case import Expense, JudgeCase
    from labels.measure.gate.report import GateReport


def format_json(report: GateReport) -> str:
    """Every field of the report, and in `judge` what it comes to: `break_even` and `answer`."""
    row = asdict(report)
    if report.judge:
        row["judge"] |= {"break_even": report.judge.comparison.break_even, "answer": report.judge.answer}
    return json.dumps(row, indent=2) + "\n"


def format_text(report: GateReport) -> str:
    """The answer first, then what it stands on, what to do next, the judge, and what to keep in mind."""
    parts = [headline(report), *refusals(report), "\n".join(basis(report)), next_step(report)]
    if report.judge:
        parts.append("\n".join(judge_lines(report.judge)))
    if report.warnings:
        parts.append("\n".join(["Keep in mind", *(f"- {printable(each)}" for each in report.warnings)]))
    return "\n\n".join(part for part in parts if part) + "\n"


# The answer


def headline(report: GateReport) -> str:
    system, verdict = printable(report.system), report.decision.verdict
    if report.refusals:
        return f"UNDECIDED: the labels as they are cannot answer for {system}."
    if verdict == UNDECIDED:
        return f"UNDECIDED: it cannot be told yet whether {system} reaches a precision of {report.gate.least:.2f}."
    answer = f"{verdict.upper()}: {system} {'reaches' if verdict == PASS else 'does not reach'} "
    return answer + (f"about {report.gate.least:.2f}." if has_zone(report.gate) else f"{report.gate.least:.2f}.")


def refusals(report: GateReport) -> Iterator[str]:
    yield from map(printable, report.refusals)


def basis(report: GateReport) -> Iterator[str]:
    """What was found, how sure that is, and what was asked for."""
    decision, gate = report.decision, report.gate
    if decision.estimate is None:
        yield "No prompt for which it injects something is judged in full yet."
    else:
        counts = f"{report.relevant.part:,} of {report.relevant.whole:,} memories that it injected were relevant"
        prompts = counted(decision.estimate.prompts, "prompt", "prompts")
        raw = report.relevant.part / report.relevant.whole
        weighted = "" if abs(raw - decision.estimate.value) < 0.005 else ", with each kind of prompt at its true share"
        yield f"  found so far   {decision.estimate.value:.2f}   {counts}, on {prompts}{weighted}"
        yield f"  true value     {decision.live.low:.2f} to {decision.live.high:.2f}   {sureness(gate)}"
    yield f"  asked for      {gate.least:.2f}{tolerance(gate)}"
    if report.silent.part:
        silent = f"{report.silent.part:,} of {report.silent.whole:,} prompts"
        yield f"  left out       {silent}, for which it injects nothing"


def sureness(gate: Gate) -> str:
    cases = round(1 / (1 - gate.confidence))
    return f"right in {cases - 1} of {cases} cases at least, however often you look and whenever you stop"


def tolerance(gate: Gate) -> str:
    if not has_zone(gate):
        return ""
    return f"   and from {gate.zone.low:.2f} to {gate.zone.high:.2f} either answer will do"


def has_zone(gate: Gate) -> bool:
    return gate.zone.low < gate.zone.high


def next_step(report: GateReport) -> str:
    """How many more prompts it takes, where that is still the question."""
    decision = report.decision
    if decision.verdict != UNDECIDED or report.refusals:
        return ""
    if decision.more is None:
        return unknown_step(report)
    step = f"About {decision.more} more prompts would decide, if precision stays where it is."
    if decision.left >= decision.more:
        return f"{step} {decision.left} are there to be judged."
    return f"{step} {left_over(decision.left)}: add others with memsift replay --save."


def left_over(left: int) -> str:
    return f"Only {left} {'is' if left == 1 else 'are'} left to be judged" if left else "None is left to be judged"


def unknown_step(report: GateReport) -> str:
    estimate = report.decision.estimate
    if estimate is None or estimate.prompts < FEWEST_TO_PLAN:
        return (
            f"Judge {FEWEST_TO_PLAN} prompts, and it can be said how many it will take: mostly 25 to 35 if precision "
            "is 20 points from what you ask for, and about 100 if it is 10 points."
        )
    wider = "more" if has_zone(report.gate) else "--indifference 0.1, for example"
    return (
        f"How many more prompts would decide cannot be said: precision is too near {report.gate.least:.2f}, and "
        f"perhaps {AHEAD[-1]} would not do. If a few points do not matter to you, allow for them ({wider})."
    )


# The judge


def judge_lines(case: JudgeCase) -> Iterator[str]:
    found = case.comparison
    names = f"{printable(found.second)} against {printable(found.first)}"
    prompts = counted(found.prompts, "prompt", "prompts")
    yield f"Would the judge pay? {names}, on {prompts} for which either injects something"
    yield f"  irrelevant memories per prompt   {signed(found.irrelevant, 'more', 'fewer')}"
    yield f"  relevant memories per prompt     {signed(found.relevant, 'more', 'fewer')}"
    if found.precision:
        yield f"  precision                        {signed(found.precision, 'higher', 'lower')}"
    if case.expense:
        yield f"  each question to the judge       {spent(case.expense)}"
    if case.failures.part:
        yield f"  no answer from the judge         on {case.failures.part} of {case.failures.whole} prompts"
    yield conclusion(case)


def signed(difference: Difference, above: str, below: str) -> str:
    """0.48 fewer (0.20 to 0.75), or 0.06 more (0.15 fewer to 0.26 more)."""

    def written(value: float) -> str:
        return f"{abs(value):.2f} {above if value >= 0 else below}"

    best = "the same" if abs(difference.value) < 0.005 else written(difference.value)
    if difference.interval is None:
        return f"{best} (how sure that is cannot be said)"
    low, high = difference.interval.low, difference.interval.high
    if low < 0 < high:
        return f"{best} ({written(low)} to {written(high)})"
    near, far = sorted((abs(low), abs(high)))
    return f"{best} ({near:.2f} to {far:.2f})"


def spent(expense: Expense) -> str:
    price = "at a price that is not known" if expense.cost_usd is None else f"for ${expense.cost_usd:.5f} on average"
    slowest = f", over {expense.p95_ms:,.0f} ms in 1 of 20" if expense.calls >= 20 else ""
    calls = counted(expense.calls, "call", "calls")
    return f"{expense.median_ms:,.0f} ms at the median{slowest}, {price} ({calls} recorded)"


def conclusion(case: JudgeCase) -> str:
    return without_worth(case.comparison) if case.answer is None else with_worth(case.comparison, case.answer)


def with_worth(found: SystemComparison, answer: str) -> str:
    start = {PAYS: "It pays.", COSTS: "It does not pay."}.get(answer, "It cannot be told yet whether it pays.")
    if found.gain is None:
        return start
    change = signed(found.gain, "fewer", "more")
    rate = f"At {found.worth:g} irrelevant to one relevant memory"
    return f"{start} {rate}, the balance per prompt in irrelevant ones is {change}."


def without_worth(found: SystemComparison) -> str:
    """What the judge is a matter of, where it was not said what a relevant memory is worth."""
    if found.break_even is not None:
        return (
            f"On these prompts it spares {found.break_even:.1f} irrelevant memories for each relevant one that it "
            "loses: it pays if a relevant memory is worth less than that to you. Say what it is worth with --worth."
        )
    if found.irrelevant.value < 0:
        return "On these prompts it spares irrelevant memories and, on balance, loses no relevant one."
    if found.relevant.value > 0:
        return "On these prompts it brings relevant memories and, on balance, spares no irrelevant one."
    return "On these prompts it spares no irrelevant memory: there is nothing that would pay for it."
