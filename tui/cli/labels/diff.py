"""`memsift diff`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from engine.lean.json_text import printed_json
from tui.cli.declaring import argument, command, option
from tui.cli.options import TREC_FORM, Roots, StoreFile, TextOrJson, opened_store
from tui.cli.output import picked, text_width
from tui.workspace import opening
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.report.run_diff import ComparedRuns
    from labels.runs import SavedRun
    from labels.store import LabelStore
    from tui.workspace.replay.run_diffs import DiffSide

QRELS = f"Relevance labels {TREC_FORM}; instead of the labels in the label store."
NO_RUNS = "No run over these memories is saved. memsift replay --save and R in Replay save one."


@command()
def diff(
    before: Annotated[str | None, argument(required=False)],
    now: Annotated[str | None, argument(required=False)],
    systems: Annotated[str, option("--systems", metavar="NAMES", default="")],
    qrels: Annotated[str | None, option("--qrels", metavar="FILE", about=QRELS)],
    prompts: Annotated[tuple[str, ...], option("--prompts", metavar="FILE")],
    exit_code: Annotated[bool, option("--exit-code")],
    roots: Roots,
    db: StoreFile,
    form: TextOrJson,
) -> None:
    """Compare the runs BEFORE and NOW: the memories that each prompt gained and lost.

    A run is a file that memsift replay printed, or a saved run: its number, its id, or a system for the latest run of
    it. Without arguments, the saved runs are listed. A verdict stands before each memory that has a label.

    \b
    Examples:
      memsift diff
      memsift diff 2 1 --exit-code

    --prompts: The prompts of the files, for their texts.
    --exit-code: Exit with 1 if the runs differ, as git diff does.
    --systems: The system to compare in files that hold several, or two separated by a comma: before and now.
    """
    from labels.report.run_diff import diff_json, diff_text

    if before is None:
        list_saved(roots, db, form)
        return
    if now is None:
        raise click.UsageError("Name two runs: BEFORE and NOW. `memsift diff` alone lists the saved runs.")
    first, _, second = systems.partition(",")
    files = [Path(given).is_file() for given in (before, now)]
    with opened_store(db) as store:
        saved = () if all(files) else saved_runs(store, roots)
        sides = [
            side(store, saved, given, system.strip()) for given, system in ((before, first), (now, second or first))
        ]
        compared = comparison(store, sides, qrels, prompts)
    click.echo(diff_json(compared) if form == "json" else diff_text(compared, text_width()), nl=False)
    if exit_code and not compared.diff.is_equal:
        click.get_current_context().exit(1)


def saved_runs(store: LabelStore, roots: Sequence[str]) -> tuple[SavedRun, ...]:
    from tui.workspace.root_labels import let_labels_follow

    with opening.opened_roots(opening.known_roots(roots, os.environ)) as index:
        let_labels_follow(store, index)
        return store.saved_runs(index.root)


def side(store: LabelStore, saved: Sequence[SavedRun], given: str, system: str) -> DiffSide:
    """The run that *given* names. A file comes before a saved run."""
    from tui.workspace.replay.run_diffs import find_run, run_in_file, run_of

    path = Path(given)
    return run_in_file(path, system) if path.is_file() else run_of(store, find_run(saved, given))


def comparison(store: LabelStore, sides: Sequence[DiffSide], qrels: str | None, prompts: Sequence[str]) -> ComparedRuns:
    """The diff of two runs with the labels of *store*, or those of the file *qrels*."""
    from labels.exchange.trec import read_graded_qrels
    from labels.report.run_diff import by_qrels
    from tui.workspace.replay.run_diffs import compare_runs, people_said

    read = opening.project_prompts(prompts, os.environ).prompts if prompts else ()
    texts = {**store.prompt_texts(), **{prompt.id: prompt.text for prompt in read}}
    known = by_qrels(*read_graded_qrels(Path(qrels))) if qrels else people_said(store)
    before, now = sides
    return compare_runs(before, now, known, texts)


def list_saved(roots: Sequence[str], db: str | None, form: str) -> None:
    """Print the saved runs, the latest first: a line each, or a JSON object each."""
    from tui.workspace.replay.run_diffs import run_line

    with opened_store(db) as store:
        runs = saved_runs(store, roots)
    if not runs:
        tell(NO_RUNS)
    width = max((len(run.system) for run in runs), default=0)
    for number, run in enumerate(runs, start=1):
        row = {"number": number, **picked(run, "run_id", "system", "prompts", "ts", "root")}
        click.echo(printed_json(row) if form == "json" else visible(run_line(number, run, width)))
