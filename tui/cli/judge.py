"""`memsift judge`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from engine.config import AUTO, SEARCH, load_config
from engine.errors import MemsiftError
from engine.lean.record import replace
from engine.pipeline import retrieve
from engine.prompt import typed_prompt
from tui.cli.options import STRICT, disputed, judge_options, of_roots, require_agreement, roots_option
from tui.workspace import opening
from tui.workspace.judge_options import JudgeOptions, opened_judge
from tui.workspace.stderr import report_fallback, report_skipped, visible

if TYPE_CHECKING:
    from engine.retrieval import Candidate, Retrieval

HEADER = ("decision", "sure", "injected", "category", "title")


@click.command()
@click.argument("prompt")
@roots_option("the judge is asked about each.")
@click.option("--mode", type=click.Choice([AUTO, SEARCH]), default=AUTO, show_default=True, help="auto: as the hook.")
@judge_options
@STRICT
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def judge(prompt: str, roots: tuple[str, ...], mode: str, judge: JudgeOptions, strict: bool, form: str) -> None:
    """Ask the judge about the memories that PROMPT brings up; print its verdict on each."""
    texts, disagreements = {}, 0
    for root in opening.resolve_roots(roots, os.environ):
        retrieval = judged(prompt, root, mode, judge)
        report_fallback(retrieval)
        rows = verdict_rows(retrieval)
        lines = verdict_lines(rows) if form == "text" else [json.dumps(rows, indent=2, ensure_ascii=False)]
        texts[root] = "".join(f"{line}\n" for line in lines)
        disagreements += disputed(retrieval)
    click.echo(of_roots(texts, form), nl=False)
    if strict:
        require_agreement(disagreements)


def judged(prompt: str, found: str, mode: str, judge: JudgeOptions) -> Retrieval:
    """What the judge says of what *prompt* brings up in a root. Raises MemsiftError where there is none to ask."""
    config = load_config(found, os.environ)
    enabled = replace(config, judge=replace(config.judge, enabled=True))  # who runs this wants a judge
    config = judge.applied(enabled, os.environ)
    with opened_judge(judge, config) as asked, opening.opened_index(found) as index:
        if asked is None:
            raise MemsiftError("There is no judge to ask. Name one with --judge, such as --judge anthropic.")
        asked.prepare()
        report_skipped(index.skipped)
        retrieval = retrieve(typed_prompt(prompt), index, config, mode=mode, judge=asked)
        judge.refuse_a_miss(retrieval)
    return retrieval


def verdict_rows(retrieval: Retrieval) -> dict[str, Any]:
    """What `memsift judge` prints: how the judge was asked, and a verdict for each memory that it was shown.

    `judgement` is null where nothing was left to ask about. `verdicts` are in BM25 order.
    """
    from labels.exchange.runs import judgement_field

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
    from labels.exchange.runs import verdict_field

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
