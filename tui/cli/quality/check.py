"""`memsift quality check`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from engine.lean.json_text import printed_json
from engine.lean.record import fields
from engine.quality.registry import CHECKS
from tui.cli.options import DB, TEXT_OR_JSON, output_of_roots, roots_option
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.quality.registry import Finding

OF_SEVERAL = "each root is checked by itself."
CHECK_HELP = f"Only this check: {', '.join(CHECKS)}. Repeatable."
FAIL_HELP = (
    "Exit with 1 if there are more findings than this whole number, or a finding of at least this severity, a number "
    "with a point such as 0.5."
)


def limit(_context: click.Context, _option: click.Parameter, given: str | None) -> tuple[float, int] | None:
    """The severity and the number of findings that are still allowed; None without --fail-over."""
    if given is None:
        return None
    try:
        if given.isdecimal():
            return 2.0, int(given)
        if 0 <= float(given) <= 1:
            return float(given), -1
    except ValueError:
        pass
    raise click.BadParameter(f"{given!r} is no number of findings, and no severity from 0.0 to 1.0.")


@click.command()
@roots_option(OF_SEVERAL)
@click.option("--check", "checks", metavar="NAME", multiple=True, type=click.Choice(list(CHECKS)), help=CHECK_HELP)
@click.option("--fail-over", "limits", metavar="SEVERITY|COUNT", callback=limit, help=FAIL_HELP)
@DB
@TEXT_OR_JSON
@click.pass_context
def check(
    ctx: click.Context,
    roots: tuple[str, ...],
    checks: tuple[str, ...],
    limits: tuple[float, int] | None,
    db: str | None,
    form: str,
) -> None:
    """Look for memories that are risky, doubled, out of date, unused or too long. Nothing is changed.

    Output: for each finding its severity from 0 to 1, the check, the memory, the reason, and what settles it; or as
    JSON {findings: [{check, memory_id, severity, reason, action, where, others}]}. A secret itself is never printed.

    memsift quality accept ID --check NAME dismisses a finding until the memory is edited.

    \b
    Checks:
      safety      a possible instruction to the assistant
      secrets     passwords, keys and tokens
      duplicates  pairs of memories that say nearly the same
      staleness   old, superseded, or about files, functions and versions that
                  are no more in the repository
      drift       differences between the files and the list of memories
      usage       never injected, or often without being relevant
      size        titles and texts that are too long
    """
    from tui.workspace.curating import resolved
    from tui.workspace.quality.checking import checked

    made = {root: checked(root, checks or CHECKS, db, os.environ) for root in resolved(roots)}
    click.echo(output_of_roots({root: printed(found, form) for root, found in made.items()}, form), nl=False)
    every = [one for found in made.values() for one in found]
    if not every:
        tell("The checks found nothing.")
    if limits and is_over(every, *limits):
        ctx.exit(1)


def is_over(found: Sequence[Finding], severity: float, count: int) -> bool:
    """Whether a finding is at least as severe as *severity*, or *count*, unless -1, is passed."""
    return any(one.severity >= severity for one in found) or (count >= 0 and len(found) > count)


def printed(found: Sequence[Finding], form: str) -> str:
    if form == "json":
        rows: list[dict[str, Any]] = [{**fields(one), "others": list(one.others)} for one in found]
        return f"{printed_json({'findings': rows}, indent=2)}\n"
    return "".join(f"{visible(line)}\n" for one in found for line in _lines(one))


def _lines(one: Finding) -> list[str]:
    where = f" ({one.where})" if one.where else ""
    return [
        f"{one.severity:.2f}  {one.check}  {one.memory_id or 'the root'}{where}: {one.reason}",
        f"      {one.action}",
    ]
