"""Reports and gates as JSON. The names of the fields are an interface: programs read them."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from engine.lean.json_text import printed_json
from labels.measure.evidence import Evidence
from labels.measure.metrics import Ratio
from labels.measure.report import Captions
from labels.report.caveats import notes, refusals, warnings
from labels.report.first_lines import first_lines, next_step
from labels.report.gate import gate_lines, gate_step

if TYPE_CHECKING:
    from labels.measure.gate import GateReport
    from labels.measure.report import Report

HIDDEN = (Captions, Evidence)


def report_json(report: Report) -> str:
    """Every number of the report; a ratio is {"value", "part", "whole"}, its value null where it is unknown.

    Where prompts or memories are weighted, the value is the estimate and not part / whole.
    """
    texts = {"notes": notes(report), "first_lines": first_lines(report), "next": next_step(report).in_shell()}
    return printed_json({**record(report), **texts}, indent=2, default=record) + "\n"


def record(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, in order, without those in HIDDEN. Nested dataclasses are not converted."""
    if isinstance(value, Ratio):
        return {"value": value.value, "part": value.part, "whole": value.whole}
    named = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: rows(content) for name, content in named.items() if not isinstance(content, HIDDEN)}


def rows(value: Any) -> Any:
    """A tuple of named tuples as a list of objects; json would write each of them as a list."""
    if not isinstance(value, tuple):
        return value
    return [item._asdict() if hasattr(item, "_asdict") else item for item in value]


def gate_json(report: GateReport) -> str:
    """Every field of the gate's report, its sentences, and the conclusion in `judge`."""
    row = {name: value for name, value in vars(report).items() if name not in ("caveats", "evidence", "judge")}
    judge = asdict(report.judge) if report.judge else None
    if judge and report.judge:
        judge |= {"break_even": report.judge.comparison.break_even, "answer": report.judge.answer}
    caveats = {"refusals": list(refusals(report.caveats, report.evidence)), "warnings": list(warnings(report))}
    texts = {"first_lines": gate_lines(report), "next": gate_step(report).in_shell()}
    return printed_json({**row, **caveats, "judge": judge, **texts}, indent=2, default=asdict) + "\n"
