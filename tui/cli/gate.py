"""`memsift gate`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.config import load_config
from engine.errors import MemsiftError
from engine.systems import system_of
from tui.cli.options import DB, of_roots, opened_store, roots_option
from tui.workspace import opening

if TYPE_CHECKING:
    from labels.measure.gate.decision import Gate
    from labels.measure.gate.evidence import Evidence

LEAST = "The precision you ask for, between 0 and 1: relevant memories of all that are injected."
ZONE = "Where either answer will do: LOW-HIGH, such as 0.75-0.85, or the width of a zone around the gate, such as 0.1."
WORTH = "How many irrelevant memories one relevant memory is worth to you: says whether the judge pays."
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command()
@click.option("--min-precision", "least", type=SHARE, required=True, metavar="P", help=LEAST)
@click.option("--system", metavar="NAME", help="The system to decide on. Default: the one that is configured.")
@click.option("--strict", is_flag=True, help="Exit with 1 if it cannot be decided yet, too.")
@click.option("--indifference", "zone", metavar="ZONE", help=ZONE)
@click.option("--worth", type=click.FloatRange(min=0, min_open=True), metavar="N", help=WORTH)
@click.option("--run", "run_file", metavar="FILE", help="Rows of `memsift replay`, instead of the label store.")
@click.option("--qrels", metavar="FILE", help="TREC relevance labels for --run.")
@click.option(
    "--unjudged",
    type=click.Choice(["not", "exclude"]),
    default="not",
    show_default=True,
    help="What a memory without a row in --qrels counts as.",
)
@roots_option("each is decided by itself, and one that fails makes the exit code 1.")
@DB
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def gate(
    least: float,
    system: str | None,
    strict: bool,
    zone: str | None,
    worth: float | None,
    run_file: str | None,
    qrels: str | None,
    unjudged: str,
    roots: tuple[str, ...],
    db: str | None,
    form: str,
) -> None:
    """Is what is injected relevant often enough? Exit code 0 if it is or cannot be told yet, 1 if it is not.

    The answer stays true however often you ask: label some prompts, ask, and stop as soon as it is decided.
    """
    from labels.measure.gate.decision import FAIL, UNDECIDED
    from labels.measure.gate.report import gate_report
    from labels.report.gate_text import format_json, format_text

    if bool(run_file) != bool(qrels):
        raise click.UsageError("--run and --qrels go together: rows to measure, and labels to measure them by.")
    asked = wanted(least, zone)
    if run_file and qrels:
        known = {"": (evidence_of_files(run_file, qrels, unjudged), "")}
    else:
        known = {root: evidence_of_labels(root, db) for root in opening.resolve_roots(roots, os.environ)}
    reports = {
        root: gate_report(evidence, chosen(system, evidence, configured), asked, worth)
        for root, (evidence, configured) in known.items()
    }
    write = format_text if form == "text" else format_json
    click.echo(of_roots({root: write(report) for root, report in reports.items()}, form), nl=False)
    verdicts = {report.decision.verdict for report in reports.values()}
    if FAIL in verdicts or (strict and UNDECIDED in verdicts):
        click.get_current_context().exit(1)


def wanted(least: float, zone: str | None) -> Gate:
    """The gate; click.UsageError for a zone that is none, or in which it does not lie."""
    from labels.measure.gate.decision import Gate
    from labels.measure.intervals import Interval

    low, high = zone_of(least, zone) if zone else (least, least)
    if not 0 <= low <= least <= high <= 1:
        raise click.UsageError(f"--indifference {zone} must be within 0 and 1 and hold --min-precision {least:g}.")
    return Gate(least, Interval(low, high))


def zone_of(least: float, zone: str) -> tuple[float, float]:
    """LOW-HIGH, or what a width is around *least*, as far as it is within 0 and 1."""
    low, dash, high = zone.partition("-")
    try:
        if dash:
            return float(low), float(high)
        width = float(zone)
    except ValueError:
        raise click.UsageError(f"--indifference is LOW-HIGH or a width, not {zone!r}.") from None
    if not 0 <= width <= 1:
        raise click.UsageError(f"--indifference {zone} must be within 0 and 1.")
    return max(0.0, least - width / 2), min(1.0, least + width / 2)


def evidence_of_files(run_file: str, qrels: str, unjudged: str) -> Evidence:
    from labels.exchange.calls import read_calls
    from labels.exchange.qrels import read_qrels
    from labels.exchange.runs import read_runs
    from labels.measure.gate.evidence import evidence_from_judgements

    rows, judgements = read_runs(Path(run_file)), read_qrels(Path(qrels))
    return evidence_from_judgements(rows, judgements, read_calls(Path(run_file)), unjudged)


def evidence_of_labels(found: str, db: str | None) -> tuple[Evidence, str]:
    """What the labels say of a root, and the system that its configuration and its tuned cutoff come to."""
    from labels.measure.gate.evidence import evidence_from_store

    config = load_config(found, os.environ)
    cutoff = opening.usable_cutoff(found, config, os.environ)
    with opening.opened_index(found) as index, opened_store(db) as store:
        digests = {summary.id: summary.digest for summary in index.summaries()}
        evidence = evidence_from_store(store, index.root, digests, config, cutoff)
    return evidence, system_of(config, has_judge=config.judge.enabled, has_cutoff=cutoff is not None).name


def chosen(name: str | None, evidence: Evidence, configured: str) -> str:
    """The system to decide on: the one that was named, is configured, or is alone without a judge.

    Raises MemsiftError where nothing was replayed, and click.UsageError for a name that is not among what was.
    """
    systems = evidence.systems
    if not systems:
        raise MemsiftError(
            "Nothing has been replayed here: run memsift replay --save, or replay in the app, and label."
        )
    if name:
        if name not in systems:
            raise click.UsageError(f"There is no system {name!r}. Replayed were {', '.join(systems)}.")
        return name
    plain = [each for each in systems if not each.endswith("+judge")]
    if configured in systems:
        return configured
    if len(plain) == 1 or len(systems) == 1:
        return (plain or list(systems))[0]
    raise click.UsageError(f"Name a system with --system: {', '.join(systems)}.")
