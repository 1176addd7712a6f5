"""What `memsift gate` says: the decision on one system, what to keep in mind, and the case for the judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.systems import JUDGED
from labels.measure.gate import caveats
from labels.measure.gate.decision import UNDECIDED, Decision, Gate, decide
from labels.measure.gate.judge_case import JudgeCase, judge_case
from labels.measure.metrics import Ratio

if TYPE_CHECKING:
    from labels.measure.gate.decision import Sample
    from labels.measure.gate.evidence import Evidence


@dataclass(frozen=True)
class GateReport:
    """`relevant` are the memories found relevant, of those judged in the prompts that count; `silent` the prompts for
    which the system injects nothing, of all that were replayed. With a reason in `refusals` the verdict is undecided.
    """

    system: str
    gate: Gate
    decision: Decision
    relevant: Ratio
    silent: Ratio
    refusals: tuple[str, ...]
    warnings: tuple[str, ...]
    judge: JudgeCase | None


def gate_report(evidence: Evidence, system: str, gate: Gate, worth: float | None = None) -> GateReport:
    """The answer for *system*, which must be one of the evidence's."""
    sample = evidence.sample(system)
    reasons = caveats.refusals(evidence, system)
    decision = decide(sample, gate)
    rows = evidence.of(system)
    plain = system.removesuffix(JUDGED)
    has_both = {plain, plain + JUDGED} <= set(evidence.systems)
    return GateReport(
        system=system,
        gate=gate,
        decision=replace(decision, verdict=UNDECIDED) if reasons else decision,
        relevant=relevant(sample),
        silent=Ratio(sum(not row.injected for row in rows), len(rows)),
        refusals=reasons,
        warnings=caveats.warnings(evidence, system),
        judge=judge_case(evidence, plain, plain + JUDGED, worth) if has_both else None,
    )


def relevant(sample: Sample) -> Ratio:
    counts = sample.judged.values()
    return Ratio(int(sum(x for x, _ in counts)), int(sum(m for _, m in counts)))
