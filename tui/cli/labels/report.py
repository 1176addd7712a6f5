"""`memsift report`."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING, Annotated

import click

from engine.errors import MemsiftError
from tui.cli.declaring import command, option
from tui.cli.options import Full, MeasuredFiles, Roots, RunFiles, StoreFile, format_option, opened_store
from tui.cli.output import text_width, write_output
from tui.workspace import opening
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.measure.report import Report, ReportOptions

OUTPUT = "Write the report to FILE instead of stdout."


@command()
def report(
    files: MeasuredFiles,
    prompts: Annotated[str | None, option("--prompts", metavar="FILE")],
    ranking: Annotated[bool, option("--ranking")],
    roots: Roots,
    db: StoreFile,
    form: Annotated[str, format_option("text", "json", "markdown", "html")],
    is_full: Full,
    output: Annotated[str | None, option("--output", metavar="FILE")],
) -> None:
    """Measure each system: precision and more.

    The labels come from the label store, or from the files --run and --qrels. The first lines say how many of the
    injected memories were relevant, and the last one says what to do next. --full and the other formats add lost
    memories, recall, the judge against people, the differences between systems, and the limits of the numbers.

    \b
    Examples:
      memsift report
      memsift report --format html --output report.html

    --prompts: Prompts of --run, for kinds and texts of prompts.
    --ranking: Add the ranking measures P@k, MAP, nDCG, MRR and bpref.
    --format: html is one page with charts that needs no other file.
    --output: Write the report to FILE instead of stdout.
    """
    from labels.measure.report import ReportOptions
    from labels.report.first_lines import first_lines, next_step
    from labels.report.forms import report_in

    if prompts and not files.are_given:
        raise click.UsageError("--prompts needs --run. The label store has its own prompts.")
    gc.disable()  # the thousands of records of a report have no reference cycles, and to search for these is slow
    click.get_current_context().call_on_close(gc.enable)
    options = ReportOptions(ranking, curves=form in ("json", "html"))
    made = report_of_files(files, prompts, roots, options) if files.are_given else report_of_labels(roots, db, options)
    if not made.systems:
        raise MemsiftError(f"{first_lines(made)[0]} {next_step(made).in_shell()}")
    if made.lacking:
        tell(made.lacking)
    text = report_in(form, made, text_width(), is_full=is_full)
    if output:
        write_output(text, output)
    else:
        click.echo(text, nl=False)


def report_of_files(files: RunFiles, prompts: str | None, roots: Sequence[str], options: ReportOptions) -> Report:
    from engine.agents.registry import agent_in
    from labels.measure.report import Captions, build_report

    read = opening.project_prompts((prompts,), os.environ).prompts if prompts else ()
    titles: dict[str, str] = {}
    for root in roots:
        with opening.opened_index(opening.resolve_root(root, os.environ)) as index:
            titles |= {summary.id: summary.title for summary in index.summaries()}
    texts, kinds = {prompt.id: prompt.text for prompt in read}, {prompt.id: prompt.kind for prompt in read}
    captions = Captions(texts, kinds, titles, {prompt.id: agent_in(prompt.source) for prompt in read})
    made = build_report(files.evidence(), captions, options)
    if not made.labelled_prompts:
        raise MemsiftError(
            f"{files.qrels} has no label for a prompt of {files.run}. Name the qrels that belong to this run."
        )
    return made


def report_of_labels(roots: Sequence[str], db: str | None, options: ReportOptions) -> Report:
    from tui.workspace.root_labels import let_labels_follow, root_report

    found = opening.open_roots(roots, os.environ)
    for said in opening.about_move(found.paths[0], os.environ):
        tell(said)
    with opened_store(db) as store, opening.opened_roots(found.paths) as index:
        let_labels_follow(store, index)
        return root_report(store, index, found.config, found.cutoff, options)
