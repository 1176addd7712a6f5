"""`memsift doctor`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.config import JudgeConfig
from engine.doctor import PROBLEM, client, judge, machine, memories, note, ok, problem
from engine.errors import LabelStoreError
from engine.lean.record import fields
from engine.paths import labels_file
from engine.settings.roots import find_roots
from engine.settings.sources import read_config
from engine.wording import counted
from tui.cli.declaring import command
from tui.cli.options import TextOrJson
from tui.cli.output import output, text_width, wrapped

if TYPE_CHECKING:
    from engine.doctor import DoctorFinding


@command()
def doctor(form: TextOrJson) -> None:
    """Check everything that the hook needs in this folder, and say how to mend each fault.

    Checked are Python, SQLite, clock, disk and file modes; the memories, their index, trust, settings and transcripts;
    the settings files of each agent with memsift, and its hooks for prompts; the label store; and the judge, which is
    asked only for its list of models, at no cost. A test prompt goes through the hook's own process, without a judge
    and without a line in the log.

    Output: a line for each finding; or as JSON [{check, status, text, fix}], where status is ok, note or problem. The
    exit code is 1 if there is a problem.

    \b
    Examples:
      memsift doctor
      memsift doctor --format json
    """
    found = findings(os.getcwd())  # noqa: PTH109 - the engine speaks in strings
    click.echo(output(form, list(map(fields, found)), table(found)), nl=False)
    click.get_current_context().exit(int(any(finding.status == PROBLEM for finding in found)))


def findings(folder: str) -> list[DoctorFinding]:
    """All findings for a client that is started in *folder*."""
    search = find_roots(folder, os.environ)
    roots = search.roots
    config = read_config(roots[0], os.environ).config.judge if roots else JudgeConfig()
    return [
        *machine.findings(os.environ),
        *memories.findings(folder, search, os.environ),
        *client.findings(folder, roots, os.environ),
        labels_finding(),
        judge.finding(config, os.environ),
    ]


def labels_finding() -> DoctorFinding:
    """Whether the label store can be opened. A store that does not exist yet is none."""
    from labels.store import LabelStore

    path = Path(labels_file(os.environ))
    if not path.exists():
        return note("labels", f"{path} does not exist yet: the first label makes it")
    try:
        with LabelStore.open(path) as store:
            return ok("labels", f"{path}: {counted(len(store.labels()), 'label')}")
    except LabelStoreError as error:
        return problem("labels", str(error).rstrip("."), "Update memsift, or name another store with MEMSIFT_DB.")


def table(found: list[DoctorFinding]) -> list[str]:
    """A line for each finding with its status and check, the fix below it; wrapped to the width of the terminal."""
    width, first = text_width(), max(len(finding.check) for finding in found)
    lines = []
    for finding in found:
        head = f"{finding.status:<7}  {finding.check:<{first}}  "
        below = " " * len(head)
        lines += wrapped(finding.text, width, head, below)
        lines += wrapped(finding.fix, width, f"{below}-> ", f"{below}   ")
    problems = sum(finding.status == PROBLEM for finding in found)
    return [*lines, counted(problems, "problem") if problems else "no problems"]
