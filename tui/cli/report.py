"""`memsift report`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui import opening
from tui.cli.options import DB, ROOT, opened_store

if TYPE_CHECKING:
    from labels.measure.report import Report


@click.command()
@click.option("--run", "run_file", metavar="FILE", help="Rows of `memsift replay`, instead of the label store.")
@click.option("--qrels", metavar="FILE", help="TREC relevance labels for --run.")
@click.option(
    "--unjudged",
    type=click.Choice(["not", "exclude"]),
    default="not",
    show_default=True,
    help="What a memory without a row in --qrels counts as.",
)
@ROOT
@DB
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
def report(run_file: str | None, qrels: str | None, unjudged: str, root: str | None, db: str | None, form: str) -> None:
    """Precision and its companions for each system, from your labels or from files."""
    from labels.measure import json_form, markdown, text

    if bool(run_file) != bool(qrels):
        raise click.UsageError("--run and --qrels go together: rows to measure, and labels to measure them by.")
    made = report_of_files(run_file, qrels, unjudged) if run_file and qrels else report_of_labels(root, db)
    formats = {"text": text.format_text, "json": json_form.format_json, "markdown": markdown.format_markdown}
    click.echo(formats[form](made), nl=False)


def report_of_files(run_file: str, qrels: str, unjudged: str) -> Report:
    from labels.measure.report import report_from_files

    return report_from_files(Path(run_file), Path(qrels), unjudged)


def report_of_labels(root: str | None, db: str | None) -> Report:
    from labels.measure.report import report_from_store

    found = opening.resolve_root(root, os.environ)
    with opening.opened_index(found) as index, opened_store(db) as store:
        digests = {summary.id: summary.digest for summary in index.summaries()}
        return report_from_store(store, index.root, digests)
