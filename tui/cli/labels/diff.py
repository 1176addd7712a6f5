"""`memsift diff`."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from engine.errors import MemsiftError, RootNotFoundError
from engine.lean.json_text import printed_json
from tui.cli.declaring import argument, command, option
from tui.cli.options import TREC_FORM, Roots, StoreFile, format_option, opened_store
from tui.cli.output import picked, report_skipped, text_width
from tui.workspace import opening
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.prompt import Prompt
    from labels.report.run_diff import ComparedRuns
    from labels.runs import SavedRun
    from labels.store import LabelStore
    from tui.workspace.replay.run_diffs import DiffSide

FORMS = "Text for people, JSON for programs, or Markdown, a summary for a pull request."
QRELS = f"Relevance labels {TREC_FORM}; instead of the labels in the label store."
NO_RUNS = "No saved run over these memories. To save one: memsift replay --save, or R in Replay."


@command()
def diff(
    before: Annotated[str | None, argument(required=False)],
    now: Annotated[str | None, argument(required=False)],
    systems: Annotated[str, option("--systems", metavar="NAMES", default="")],
    qrels: Annotated[str | None, option("--qrels", metavar="FILE", about=QRELS)],
    prompts: Annotated[tuple[str, ...], option("--prompts", metavar="FILE")],
    exit_code: Annotated[bool, option("--exit-code")],
    most_new: Annotated[int, option("--max-new", metavar="N", type=click.IntRange(0), default=0)],
    roots: Roots,
    db: StoreFile,
    form: Annotated[str, format_option("text", "json", "markdown", about=FORMS)],
) -> None:
    """Compare BEFORE and NOW: the memories that each prompt gained and lost, with the labels of these memories.

    Each is a folder of memories; or a revision of the repository, such as origin/main or HEAD, with its memories in
    git; or a file from memsift replay; or a saved run: its number, its id, or a system for its latest run. Over folders
    and revisions the prompts are replayed now, with the system of the hook, without its judge, and for revisions with
    the settings of the present root. Without arguments, the saved runs are listed.

    \b
    Examples:
      memsift diff origin/main HEAD --prompts .memsift/prompts.jsonl --exit-code
      memsift diff 2 1

    --prompts: The prompts to replay, or the prompts of the files, for their texts. Default: the prompts that were
        replayed over these memories.
    --exit-code: Exit with 1 if a relevant memory is lost, or if more memories without a label come in than --max-new
        allows. An edited memory has no label on its new text.
    --max-new: Number of memories without a label that may come in, counted for each prompt. Default: 0.
    --systems: The system to compare in files with several, or two separated by a comma: before and now. Default: the
        system of the hook.
    """
    from labels.report.run_diff import diff_json, diff_markdown, diff_text, limits_line

    if before is None:
        list_saved(roots, db, form)
        return
    if now is None:
        raise click.UsageError("Name BEFORE and NOW. `memsift diff` alone lists the saved runs.")
    first, _, second = systems.partition(",")
    read: Sequence[Prompt] = ()
    if prompts:
        reading = opening.project_prompts(prompts, os.environ)
        report_skipped(reading.skipped)
        if not reading.prompts:  # others must not be compared in their place
            raise MemsiftError(f"There is no prompt in {', '.join(prompts)}.")
        read = reading.prompts
    with opened_store(db) as store:
        saved = () if all(Path(given).exists() for given in (before, now)) else saved_runs(store, roots)
        systems_of = ((before, first), (now, second or first))
        sides = [side(store, saved, given, system.strip(), roots, read) for given, system in systems_of]
        compared = comparison(store, sides, qrels, read)
    if form == "json":
        click.echo(diff_json(compared), nl=False)
    elif form == "markdown":
        click.echo(diff_markdown(compared, most_new), nl=False)
    else:
        click.echo(diff_text(compared, text_width(), most_new), nl=False)
    found = compared.diff
    if exit_code and (found.lost_relevant or found.new_unlabelled > most_new):
        tell(f"{limits_line(found, most_new)} To label them: memsift, then L.")
        click.get_current_context().exit(1)


def saved_runs(store: LabelStore, roots: Sequence[str]) -> tuple[SavedRun, ...]:
    from tui.workspace.root_labels import let_labels_follow

    with opening.opened_roots(opening.known_roots(roots, os.environ)) as index:
        let_labels_follow(store, index)
        return store.saved_runs(index.root)


def side(
    store: LabelStore,
    saved: Sequence[SavedRun],
    given: str,
    system: str,
    roots: Sequence[str],
    prompts: Sequence[Prompt],
) -> DiffSide:
    """The run that *given* names, or a replay of *prompts*. Files and folders come first, revisions last."""
    from tui.workspace.replay import run_diffs as runs

    path = Path(given)
    if path.is_file():
        return runs.run_in_file(path, system, () if system else runs.own_systems(roots, os.environ))
    if given and path.is_dir():
        return runs.replay_folder(given, prompts, store, os.environ)
    try:
        return runs.run_of(store, runs.find_run(saved, given))
    except MemsiftError as unknown:
        with suppress(RootNotFoundError):
            return runs.replay_revision(given, opening.known_roots(roots, os.environ), prompts, store, os.environ)
        raise unknown from None


def comparison(
    store: LabelStore, sides: Sequence[DiffSide], qrels: str | None, prompts: Sequence[Prompt]
) -> ComparedRuns:
    """The diff of two runs with the labels of *store*, or those of the file *qrels*."""
    from labels.exchange.trec import read_graded_qrels
    from labels.report.run_diff import by_qrels
    from tui.workspace.replay.run_diffs import compare_runs, people_said

    texts = {**store.prompt_texts(), **{prompt.id: prompt.text for prompt in prompts}}
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
