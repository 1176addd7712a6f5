"""`memsift judge`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from engine.config import AUTO, SEARCH, load_config
from engine.errors import MemsiftError
from engine.lean.record import replace
from engine.pipeline import retrieve
from engine.prompt import typed_prompt
from tui.cli.judge_options import JudgeOptions, judge_options, opened_judge
from tui.cli.options import STRICT, roots_option
from tui.cli.telling import disputed, refuse_a_miss, report_fallback, report_skipped, require_agreement
from tui.workspace import opening

if TYPE_CHECKING:
    from engine.retrieval import Retrieval


@click.command()
@click.argument("prompt")
@roots_option("the judge is asked about each.")
@click.option("--mode", type=click.Choice([AUTO, SEARCH]), default=AUTO, show_default=True, help="auto: as the hook.")
@judge_options
@STRICT
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def judge(prompt: str, roots: tuple[str, ...], mode: str, judge: JudgeOptions, strict: bool, form: str) -> None:
    """Ask the judge about the memories that PROMPT brings up; print its verdict on each."""
    from tui.cli.output import of_roots
    from tui.cli.verdicts import verdict_lines, verdict_rows

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
        refuse_a_miss(judge, retrieval)
    return retrieval
