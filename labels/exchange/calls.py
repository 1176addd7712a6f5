"""What asking the judge took, as the rows of a run file say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.judge.verdict import CACHE
from labels.exchange.lines import read_lines
from labels.records import JudgeCall

if TYPE_CHECKING:
    from pathlib import Path


def read_calls(path: Path) -> tuple[JudgeCall, ...]:
    """The judge's calls in a run file that `labels.exchange.runs.read_runs` accepts; none where rows do not say."""
    rows = (json.loads(line.text) for line in read_lines(path))
    return tuple(call(row, row["judgement"]) for row in rows if is_timed(row.get("judgement")))


def is_timed(judgement: Any) -> bool:
    return isinstance(judgement, dict) and is_number(judgement.get("elapsed_ms"))


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def call(row: dict[str, Any], judgement: dict[str, Any]) -> JudgeCall:
    verdicts = [each["verdict"] for each in row["candidates"] if each.get("verdict")]
    samples = [each.get("samples", 1) for each in verdicts]
    cost = judgement.get("cost_usd")
    return JudgeCall(
        prompt_id=row["prompt_id"],
        system=row["system"],
        elapsed_ms=judgement["elapsed_ms"],
        cost_usd=cost if is_number(cost) else None,
        answers=max((each for each in samples if isinstance(each, int)), default=0),
        is_live=not verdicts or any(each.get("source") != CACHE for each in verdicts),
    )
