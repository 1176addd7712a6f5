"""The report of `memsift gate` as JSON, and as text for a person at a terminal who has read no manual."""

from __future__ import annotations

from dataclasses import asdict
from math import ceil
from textwrap import fill
from typing import TYPE_CHECKING

from engine.config import CUTS, TUNED
from engine.lean.json_text import printed_json
from engine.wording import counted
from labels.measure.gate import AHEAD, COSTS, FAIL, FEWEST_IN_NEED, FEWEST_TO_PLAN, PASS, PAYS, UNCLEAR, UNDECIDED
from labels.measure.intervals import ANYTIME, ONCE, PLANNED
from labels.measure.report import gaps_in
from labels.report.first_lines import (
    BY_MORE,
    BY_TARGET,
    BY_WORST,
    IN_LABEL,
    IN_WHATIF,
    LABEL,
    NOTHING,
    REPLAY,
    Step,
    open_lines,
    other_line,
    precision_lines,
    scope_lines,
    served_line,
)
from labels.report.forms import WIDTH, as_item, step_lines, wrapped
from labels.report.notes import refusals, warnings
from labels.report.section import UNKNOWN, part_of, percent, printable, sentence, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.measure.comparison import Difference, SystemComparison
    from labels.measure.gate import Expense, GateReport, JudgeCase
    from labels.report.notes import Refusal

VERDICTS = {PASS: "PASS", FAIL: "FAIL", UNDECIDED: "Not decided yet,"}
REACHES = {PASS: "reaches", FAIL: "does not reach", UNDECIDED: "may or may not reach"}
SERVES = {PASS: "serves", FAIL: "does not serve", UNDECIDED: "may or may not serve"}
"""By verdict: the first words, and those before the precision and before the served share that was asked for."""

MORE, WIDEST = 20, 0.2
"""Prompts to label next if the number that decides is not known; the widest indifference zone that is proposed."""

RIGHT = {
    PLANNED: "right in 19 of 20 cases, with looks at 20, 45, 70 and 100 prompts",
    ANYTIME: "right in 19 of 20 cases at least, however often you look and whenever you stop",
    ONCE: "right in about 19 of 20 cases, if this is the first and last time that you ask",
}
"""By when a person looks: how sure the interval is."""

ASKED_ONCE = "If you ask only once, --one-look has a narrower range; --full says what it costs."
RULE_OF_THREE = 3
"""Something that never happened in n draws has a probability below 3 / n, with 95 % confidence.

Source: J. Hanley and A. Lippman-Hand, If nothing goes wrong, is everything all right?, JAMA 249 (1983).
"""


def gate_text(report: GateReport, width: int = WIDTH, *, is_full: bool = False) -> str:
    """The first lines and the next step; with *is_full* also the numbers behind them, the judge and the warnings."""
    parts = [wrapped(gate_lines(report), width, "  ")]
    parts += full_parts(report, width) if is_full else [more_line(report, width)]
    return "\n\n".join([*parts, step_lines(gate_step(report), width)]) + "\n"


def gate_json(report: GateReport) -> str:
    """Every field of the gate's report, its sentences, and the conclusion in `judge`."""
    left = ("caveats", "evidence", "judge")
    row = {"verdict": report.verdict} | {name: value for name, value in vars(report).items() if name not in left}
    judge = asdict(report.judge) if report.judge else None
    if judge and report.judge:
        judge |= {"break_even": report.judge.comparison.break_even, "answer": report.judge.answer}
    reasons = [refusal.reason for refusal in refused(report)]
    caveats = {"refusals": reasons, "warnings": list(warnings(report))}
    texts = {"first_lines": gate_lines(report), "next": gate_step(report).in_shell()}
    row |= {"missing_in_need": report.missing_in_need, **caveats, "judge": judge, **texts}
    return printed_json(row, indent=2, default=asdict) + "\n"


def refused(report: GateReport) -> list[Refusal]:
    return list(refusals(report.system, report.caveats, report.evidence))


def full_parts(report: GateReport, width: int) -> Iterator[str]:
    if reasons := [refusal.reason for refusal in refused(report)]:
        yield wrapped(reasons, width)
    yield "\n".join(fill(line, width, subsequent_indent=" " * 17) for line in estimate_lines(report))
    if outlook := outlook_line(report):
        yield wrapped([outlook], width)
    if report.judge:
        yield "\n".join(fill(printable(line), width, subsequent_indent="    ") for line in judge_lines(report.judge))
    if cautions := list(warnings(report)):
        yield "\n".join(["Keep in mind", *(as_item(caution, width) for caution in cautions)])


def more_line(report: GateReport, width: int) -> str:
    number = len(list(warnings(report)))
    more = f"More, and {counted(number, 'warning')}" if number else "More"
    once = f" {ASKED_ONCE}" if is_open(report) and report.gate.looks != ONCE else ""
    return wrapped([f"{more}: memsift gate with --full.{once}"], width)


def is_open(report: GateReport) -> bool:
    """Whether the answer is undecided, and more labels could decide it."""
    return report.verdict == UNDECIDED and not report.caveats.forbid


# The first lines


def gate_lines(report: GateReport) -> tuple[str, ...]:
    """The answer, prompts left out, precision, served prompts and false fires, the judge, and missing labels."""
    without = gaps_in(report.evidence, report.system).prompts
    prompts = f"{part_of(without)} prompts for which it injects something have no label."
    return (
        answer(report),
        *scope_lines(report.evidence),
        *precision_lines(report.system, report.decision),
        served_line(report.served, report.false_fires, report.evidence),
        *other_line(report.system, report.judge.comparison if report.judge else None),
        *([prompts] if without.part else []),
        *open_lines(report.evidence, report.system),
    )


def answer(report: GateReport) -> str:
    start = f"{VERDICTS[report.verdict]} with {counted(report.labels, 'label')}: "
    if reasons := refused(report):
        return f"{start}{reasons[0].short}"
    about = "about " if report.gate.zone.low < report.gate.zone.high else ""
    answers = [f"{REACHES[report.decision.verdict]} {about}{asked(report)}"]
    if report.served_decision:
        answers.append(f"{SERVES[report.served_decision.verdict]} {100 * (report.least_served or 0):g} %")
    missing = f": {counted(report.missing_in_need, 'prompt')} in need missing" if report.missing_in_need else ""
    return f"{start}{report.system} {', and it '.join(answers)}{missing}."


def outlook(report: GateReport) -> str:
    """Whether it is enough, or how many more prompts decide that."""
    if report.caveats.forbid:
        return answer(report)
    if report.verdict == UNDECIDED:
        number = report.pending.more
        labels = f"About {counted(number, 'more labelled prompt')}" if number else "More labels"
        return f"{labels} would tell whether it reaches {asked(report)}."
    return f"That {'reaches' if report.verdict == PASS else 'is below'} {asked(report)}."


def asked(report: GateReport) -> str:
    return f"{100 * report.gate.least:g} %"


# The numbers behind them


def estimate_lines(report: GateReport) -> Iterator[str]:
    """The estimate, its interval, and the precision that was asked for; the same of the served share."""
    decision, gate = report.decision, report.gate
    if decision.estimate is None:
        yield "No prompt for which it injects something is judged in full yet."
    else:
        counts = f"{report.relevant.part:,} of {report.relevant.whole:,} memories that it injected were relevant"
        prompts = counted(decision.estimate.prompts, "prompt")
        yield f"  found so far   {decision.estimate.value:.2f}   {counts}, on {prompts}"
        yield f"  true value     {decision.live.low:.2f} to {decision.live.high:.2f}   {RIGHT[gate.looks]}"
    zone = f"   and from {gate.zone.low:.2f} to {gate.zone.high:.2f} either answer will do"
    yield f"  asked for      {gate.least:.2f}{zone if gate.zone.low < gate.zone.high else ''}"
    share = "" if report.least_served is None else f"; asked for {report.least_served:.2f}"
    if report.served.estimate:
        prompts = f"{part_of(report.served.relevant)} prompts in need, true value {span(report.served.live)}"
        yield f"  served         {report.served.estimate.value:.2f}   {prompts}{share}"
    elif share:
        yield f"  served         {UNKNOWN}      no prompt is known to be in need{share}"
    if report.silent.part:
        silent = f"{report.silent.part:,} of {report.silent.whole:,} prompts"
        yield f"  left out       {silent}, for which it injects nothing"


def outlook_line(report: GateReport) -> str:
    """The number of further prompts that would decide, where the verdict is open."""
    decision = report.pending
    if not is_open(report):
        return ""
    if report.gate.looks == ONCE:
        return sentence("one_look_open")
    if report.missing_in_need and decision is report.served_decision:
        return sentence("in_need", f"{FEWEST_IN_NEED}", f"{report.missing_in_need}")
    what = "precision" if decision is report.decision else "the share of served prompts"
    if decision.more is None:
        if decision.estimate is None or decision.estimate.prompts < FEWEST_TO_PLAN:
            return sentence("too_few_to_plan", prompts=FEWEST_TO_PLAN)
        least = report.gate.least if decision is report.decision else report.least_served or 0.0
        return sentence("too_near", what=what, least=percent(least, 1), most=AHEAD[-1], one_look=sentence("one_look"))
    step = f"About {decision.more} more prompts would decide, if {what} stays where it is. {sentence('one_look')}"
    if decision.left >= decision.more:
        return f"{step} {decision.left} are there to be judged."
    left = f"Only {decision.left} {'is' if decision.left == 1 else 'are'}" if decision.left else "None is"
    return f"{step} {left} left to be judged: add others with memsift replay --save."


# The next step


def gate_step(report: GateReport) -> Step:
    decision = report.decision
    if reasons := refused(report):
        return reasons[0].step
    if report.verdict == UNDECIDED:
        return undecided_step(report)
    if decision.verdict == FAIL and CUTS[TUNED] not in report.system:
        tune = f"memsift tune --target-precision {report.gate.least:g}"
        return Step("drop unlikely memories", tune, IN_WHATIF)
    if report.verdict == FAIL and decision.verdict == PASS:
        return Step("let more memories pass", "memsift config set cutoff_threshold generous", IN_WHATIF)
    if decision.verdict == FAIL:
        return Step("look at the memories that are wrong most often, and edit them", "memsift report --full", BY_WORST)
    return NOTHING


def undecided_step(report: GateReport) -> Step:
    decision, estimate = report.pending, report.pending.estimate
    judged = estimate.prompts if estimate else 0
    is_missing = decision is report.served_decision and report.missing_in_need
    fewest = FEWEST_TO_PLAN - judged if judged < FEWEST_TO_PLAN else 0
    number = is_missing or decision.to_go or decision.more or fewest
    if report.gate.looks == ONCE:
        return Step("ask without --one-look, to learn how many more prompts are needed")
    if not number and decision is report.decision and (zone := zone_that_decides(report)):
        what = f"accept the answer to within {50 * zone:g} points"
        return Step(what, f"--indifference {zone:g}", BY_TARGET)
    number = number or MORE
    if report.evidence.is_qrels:
        return Step(f"add about {counted(number, 'prompt')} to the run and the qrels")
    if decision.left < number:
        return Step(f"replay and label {counted(number, 'more prompt')}", REPLAY, BY_MORE)
    return Step(f"label about {counted(number, 'more prompt')}", LABEL, IN_LABEL)


def zone_that_decides(report: GateReport) -> float | None:
    """The narrowest indifference zone, in hundredths, with which the answer would not be open; None above WIDEST."""
    live, least = report.decision.live, report.gate.least
    needed = 2 * min(least - live.low, live.high - least + 1e-6)
    zone = ceil(100 * needed) / 100
    return zone if zone <= WIDEST else None


# The judge


def judge_lines(case: JudgeCase) -> Iterator[str]:
    found = case.comparison
    names = f"{printable(found.second)} against {printable(found.first)}"
    prompts = counted(found.prompts, "prompt")
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
    calls = counted(expense.calls, "call")
    return f"{expense.median_ms:,.0f} ms at the median{slowest}, {price} ({calls} recorded)"


def conclusion(case: JudgeCase) -> str:
    found = case.comparison
    if found.gain is None:  # it was not said how much a relevant memory is worth: then the trade-off
        (lost, spared), (won, added) = found.first_only, found.second_only
        counts = {"spared": spared, "lost": lost, "added": added, "won": won}
        return sentence("without_worth", prompts=counted(found.prompts, "prompt"), bound=loss_bound(found), **counts)
    pays = {PAYS: "It pays.", COSTS: "It does not pay.", UNCLEAR: "It cannot be told yet whether it pays."}
    start = pays[case.answer or UNCLEAR]
    change = signed(found.gain, "fewer", "more")
    rate = f"At {found.worth:g} irrelevant to one relevant memory"
    return f"{start} {rate}, the balance per prompt in irrelevant ones is {change}."


def loss_bound(found: SystemComparison) -> str:
    """The number of relevant memories that the judge may lose, as far as these prompts tell."""
    interval, lost = found.relevant.interval, found.first_only[0]
    if interval is None:
        return "How many relevant ones it loses in general cannot be said from them."
    if interval.high < 0:
        return f"In general it loses {-interval.high:.2f} to {-interval.low:.2f} relevant memories a prompt."
    if interval.low < 0:
        return f"In general it may lose up to {-interval.low:.2f} relevant memories a prompt."
    if not lost:
        most = percent(min(RULE_OF_THREE, found.prompts), found.prompts)
        return f"In general it may still lose one for up to {most} of the prompts."
    return f"In general it wins {interval.low:.2f} to {interval.high:.2f} more relevant ones a prompt than it loses."
