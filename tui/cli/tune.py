"""`memsift tune`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.config import TITLE_TAGS
from engine.cutoff import fit_of
from engine.errors import TuningError
from engine.paths import state_dir
from tui.cli.options import DB, TEXT_OR_JSON, UNJUDGED, opened_store, roots_option
from tui.workspace import opening
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import Config
    from labels.tuning.examples import JudgedPrompt
    from labels.tuning.tuning import Tuning

TARGET = "Precision to reach, between 0 and 1: relevant injected memories / injected memories."
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
CONFIDENCE = "Probability with which the target must be reached."


@click.command()
@click.option("--target-precision", "target", type=SHARE, metavar="P", help=TARGET)
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, max_open=True),
    metavar="P",
    default=0.9,
    show_default=True,
    help=CONFIDENCE,
)
@roots_option("one model for all roots.")
@DB
@click.option("--prompts", "prompts", metavar="FILE", multiple=True, help="Prompts of --qrels. Repeatable.")
@click.option("--qrels", metavar="FILE", help="Relevance labels in TREC form, instead of the label store.")
@UNJUDGED
@click.option("--apply", is_flag=True, help="Write the model. Hook, app and commands use it from then on.")
@click.option("--undo", is_flag=True, help="Remove the written model.")
@TEXT_OR_JSON
def tune(
    target: float | None,
    confidence: float,
    roots: tuple[str, ...],
    db: str | None,
    prompts: tuple[str, ...],
    qrels: str | None,
    unjudged: str,
    apply: bool,
    undo: bool,
    form: str,
) -> None:
    """Learn from labels which memories to leave out.

    The cutoff drops a memory if its P(relevant) is below a threshold. Shown is precision against coverage at every
    threshold, measured on prompts that the model has not learned from. The cutoff needs labels of at least 30 prompts,
    20 relevant and 20 irrelevant memories. No judge is asked.

    Nothing is written without --apply. The exit code is 1 if no threshold reaches the target.
    """
    found = opening.resolve_roots(roots, os.environ)
    if undo:
        if target is not None or apply:
            raise click.UsageError("--undo removes the model; it goes with neither --target-precision nor --apply.")
        for root in found:
            undo_tuning(root)
        return
    if target is None:
        raise click.UsageError("Name the precision to reach with --target-precision, such as 0.8.")
    check_files(found, prompts, qrels)
    config = config_of(found)
    from labels.tuning import text
    from labels.tuning.tuning import tune as tuned

    if qrels:
        judged = judged_in_files(found[0], config, prompts, qrels, excludes=unjudged == "exclude")
        strata: dict[str, str] = {}
    else:
        judged, strata = judged_in_store(found, config, db)
    tuning = tuned(judged, target, confidence, config.max_inject, strata)
    click.echo(text.format_json(tuning) if form == "json" else text.format_text(tuning), nl=False)
    if tuning.at is None:
        tell(f"No threshold reaches {target:g}; nothing was written.")
        click.get_current_context().exit(1)
    if apply:
        for root in found:
            apply_tuning(root, tuning, config)
    else:
        tell("Nothing was written. Add --apply to use this cutoff.")


def check_files(roots: Sequence[str], prompts: Sequence[str], qrels: str | None) -> None:
    """Raise click.UsageError if --prompts, --qrels and --root do not go together."""
    if bool(prompts) != bool(qrels):
        raise click.UsageError("--prompts and --qrels go together: name both.")
    if qrels and len(roots) > 1:
        raise click.UsageError("--qrels is about one folder of memories: name one --root.")


def config_of(roots: Sequence[str]) -> Config:
    """The configuration of the hook. Raises TuningError if *roots* differ, or if their strategy has no cutoff."""
    config, *others = (opening.config_of(root, os.environ) for root in roots)
    if any(fit_of(other) != fit_of(config) for other in others):
        raise TuningError("The roots find memories by different rules (memory-config.json): tune each by itself.")
    if config.match_strategy == TITLE_TAGS:
        raise TuningError(f"match_strategy {TITLE_TAGS!r} has no cutoff. Choose another in memory-config.json.")
    return config


def judged_in_store(roots: Sequence[str], config: Config, db: str | None) -> tuple[list[JudgedPrompt], dict[str, str]]:
    """The prompts with labels, and prompt id -> stratum for prompts whose labelling order has strata."""
    from labels.tuning.examples import Truth, judged_prompts

    judged: list[JudgedPrompt] = []
    strata: dict[str, str] = {}
    with opened_store(db) as store:
        for root in roots:
            with opening.opened_index(root) as index:
                truth = Truth.from_gold(store.gold(index.root))
                judged += judged_prompts(store.prompts(index.root), index, config, truth, index.root)
                strata |= store.strata(index.root)
    return judged, strata


def judged_in_files(
    root: str, config: Config, prompts: tuple[str, ...], qrels: str, *, excludes: bool
) -> list[JudgedPrompt]:
    """The prompts with labels from files. Raises MemsiftError for an unreadable file, or if no id is in both."""
    from labels.exchange.trec import read_qrels
    from labels.tuning.examples import Truth, judged_prompts

    judgements = read_qrels(Path(qrels))
    reading = opening.project_prompts(prompts, os.environ)
    if not any(prompt.id in judgements for prompt in reading.prompts):
        raise TuningError(f"{qrels} has no row for any of the {len(reading.prompts):,} prompts. Check their ids.")
    with opening.opened_index(root) as index:
        return judged_prompts(reading.prompts, index, config, Truth.from_qrels(judgements, excludes=excludes))


def apply_tuning(root: str, tuning: Tuning, config: Config) -> None:
    from labels.store import utc_now
    from labels.tuning import model_file

    path = model_file.write(state_dir(root, os.environ), model_file.content(tuning, config, utc_now()))
    tell(f"Written to {path}. The hook uses it from the next prompt on; memsift tune --undo removes it.")


def undo_tuning(root: str) -> None:
    from labels.tuning import model_file

    path = model_file.remove(state_dir(root, os.environ))
    tell(f"Removed {path}." if path else "There is no tuned cutoff to remove.")
