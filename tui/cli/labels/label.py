"""`memsift label`."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import click

from engine.conversations.activity_log import last_injected, read_log
from engine.errors import MemsiftError
from engine.lean.json_text import printed_json
from engine.paths import state_dir
from engine.wording import counted
from tui.cli.app import require_terminal, run_app
from tui.cli.declaring import command, option
from tui.cli.listing import prompt_line
from tui.cli.options import AskedJudge, PromptFiles, Roots, StoreFile, TextOrJson, store_path
from tui.cli.output import text_of
from tui.workspace import opening
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from labels.measure.agreement import LabellingProgress
    from tui.workspace.workspace import Workspace

NO_PROMPTS = (
    "There are no prompts to label. Name some with --prompts FILE, or go to a folder with prompts of Claude Code, "
    "SpecStory or aider."
)
WORDS = {"not": "not relevant", "unrateable": "cannot be rated"}
"""A verdict as people say it, if it differs."""

NOTHING_INJECTED = (
    "No prompt of this project got memories yet. Type a prompt in Claude Code first; memsift activity shows the hook's "
    "decisions."
)


@command()
def label(
    roots: Roots,
    prompts: PromptFiles,
    judge: AskedJudge,
    db: StoreFile,
    next_count: Annotated[int | None, option("--next", metavar="N", type=click.IntRange(min=1))],
    adjudicate: Annotated[bool, option("--adjudicate")],
    is_last: Annotated[bool, option("--last")],
    form: TextOrJson,
) -> None:
    """Show how far each person is with labelling.

    To label, open the app with memsift and press L. With --last, label the memories that were just injected: their
    ranks are in view, so these labels are not blind. MEMSIFT_ANNOTATOR is the name on your labels, by default your
    user name.

    \b
    Examples:
      memsift label
      memsift label --next 5

    --next: Only list the next N prompts to label.
    --adjudicate: Open the app to settle labels about which people disagree.
    --last: Open the app in Replay, at the last prompt that got memories from the hook.
    """
    if adjudicate and is_last:
        raise click.UsageError("--adjudicate and --last open different screens: leave one out.")
    if adjudicate or is_last:
        require_terminal()
    store_path(db, writes=False)
    first, *others = opening.known_roots(roots, os.environ)
    workspace = opening.open_workspace(first, prompts, judge, db, os.environ, others=others)
    if adjudicate:
        run_app(workspace, "settle")
        return
    if is_last:
        log = read_log(state_dir(workspace.root, os.environ))
        found = last_injected(log.decisions, workspace.prompts)
        if found is None:
            workspace.close()
            raise MemsiftError(NOTHING_INJECTED)
        workspace.wanted_prompt = found.id
        run_app(workspace, "replay")
        return
    if workspace.notice:
        tell(workspace.notice)
    with closing(workspace):
        click.echo(output_of(workspace, next_count, form), nl=False)


def output_of(workspace: Workspace, next_count: int | None, form: str) -> str:
    """The progress, or with *next_count* the next prompts, in the format *form*."""
    from tui.workspace.labelling import LabelQueue, progress_of

    queue = LabelQueue(workspace)
    if not workspace.prompts:
        tell(NO_PROMPTS)
    elif next_count and not queue.unfinished():
        tell("Every prompt is labelled. Read memsift report, or name other prompts with --prompts FILE.")
    if next_count:
        return "".join(f"{prompt_line(prompt, form)}\n" for prompt in queue.unfinished()[:next_count])
    progress = progress_of(workspace, queue)
    if form == "json":
        people = [{**asdict(person), "labels": person.labels} for person in progress.people]
        return f"{printed_json({**asdict(progress), 'people': people})}\n"
    lines = [f"{progress.done:,} of {counted(progress.prompts, 'prompt')} done by {progress.annotator}"]
    if progress.seconds_per_card is not None:
        lines.append(f"{max(1, round(progress.seconds_per_card))} s a card")
    lines += people_lines(progress)
    if progress.disputed:
        disputed = counted(progress.disputed, "memory")
        lines.append(f"people disagree about {disputed}. To settle them: memsift label --adjudicate")
    if progress.settled:
        lines.append(f"{progress.settled:,} settled")
    if progress.stale:
        lines.append(f"{counted(progress.stale, 'label')} of edited memories: not counted")
    return text_of(lines)


def people_lines(progress: LabellingProgress) -> list[str]:
    lines = [] if progress.people else ["no labels yet. To start: memsift, then L"]
    for person in progress.people:
        counts = person.verdicts.items()
        verdicts = ", ".join(f"{count:,} {WORDS.get(verdict, verdict)}" for verdict, count in counts if count)
        given = f" ({verdicts})" if verdicts else ""
        imported = f", {person.imported:,} imported" if person.imported else ""
        lists = f", {counted(person.lists, 'list card')}" if person.lists else ""
        labels = counted(person.labels, "label")
        lines.append(f"{person.annotator}: {labels}{given}, {person.blind:,} given blind{imported}{lists}")
        if person.repeated:
            kappa = f", kappa {person.kappa:.2f}" if person.kappa is not None else ""
            cards = counted(person.repeated, "repeated card")
            lines.append(f"  same answer on {person.same:,} of {cards}{kappa}")
    return lines
