"""`memsift quality`: the group, and the commands that decide about findings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.lean.record import fields
from tui.cli.declaring import command, option
from tui.cli.help import Commands
from tui.cli.options import EachRoot, Ids, LookedIn, TextJsonOrIds
from tui.cli.output import output, picked, text_of, text_width
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.workspace.quality.findings import Risky

NONE_RISKY = "No memory of these roots speaks to an assistant in a way that attacks do."


class Quality(Commands):
    subjects = {
        "Commands": "quality.group:accept quality.check:check quality.check:fix quality.judge:judge "
        "quality.group:list_ quality.group:reject"
    }


@click.group(cls=Quality)
def quality() -> None:
    """Find memories that are risky, out of date, doubled or unused, and decide about them."""


@command("list")
def list_(roots: EachRoot, form: TextJsonOrIds) -> None:
    """List the memories that speak to an assistant in a way that attacks do, until you accept them.

    A safety scan gives a memory with signs of an attack a risk of 0.6 or 0.9. The risk is 0.9 for hard signs, which no
    honest text needs: hidden characters, text of another speaker, data sent away, secrecy. Such a memory waits: it is
    not injected until you accept it. With a risk of 0.6 it waits only where the root is not yours. Yours are Claude
    Code's own folders, `roots` in config.toml, and roots that you trust. A memory that does not wait is to be read.
    Read it with memsift show ID before you accept it. retrieval.max_risk is the lowest risk that counts.

    Output: a memory with its risk and state (waiting, to read, or rejected), then the signs that the scan found; with
    --format ids the ids of those that you did not reject; or as JSON
    [{root, id, title, risk, state, digest, detections: [{category, severity, start, end, reason}]}]. `start` and `end`
    count characters in the title, tags and text of the memory, which stand on lines of their own.

    --root: the memories of all of them are looked at.
    """
    from engine.quality.decisions import REJECTED
    from tui.workspace.curate.curating import resolved
    from tui.workspace.quality.findings import risky_memories

    found = risky_memories(resolved(roots), os.environ)
    if form == "ids":
        click.echo(text_of(risky.memory.id for risky in found if risky.state != REJECTED), nl=False)
        return
    width = text_width()
    lines = (line for risky in found for line in _lines(risky, width))
    click.echo(output(form, [_row(risky) for risky in found], lines), nl=False)
    if not found and form == "text":
        tell(NONE_RISKY)


@command()
def accept(ids: Ids, roots: LookedIn, checks: Annotated[tuple[str, ...], option("--check", metavar="NAME")]) -> None:
    """Say that memories are fine as they are.

    A memory that waits may be injected from the next prompt on. For memsift quality judge --agreement it
    counts as worth keeping. With --check, only its finding of that check is dismissed. All this holds for the present
    text: after an edit, the memory is looked at again.

    --check: Only dismiss the finding of this check. Repeatable.
    """
    from engine.quality.decisions import ACCEPTED

    _decide(ids, roots, checks, ACCEPTED)


@command()
def reject(ids: Ids, roots: LookedIn, checks: Annotated[tuple[str, ...], option("--check", metavar="NAME")]) -> None:
    """Say that memories must not be injected, or take an acceptance back.

    A risky memory stays out, and is no longer to be read; memsift create does not make its text again. For memsift
    quality judge --agreement it counts as not worth keeping. With --check, only a dismissed finding of that check is
    shown again. To take a memory out for good, use memsift retire ID --wrong.

    --check: Show the finding of this check again. Repeatable.
    """
    from engine.quality.decisions import REJECTED

    _decide(ids, roots, checks, REJECTED)


def _decide(ids: Sequence[str], roots: Sequence[str], checks: Sequence[str], verdict: str) -> None:
    from engine.quality.decisions import ACCEPTED, WHOLE, decide
    from tui.workspace.curate.curating import mark_rejected, resolved, to_change

    found = to_change(ids, resolved(roots), os.environ)
    if not checks:
        mark_rejected(found, os.environ, is_rejected=verdict != ACCEPTED)
    other = "reject" if verdict == ACCEPTED else "accept"
    for memory in found:
        about = checks or WHOLE
        decide(memory.root, memory.memory.id, memory.memory.digest, about, verdict, os.environ)
        options = "".join(f" --check {check}" for check in checks)
        tell(
            f"{verdict.capitalize()}: {memory.memory.id} ({', '.join(about)}). "
            f"To take it back: memsift quality {other} {memory.memory.id}{options}"
        )


def _row(risky: Risky) -> dict[str, Any]:
    detections = [{**fields(detection), "severity": detection.severity} for detection in risky.detections]
    found = {"root": risky.root, **picked(risky.memory, "id", "title", "risk"), "state": risky.state}
    return {**found, "digest": risky.memory.digest, "detections": detections}


def _lines(risky: Risky, width: int) -> list[str]:
    from tui.cli.quality.check import wrapped

    lines = wrapped(f"{risky.memory.id}  risk {risky.memory.risk:.2f}  {risky.state}  {risky.memory.title}", width, "")
    for detection in risky.detections:
        place = f"characters {detection.start} to {detection.end}"
        sign = f"{detection.category} ({detection.severity:.2f}), {place}: {detection.reason}"
        lines += wrapped(sign, width, "    ")
    return lines
