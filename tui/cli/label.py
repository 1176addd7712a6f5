"""`memsift label`."""

from __future__ import annotations

import json
import os
from contextlib import closing
from typing import TYPE_CHECKING

import click

from tui.cli.app import require_terminal, run_app
from tui.cli.judge_options import JudgeOptions, judge_options
from tui.cli.options import DB, ORDER, PROMPTS, roots_option
from tui.cli.telling import tell
from tui.workspace import opening

if TYPE_CHECKING:
    from engine.prompt import Prompt
    from tui.workspace.workspace import Workspace

NO_PROMPTS = (
    "There are no prompts to label. Name some with --prompts FILE, or go to a folder in which Claude Code was used: "
    "its transcripts are read."
)
ALL_DONE = "Every prompt is labelled. Read memsift report, or name other prompts with --prompts FILE."


@click.command()
@roots_option("one after the other.")
@PROMPTS
@judge_options
@DB
@ORDER
@click.option("--next", "following", metavar="N", type=click.IntRange(min=1), help="List the next N prompts to label.")
@click.option("--adjudicate", is_flag=True, help="Open the app on the memories on which people differ.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def label(
    roots: tuple[str, ...],
    prompts: tuple[str, ...],
    judge: JudgeOptions,
    db: str | None,
    order: str | None,
    following: int | None,
    adjudicate: bool,
    form: str,
) -> None:
    """How far labelling is: who said how much, what is left, who differs. Labelling itself is in the app: F4."""
    from tui.cli.output import of_roots

    if adjudicate and len(roots) > 1:
        raise click.UsageError("--adjudicate opens the app, which is open on one folder of memories: name one --root.")
    if adjudicate:
        require_terminal()
    texts = {}
    for root in opening.resolve_roots(roots, os.environ):
        workspace = opening.open_workspace(root, prompts, judge, db, os.environ, order=order)
        if adjudicate:
            run_app(workspace, "settle")
            return
        with closing(workspace):
            texts[root] = said(workspace, following, form)
    click.echo(of_roots(texts, "jsonl" if form == "json" else form), nl=False)


def said(workspace: Workspace, following: int | None, form: str) -> str:
    from tui.cli.progress_text import progress_row, progress_text
    from tui.workspace.labelling import LabelQueue, progress_of
    from tui.workspace.planning import make_order

    make_order(workspace)
    queue = LabelQueue(workspace)
    if not workspace.prompts:
        tell(NO_PROMPTS)
    elif following and not queue.unfinished():
        tell(ALL_DONE)
    if following:
        return prompts_text(queue.unfinished()[:following], form)
    progress = progress_of(workspace, queue)
    return f"{json.dumps(progress_row(progress))}\n" if form == "json" else progress_text(progress)


def prompts_text(prompts: tuple[Prompt, ...], form: str) -> str:
    """A line for each: as `memsift prompts` has it, or the beginning of what it says."""
    from tui.cli.output import prompt_row, visible

    if form == "json":
        return "".join(f"{json.dumps(prompt_row(prompt))}\n" for prompt in prompts)
    return "".join(f"{prompt.id}  {visible(' '.join(prompt.text.split()))[:100]}\n" for prompt in prompts)
