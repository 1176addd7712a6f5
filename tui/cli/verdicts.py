"""What a judge said of one prompt, as rows for a program and lines for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labels.exchange.runs import judgement_field, verdict_field
from tui.cli.output import visible

if TYPE_CHECKING:
    from engine.retrieval import Candidate, Retrieval

HEADER = ("decision", "sure", "injected", "category", "title")


def verdict_rows(retrieval: Retrieval) -> dict[str, Any]:
    """What `memsift judge` prints: how the judge was asked, and a verdict for each memory that it was shown.

    `judgement` is null where nothing was left to ask about. `verdicts` are in BM25 order.
    """
    return {
        "prompt": retrieval.prompt.text,
        "mode": retrieval.mode,
        "fallback": retrieval.fallback,
        "judgement": judgement_field(retrieval.judgement),
        "verdicts": [_row(one) for one in retrieval.candidates if one.verdict],
    }


def verdict_lines(rows: dict[str, Any]) -> list[str]:
    """The same as a table: a line for each memory, and one below with the reasoning where there is one."""
    cells = [HEADER, *(_cells(row) for row in rows["verdicts"])]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADER) - 1)]
    lines = []
    for row, reasoning in zip(cells, ["", *(row["reasoning"] for row in rows["verdicts"])], strict=True):
        lines.append("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]))
        lines += [f"    {reasoning}"] if reasoning else []
    return [visible(line) for line in [*lines, "", *_summary(rows)]]


def _row(one: Candidate) -> dict[str, Any]:
    memory = {"id": one.memory.id, "title": one.memory.title, "category": one.memory.category}
    return {**memory, **(verdict_field(one.verdict) or {}), "injected": one.injected, "dropped_by": one.dropped_by}


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    sure = "" if row["confidence"] is None else f"{row['confidence']:.2f}"
    return (_decision(row), sure, "yes" if row["injected"] else "", row["category"], row["title"])


def _decision(row: dict[str, Any]) -> str:
    if row["status"] != "ok":
        return f"{row['decision']} ({row['status']})"
    return row["decision"] if row["agreement"] == 1 else f"{row['decision']} ({row['agreement']:.0%} agree)"


def _summary(rows: dict[str, Any]) -> list[str]:
    asked = rows["judgement"]
    if asked is None:
        return ["The judge was not asked: nothing was left to judge."]
    tokens = (
        f", {asked['input_tokens']:,} tokens in and {asked['output_tokens']:,} out" if asked["input_tokens"] else ""
    )
    cost = "" if asked["cost_usd"] is None else f", ${asked['cost_usd']:.6f}"
    how = f"{asked['provider']} ({asked['model']}), depth {asked['depth']}, template {asked['template_hash']}"
    return [f"{how}: {asked['status']}, {asked['elapsed_ms']:,.0f} ms{tokens}{cost}."]
