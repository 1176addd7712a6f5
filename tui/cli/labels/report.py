"""`memsift report`."""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.errors import MemsiftError
from tui.cli.labels.export import write_output
from tui.cli.options import DB, FULL, QRELS, RUN, TOGETHER, UNJUDGED, opened_store, roots_option
from tui.cli.output import text_width
from tui.workspace import opening
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from labels.measure.report import Captions, Report, ReportOptions

FORMATS = ("text", "json", "markdown", "html")
FORMAT = "html is one page with charts that needs no other file."


@click.command()
@RUN
@QRELS
@UNJUDGED
@click.option("--prompts", metavar="FILE", help="Prompts of --run, for kinds and texts of prompts.")
@click.option("--ranking", is_flag=True, help="Add the ranking measures P@k, MAP, nDCG, MRR and bpref.")
@roots_option(TOGETHER)
@DB
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help=FORMAT)
@FULL
@click.option("--output", metavar="FILE", help="Write the report to FILE instead of stdout.")
def report(
    run_file: str | None,
    qrels: str | None,
    unjudged: str,
    prompts: str | None,
    ranking: bool,
    roots: tuple[str, ...],
    db: str | None,
    form: str,
    is_full: bool,
    output: str | None,
) -> None:
    """Measure each system: precision and more.

    The labels come from the label store, or from the files --run and --qrels. The first lines say how many of the
    injected memories were relevant, and the last one says what to do next. --full and the other formats add lost
    memories, recall, the judge against people, the differences between systems, and the limits of the numbers.
    """
    from labels.measure.report import ReportOptions
    from labels.report.first_lines import first_lines, next_step
    from labels.report.forms import report_in

    if bool(run_file) != bool(qrels):
        raise click.UsageError("--run and --qrels go together: name both.")
    if prompts and not run_file:
        raise click.UsageError("--prompts needs --run. The label store has its own prompts.")
    options = ReportOptions(ranking, curves=form in ("json", "html"))
    if run_file and qrels:
        made = report_of_files(run_file, qrels, unjudged, captions_of(prompts, roots), options)
    else:
        made = report_of_labels(roots, db, options)
    if not made.systems:
        raise MemsiftError(f"{first_lines(made)[0]} {next_step(made).in_shell()}")
    if made.lacking:
        tell(made.lacking)
    with paused_gc():
        text = report_in(form, made, text_width(), is_full=is_full)
    if output:
        write_output(text, output)
    else:
        click.echo(text, nl=False)


def report_of_files(run_file: str, qrels: str, unjudged: str, captions: Captions, options: ReportOptions) -> Report:
    from labels.exchange.replay_file import read_outcomes
    from labels.exchange.trec import read_graded_qrels
    from labels.measure.evidence import evidence_from_qrels
    from labels.measure.report import build_report

    rows, (judgements, slight) = read_outcomes(Path(run_file)), read_graded_qrels(Path(qrels))
    if judgements.keys().isdisjoint(row.prompt_id for row in rows):
        raise MemsiftError(f"{qrels} has no label for a prompt of {run_file}. Name the qrels that belong to this run.")
    return build_report(evidence_from_qrels(rows, judgements, unjudged, slight=slight), captions, options)


def captions_of(prompts: str | None, roots: Sequence[str]) -> Captions:
    """The texts and kinds of the prompts in a file, and the titles of the memories of *roots*."""
    from labels.measure.report import Captions

    read = opening.project_prompts((prompts,), os.environ).prompts if prompts else ()
    titles: dict[str, str] = {}
    for root in roots:
        with opening.opened_index(opening.resolve_root(root, os.environ)) as index:
            titles |= {summary.id: summary.title for summary in index.summaries()}
    return Captions({prompt.id: prompt.text for prompt in read}, {prompt.id: prompt.kind for prompt in read}, titles)


def report_of_labels(roots: Sequence[str], db: str | None, options: ReportOptions) -> Report:
    from tui.workspace.root_labels import root_report

    found = opening.open_roots(roots, os.environ)
    with opened_store(db) as store, opening.opened_roots(found) as index, paused_gc():
        return root_report(store, index, found[0].config, found[0].cutoff, options)


@contextmanager
def paused_gc() -> Iterator[None]:
    """Without the search for reference cycles: the thousands of records of a report have none, and it is slow."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
