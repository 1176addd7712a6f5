"""`memsift report`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.config import load_config
from engine.errors import MemsiftError
from tui.cli.options import DB, of_roots, opened_store, roots_option
from tui.workspace import opening

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.memory import MemorySummary
    from labels.measure.extras import Extras
    from labels.measure.names import Names
    from labels.measure.report import Report

FORMATS = ("text", "json", "markdown", "html")


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
@click.option("--prompts", metavar="FILE", help="The prompts of --run: their kinds, and their texts instead of ids.")
@click.option("--ranking", is_flag=True, help="P@k, MAP, nDCG, MRR and bpref of what is injected, too.")
@roots_option("a report of each: a prompt and what it brings up belong to one root.")
@DB
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--output", metavar="FILE", help="Write it to FILE instead of printing it.")
def report(
    run_file: str | None,
    qrels: str | None,
    unjudged: str,
    prompts: str | None,
    ranking: bool,
    roots: tuple[str, ...],
    db: str | None,
    form: str,
    output: str | None,
) -> None:
    """Precision and its companions for each system, from your labels or from files."""
    from labels.measure.extras import Extras

    if bool(run_file) != bool(qrels):
        raise click.UsageError("--run and --qrels go together: rows to measure, and labels to measure them by.")
    if prompts and not run_file:
        raise click.UsageError("--prompts goes with --run: the label store knows its prompts.")
    extras = Extras(ranking, comparing=True, curves=form in ("json", "html"))
    if run_file and qrels:
        made = {"": report_of_files(run_file, qrels, unjudged, names_of(prompts, roots), extras)}
    else:
        found = opening.resolve_roots(roots, os.environ)
        if form == "html" and len(found) > 1:
            raise click.UsageError("A page is about one folder of memories: name one --root with --format html.")
        made = {root: report_of_labels(root, db, extras) for root in found}
    text = of_roots({root: writer(form)(each) for root, each in made.items()}, form)
    if output:
        write_file(Path(output), text)
    else:
        click.echo(text, nl=False)


def writer(form: str) -> Callable[[Report], str]:
    """What writes a report in a format."""
    from labels.report import json_form, markdown, page, text

    return {
        "text": text.format_text,
        "json": json_form.format_json,
        "markdown": markdown.format_markdown,
        "html": page.format_html,
    }[form]


def write_file(path: Path, content: str) -> None:
    """Raises MemsiftError for a place that cannot be written."""
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise MemsiftError(f"{path}: {error.strerror or error}. Name a file that can be written.") from None


def report_of_files(run_file: str, qrels: str, unjudged: str, names: Names, extras: Extras) -> Report:
    from labels.exchange.qrels import read_qrels
    from labels.exchange.runs import read_runs
    from labels.measure.report import report_from_judgements

    rows, judgements = read_runs(Path(run_file)), read_qrels(Path(qrels))
    return report_from_judgements(rows, judgements, unjudged, names, extras)


def names_of(prompts: str | None, roots: Sequence[str]) -> Names:
    """What the prompts in a file say, and what the memories of the roots that were named are called."""
    from labels.measure.names import Names

    read = opening.project_prompts((prompts,), os.environ).prompts if prompts else ()
    texts = {prompt.id: prompt.text for prompt in read}
    kinds = {prompt.id: prompt.kind for prompt in read}
    return Names(texts, kinds, titles([each for root in roots for each in summaries_of(root)]))


def summaries_of(root: str) -> list[MemorySummary]:
    with opening.opened_index(opening.resolve_root(root, os.environ)) as index:
        return list(index.summaries())


def titles(summaries: list[MemorySummary]) -> dict[str, str]:
    return {summary.id: summary.title for summary in summaries}


def report_of_labels(found: str, db: str | None, extras: Extras) -> Report:
    from labels.measure.collecting import collector_at_rest
    from labels.measure.names import Names
    from labels.measure.report import report_from_store

    config = load_config(found, os.environ)
    cutoff = opening.usable_cutoff(found, config, os.environ)
    with opening.opened_index(found) as index, opened_store(db) as store:
        summaries = list(index.summaries())
        digests = {summary.id: summary.digest for summary in summaries}
        names = Names(memories=titles(summaries))
        with collector_at_rest():
            return report_from_store(
                store, index.root, digests, names=names, extras=extras, config=config, cutoff=cutoff
            )
