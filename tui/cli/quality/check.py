"""`memsift quality check`."""

from __future__ import annotations

import os
from collections import Counter
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from engine.lean.json_text import printed_json
from engine.lean.record import fields
from engine.quality.registry import BY_DEFAULT, CHECKS
from engine.wording import counted
from tui.cli.options import DB, TEXT_JSON_OR_IDS, output_of_roots, roots_option, text_width
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.quality.registry import Finding

OF_SEVERAL = "each root is checked by itself."
CHECK_HELP = f"Only this check: {', '.join(CHECKS)}. Repeatable."
INDENT = " " * 6
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
@TEXT_JSON_OR_IDS
@click.pass_context
def check(
    ctx: click.Context,
    roots: tuple[str, ...],
    checks: tuple[str, ...],
    limits: tuple[float, int] | None,
    db: str | None,
    form: str,
) -> None:
    """Look for memories that are risky, doubled, out of date, unused, too long or malformed. Nothing is changed.

    Output: for each finding its severity from 0 to 1, the check, the memory, the reason, and what settles it; or as
    JSON {findings: [{check, memory_id, severity, reason, action, where, others, change}]}. A secret itself is never
    printed. With --format ids: the id of each memory with a finding, for a command that takes - as ID.

    memsift quality fix makes the changes that cannot be wrong. memsift quality accept ID --check NAME dismisses a
    finding until the memory is edited.

    \b
    Checks:
      safety      a possible instruction to the assistant
      secrets     passwords, keys and tokens
      duplicates  pairs of memories that say nearly the same
      staleness   superseded, or about files, functions and versions that
                  are no more in the repository
      age         not changed for long; only if it is named
      drift       copies of a file; differences between the files and the list of memories
      usage       never injected, or often without being relevant
      size        texts that are longer than all that a prompt may get
      fields      fields that a memory lacks, or its category does not allow
    """
    from tui.workspace.curate.curating import resolved
    from tui.workspace.quality.findings import checked

    made = {root: checked(root, checks or BY_DEFAULT, db, os.environ) for root in resolved(roots)}
    every = [finding for found in made.values() for finding in found]
    if form == "ids":
        click.echo("".join(f"{visible(memory_id)}\n" for memory_id in _ids(every)), nl=False)
    else:
        click.echo(output_of_roots({root: printed(found, form) for root, found in made.items()}, form), nl=False)
    tell(_summary(every))
    if limits and is_over(every, *limits):
        ctx.exit(1)


def _ids(found: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(finding.memory_id for finding in found if finding.memory_id))


def _summary(found: Sequence[Finding]) -> str:
    """How many findings there are of each check, and how many are settled by memsift quality fix."""
    if not found:
        return "The checks found nothing."
    counts = Counter(finding.check for finding in found)
    parts = ", ".join(f"{count:,} {check}" for check, count in counts.items())
    settled = sum(bool(finding.change) for finding in found)
    rest = f" memsift quality fix settles {settled:,} of them." if settled else ""
    return f"{counted(len(found), 'finding')}: {parts}.{rest}"


def is_over(found: Sequence[Finding], severity: float, count: int) -> bool:
    """Whether a finding is at least as severe as *severity*, or *count*, unless -1, is passed."""
    return any(finding.severity >= severity for finding in found) or (count >= 0 and len(found) > count)


def printed(found: Sequence[Finding], form: str) -> str:
    if form == "json":
        rows: list[dict[str, Any]] = [
            {**fields(finding), "others": list(finding.others), "change": list(finding.change)} for finding in found
        ]
        return f"{printed_json({'findings': rows}, indent=2)}\n"
    width = text_width()
    return "".join(f"{line}\n" for finding in found for line in _lines(finding, width))


def _lines(finding: Finding, width: int) -> list[str]:
    """A finding as lines of at most *width* characters, broken between words only."""
    where = f" ({finding.where})" if finding.where else ""
    first = f"{finding.severity:.2f}  {finding.check}  {finding.memory_id or 'the root'}{where}: {finding.reason}"
    return [*wrapped(first, width, ""), *wrapped(finding.action, width, INDENT)]


def wrapped(text: str, width: int, indent: str) -> list[str]:
    """Lines of at most *width* characters, broken between words only. *indent* begins the first, INDENT the others."""
    return wrap(
        visible(text),
        width,
        initial_indent=indent,
        subsequent_indent=INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
