"""`memsift judge`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.config import AUTO, SEARCH
from engine.errors import MemsiftError
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from engine.wording import aligned
from tui.cli.declaring import argument, command, option
from tui.cli.options import AskedJudge, Roots, Strict, TextOrJson, disputed, require_agreement
from tui.cli.output import output, picked, report_fallback, report_skipped
from tui.workspace import opening
from tui.workspace.judging import opened_judge

if TYPE_CHECKING:
    from engine.retrieval import Retrieval

HEADER = ("decision", "sure", "injected", "category", "title")


@command()
def judge(
    prompt: Annotated[str, argument()],
    roots: Roots,
    mode: Annotated[str, option("--mode", type=click.Choice([AUTO, SEARCH]), default=AUTO)],
    judge: AskedJudge,
    strict: Strict,
    form: TextOrJson,
) -> None:
    """Ask the judge about the memories for PROMPT.

    Its verdict on each memory is printed: approved, rejected or flagged (not sure). Only approved memories are
    injected. Without an answer, the status says why: timeout, http_error, parse_error, refused, no_key or cancelled.
    The hook would then inject the best memories that floors and cutoff leave: judge.fallback_top_k (2) of them, or
    max_inject (3) if the key is missing. The exit code is 2.

    \b
    Judges:
      anthropic       Messages API through the SDK; needs ANTHROPIC_API_KEY or
                      another credential of the SDK
      anthropic-http  the same without the SDK, as the hook does it; needs
                      ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN
      openai          a compatible server (Ollama, vLLM, llama.cpp); needs
                      OPENAI_BASE_URL or OPENAI_API_KEY, and --judge-model
      claude-cli      `claude -p`, for a subscription without a key; needs
                      Claude Code, and --judge-timeout 20
      scripted:PATH   answers from a file of rows {"prompt", "keep": [titles]}
      none            asks nobody: cached answers of the configured judge, and
                      exit code 2 at the first question without an answer

    Answers are cached in ~/.cache/memsift/judge.db: you pay once for the same question. Errors are not cached.

    \b
    Examples:
      memsift judge "how do we deploy?" --judge anthropic
      memsift judge "how do we deploy?" --judge openai --judge-model qwen3

    --mode: The judge's task. auto: keep only memories that help directly, as in the hook. search: also keep related
        memories.
    """
    environ = {**os.environ, "MEMSIFT_JUDGE_ENABLED": "true"}  # the command itself asks for a judge
    found = opening.open_roots(roots, environ, judge)
    with opened_judge(judge, found.config) as asked, opening.opened_roots(found.paths, found.others) as index:
        if asked is None:
            raise MemsiftError("There is no judge to ask. Name one with --judge, such as --judge anthropic.")
        asked.prepare()
        report_skipped(index.skipped)
        retrieval = retrieve(Query(typed_prompt(prompt), mode=mode), index, OpenSystem(found.config, judge=asked))
        judge.refuse_a_miss(retrieval)
    report_fallback(retrieval)
    rows = verdict_rows(retrieval)
    click.echo(output(form, rows, verdict_lines(rows)), nl=False)
    if retrieval.judgement and not retrieval.judgement.is_answer:
        click.get_current_context().exit(2)
    if strict:
        require_agreement(disputed(retrieval))


def verdict_rows(retrieval: Retrieval) -> dict[str, Any]:
    """The JSON output: how the judge was asked, and its verdict on each memory that it saw, in BM25 order.

    `judgement` is null if no memory was left to ask about.
    """
    from labels.exchange.replay_file import fields_without

    verdicts = [
        picked(candidate.memory, "id", "title", "category")
        | (fields_without("memory_id", candidate.verdict) or {})
        | picked(candidate, "injected", "dropped_by")
        for candidate in retrieval.candidates
        if candidate.verdict
    ]
    how = {"fallback": retrieval.fallback, "judgement": fields_without("verdicts", retrieval.judgement)}
    return {"prompt": retrieval.prompt.text, "mode": retrieval.mode, **how, "verdicts": verdicts}


def verdict_lines(rows: dict[str, Any]) -> list[str]:
    """*rows* as a table: a line per memory, its reasoning below, and last how the judge was asked and the cost."""
    cells = [HEADER]
    for row in rows["verdicts"]:
        doubt = row["status"] if row["status"] != "ok" else f"{row['agreement']:.0%} agree"
        decision = row["decision"] if doubt == "100% agree" else f"{row['decision']} ({doubt})"
        sure = "" if row["confidence"] is None else f"{row['confidence']:.2f}"
        cells.append((decision, sure, "yes" if row["injected"] else "", row["category"], row["title"]))
    lines = []
    for line, reasoning in zip(aligned(cells), ["", *(row["reasoning"] for row in rows["verdicts"])], strict=True):
        lines += [line, f"    {reasoning}"] if reasoning else [line]
    asked = rows["judgement"]
    if asked is None:
        return [*lines, "", "The judge was not asked: no memory was left to judge."]
    tokens_in = asked["input_tokens"]
    tokens = f", {tokens_in:,} tokens in and {asked['output_tokens']:,} out" if tokens_in else ""
    cost = "" if asked["cost_usd"] is None else f", ${asked['cost_usd']:.6f}"
    how = f"{asked['provider']} ({asked['model']}), depth {asked['depth']}, template {asked['template_hash']}"
    return [*lines, "", f"{how}: {asked['status']}, {asked['elapsed_ms']:,.0f} ms{tokens}{cost}."]
