"""`memsift quality fix`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from engine.quality.registry import BY_DEFAULT, CHECKS
from engine.wording import counted
from tui.cli.options import DB, roots_option
from tui.cli.quality.check import CHECK_HELP
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.quality.fixing import Fix

OF_SEVERAL = "the changes in all of them are one operation."
WITHOUT_QUESTION = "Make the changes without a question."
DRY_RUN = "Only print the changes."
HISTORY = "The journal and the repository's history still hold the secrets, so replace them where they are used."


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@roots_option(OF_SEVERAL)
@click.option("--check", "checks", metavar="NAME", multiple=True, type=click.Choice(list(CHECKS)), help=CHECK_HELP)
@click.option("--yes", "-y", "is_agreed", is_flag=True, help=WITHOUT_QUESTION)
@click.option("--dry-run", is_flag=True, help=DRY_RUN)
@DB
def fix(
    ids: tuple[str, ...],
    roots: tuple[str, ...],
    checks: tuple[str, ...],
    is_agreed: bool,
    dry_run: bool,
    db: str | None,
) -> None:
    """Make the changes that settle findings and cannot be wrong, of all memories or of the memories ID...

    The changes are printed first, and made when you agree. They are one operation: a single memsift undo takes all of
    them back. Memories with a finding that you dismissed with memsift quality accept --check stay as they are.

    \b
    Check       Change
      secrets     a key or password of one word is taken out of the text
      drift       memories that the list neither links nor names get a line, as
                  far as the client loads the whole list; a list that a program
                  makes is brought in step with the files

    No memory is retired, merged or reworded, and no line of a person is changed. All other findings are for you to
    decide. Memories that you want to change alike go through a pipe:

    \b
      memsift quality check --check staleness --format ids |
        memsift retire --reason "out of date" -
    """
    from tui.workspace.curate.curating import opened_curator, resolved
    from tui.workspace.quality.findings import fixable

    with opened_curator(os.environ):
        pass  # what a killed process left is finished before the memories are read
    found = [fixable(root, checks or BY_DEFAULT, ids, db, os.environ) for root in resolved(roots)]
    made = [change for changes, _ in found for change in changes]
    left = sum(count for _, count in found)
    click.echo("".join(f"{change.check:<10}  {visible(change.sentence)}\n" for change in made), nl=False)
    if not made:
        tell("There is nothing to change.")
    elif dry_run:
        tell(f"Nothing was changed. Without --dry-run: {_changes(len(made))}.")
    elif is_agreed or _agrees(len(made)):
        _perform(made)
    else:
        tell("Nothing was changed.")
    if left:
        tell(f"{counted(left, 'finding needs', 'findings need')} your decision: memsift quality check")


def _agrees(count: int) -> bool:
    if not sys.stdin.isatty():
        raise click.UsageError("There is no terminal for a question. Add --yes to make these changes, or --dry-run.")
    return click.confirm(f"Make {_changes(count)}?", err=True)


def _changes(count: int) -> str:
    return f"{'this change' if count == 1 else f'these {count:,} changes'}"


def _perform(made: Sequence[Fix]) -> None:
    from engine.quality.fixing import together
    from tui.workspace.curate.curating import carry_out, opened_curator

    with opened_curator(os.environ) as curator:
        carry_out(curator, curator.plan(together(made)))
    if any(change.check == "secrets" for change in made):
        tell(HISTORY)
