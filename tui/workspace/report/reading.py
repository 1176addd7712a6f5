"""The report of a workspace with the answer of the gate, and what every row of it counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labels.measure.decision import Gate
from labels.measure.gate import evidence_from_store, gate_report
from labels.measure.intervals import Interval
from labels.report.first_lines import HIGH_ENOUGH, main_system
from labels.report.sections import sections
from labels.store import LabelStore
from tui.workspace.report.rows import parts
from tui.workspace.root.measured import present_digests

if TYPE_CHECKING:
    from labels.measure.evidence import Evidence
    from labels.measure.gate import GateReport
    from labels.measure.report import Report, ReportOptions
    from tui.workspace.report.rows import ReportPart
    from tui.workspace.workspace import Workspace

ASKED = HIGH_ENOUGH
"""The precision that is asked for until a person chooses another, 0..1."""

TARGETS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


def target_of(text: str) -> float:
    """The target that *text* spells; ASKED if it is none."""
    return {f"{target:g}": target for target in TARGETS}.get(text, ASKED)


@dataclass(frozen=True)
class ReportReading:
    """`gate` is the answer about the configured system; None if nothing was replayed. `parts` are the sections.

    The numbers of the report are counted from `evidence`.
    """

    report: Report
    gate: GateReport | None
    parts: tuple[ReportPart, ...]
    evidence: Evidence


def read_report(workspace: Workspace, options: ReportOptions, least: float) -> ReportReading:
    """The report on the current label store. Any thread may call it. Raises LabelStoreError."""
    report = workspace.report(options)
    index = workspace.index
    with LabelStore.open(workspace.store.path) as store:
        digests = present_digests(store, index)
        evidence = evidence_from_store(store, index.root, digests, workspace.config, workspace.cutoff)
    main = main_system(report)
    has_answer = main is not None and main.system in evidence.systems
    gate = gate_report(evidence, main.system, Gate(least, Interval(least, least))) if main and has_answer else None
    return ReportReading(report, gate, parts(sections(report), report, evidence), evidence)
