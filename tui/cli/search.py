"""`memsift search`."""

from __future__ import annotations

import os

import click

from engine.config import AUTO, SEARCH, load_config
from engine.pipeline import retrieve
from engine.prompt import typed_prompt
from engine.record import replace
from tui import opening
from tui.cli.options import ROOT, opened_cutoff
from tui.cli.telling import refuse_a_miss, report_fallback, report_skipped
from tui.judge_options import JudgeOptions, judge_options, opened_judge


@click.command()
@click.argument("query")
@ROOT
@click.option("--mode", type=click.Choice([AUTO, SEARCH]), default=SEARCH, show_default=True, help="auto: as the hook.")
@click.option("--include-retired", is_flag=True, help="Find retired and archived memories too.")
@click.option("--max-results", type=click.IntRange(1, 1000), metavar="N", help="Default: 10, or 3 in auto mode.")
@judge_options
@click.option("--format", "form", type=click.Choice(["json", "text"]), default="json", show_default=True)
@click.option(
    "--explain", is_flag=True, help="Say why each result is there, and in auto mode what was dropped, and why."
)
@click.option("--memory", "memory_id", metavar="ID", help="Explain what became of this memory, found or not.")
def search(
    query: str,
    root: str | None,
    mode: str,
    include_retired: bool,
    max_results: int | None,
    judge: JudgeOptions,
    form: str,
    explain: bool,
    memory_id: str | None,
) -> None:
    """Find memories that hold words of QUERY, best first. A judge, if one is named, leaves out the unrelated."""
    from tui.search_rows import explanations, output_width, printed

    found = opening.resolve_root(root, os.environ)
    config = judge.applied(load_config(found, os.environ), os.environ)
    if max_results:
        config = replace(config, max_results=max_results, max_inject=max_results)
    explained = None
    with opened_judge(judge, config) as asked, opening.opened_index(found) as index:
        if asked:
            asked.prepare()
        report_skipped(index.skipped)
        prompt = typed_prompt(query)
        cutoff = opened_cutoff(found, config) if mode == AUTO else None
        retrieval = retrieve(
            prompt, index, config, mode=mode, judge=asked, cutoff=cutoff, include_retired=include_retired
        )
        refuse_a_miss(judge, retrieval)
        if explain or memory_id is not None:
            explained = explanations(retrieval, index, config, memory_id, include_retired=include_retired)
        click.echo(printed(retrieval, index, form, explained, output_width(), is_one=memory_id is not None))
    report_fallback(retrieval)
