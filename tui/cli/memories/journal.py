"""`memsift undo` and `memsift history`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from engine.curation.files import diff_of
from engine.curation.journal import MOST_BYTES, MOST_OPERATIONS
from engine.errors import UnknownMemoryError
from engine.lean.json_text import printed_json
from engine.lean.record import fields
from tui.cli.options import TEXT_OR_JSON
from tui.workspace.curate.curating import carry_out, opened_curator, resolved
from tui.workspace.stderr import tell, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.curation.journal import Deed, Journal


@click.command()
@click.argument("number", type=click.IntRange(1), required=False)
@click.option("--dry-run", is_flag=True, help="Print the differences that the command would make, and change nothing.")
def undo(number: int | None, dry_run: bool) -> None:
    """Undo the operation NUMBER, or the last operation on memories.

    It gives every file of the operation its old text. It is refused, with the difference, if such a file changed since.
    To undo an undo does the operation again. `memsift history` lists the numbers.
    """
    with opened_curator(os.environ) as curator:
        plan = curator.plan_undo(number)
        if dry_run:
            click.echo(_shown(diff_of(plan.effect.files)), nl=False)
            tell(f"Nothing was changed. Without --dry-run: {plan.summary}.")
        else:
            carry_out(curator, plan)


@click.command()
@click.argument("memory_id", metavar="[ID]", required=False, default="")
@click.option("--root", metavar="PATH", help="Only operations in this folder of memories. Default: in all folders.")
@click.option("--diff", "has_diff", is_flag=True, help="Also print the differences that each operation made.")
@TEXT_OR_JSON
def history(memory_id: str, root: str | None, has_diff: bool, form: str) -> None:
    """List the changes that memsift made to memories, or to the memory ID; the oldest first.

    Output: a line for each operation, with number, time and a sentence; or as JSON [{number, at, kind, summary,
    memories, roots, state, undoes, undone_by}], and with --diff also `diff`. `state` is done, pending or incomplete.
    """
    with opened_curator(os.environ) as curator:
        deeds = curator.journal.deeds(memory_id, resolved([root])[0] if root else "")
        if memory_id and not deeds:
            _refuse_unknown(memory_id, curator.journal.deeds())
        rows = [_row(deed, curator.journal, has_diff=has_diff) for deed in deeds]
    if form == "json":
        click.echo(printed_json(rows, indent=2))
    else:
        click.echo("".join(_text(row) for row in rows), nl=False)
        if not rows:
            tell(
                f"Nothing was changed yet. The journal keeps {MOST_OPERATIONS:,} operations, {MOST_BYTES // 10**6} MB."
            )


def _refuse_unknown(memory_id: str, deeds: Sequence[Deed]) -> None:
    from engine.explaining.explain import near_ids

    near = near_ids(memory_id, sorted({memory for deed in deeds for memory in deed.memories}))
    instead = f" There are changes of {', '.join(map(repr, near))}." if near else ""
    raise UnknownMemoryError(f"The journal has no change of a memory {memory_id!r}.{instead}")


def _row(deed: Deed, journal: Journal, *, has_diff: bool) -> dict[str, Any]:
    row = {name: list(value) if isinstance(value, tuple) else value for name, value in fields(deed).items()}
    return {**row, "diff": diff_of(journal.effect(deed.number).files)} if has_diff else row


def _text(row: dict[str, Any]) -> str:
    marks = [row["state"]] if row["state"] != "done" else []
    marks += [f"undone by {row['undone_by']}"] if row["undone_by"] else []
    places = ", ".join(row["roots"])
    mark = f" [{', '.join(marks)}]" if marks else ""
    line = f"{row['number']:>5}  {row['at']}  {row['summary']}{mark}  ({places})"
    return _shown(line) + (_shown(row["diff"]) if "diff" in row else "")


def _shown(text: str) -> str:
    return "".join(f"{visible(line)}\n" for line in text.splitlines())
