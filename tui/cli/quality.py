"""`memsift quality`: the group; `check` and `fix`; and the commands that decide about findings."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.lean.record import fields
from engine.phrases.writing import count_with_phrases
from engine.quality.decisions import ACCEPTED_FILE, shared_acceptances
from engine.quality.registry import BY_DEFAULT, CHECKS
from engine.wording import counted
from tui.cli.declaring import Commands, argument, command, declared, option
from tui.cli.options import EachRoot, Ids, ListFormOrIds, LookedIn, StoreFile, TextJsonOrIds
from tui.cli.output import output, output_of_roots, picked, text_of, text_width, wrapped
from tui.workspace.stderr import tell, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.quality.registry import Finding
    from tui.cli.output import Output
    from tui.workspace.curate.findings import Risky

CHECK_HELP = f"Only this check: {', '.join(CHECKS)}. Repeatable."
INDENT = " " * 6


def limit(_context: click.Context, _option: click.Parameter, given: str | None) -> float | int | None:
    """The number of findings that are still allowed, or the lowest severity that is not, which is no int."""
    if given is None or given.isdecimal():
        return None if given is None else int(given)
    with suppress(ValueError):
        if 0 <= float(given) <= 1:
            return float(given)
    raise click.BadParameter(f"{given!r} is no number of findings, and no severity from 0.0 to 1.0.")


CheckNames = Annotated[
    tuple[str, ...], option("--check", metavar="NAME", type=click.Choice(list(CHECKS)), about=CHECK_HELP)
]
OfCheck = Annotated[tuple[str, ...], option("--check", metavar="NAME", type=click.Choice(list(CHECKS)))]
Shared = Annotated[bool, option("--shared")]
Limit = float | int | None


@command()
def check(
    named: Annotated[tuple[str, ...], argument(metavar="[ID|FILE]...", nargs=-1)],
    roots: EachRoot,
    checks: CheckNames,
    most: Annotated[Limit, option("--fail-over", metavar="SEVERITY|COUNT", callback=limit)],
    db: StoreFile,
    form: TextJsonOrIds,
) -> None:
    """Find memories that are risky, doubled, out of date, unused, too long or malformed. Nothing is changed.

    With ID or FILE, only findings about these memories count: a commit hook names the files of the commit.

    Output: for each finding its severity from 0 to 1, the check, the memory, the reason, and what settles it; or as
    JSON {findings: [{check, memory_id, severity, reason, action, where, others, change}]}. A secret itself is never
    printed. With --format ids: the id of each memory with a finding, for a command that takes - as ID.

    memsift quality fix makes the safe changes. memsift quality accept ID --check NAME dismisses a finding until the
    memory is edited; with --shared for everybody who checks this root.

    \b
    Checks:
      safety      possible instructions to the assistant
      secrets     passwords, keys and tokens
      duplicates  pairs of memories that say nearly the same
      staleness   superseded, or about files, functions and versions that
                  are gone from the repository
      age         not changed for long; only if it is named
      drift       copies of a file; files that differ from the list of memories
      usage       never injected, or often injected without being relevant
      size        texts longer than the space in a prompt
      fields      missing fields, and fields that the category does not allow
      asked       no phrases, or phrases older than the text; only if it is named
      phrases     phrases that find many memories alike; only if it is named

    \b
    Examples:
      memsift quality check
      memsift quality check --check secrets --fail-over 0

    --fail-over: Exit with 1 if there are more findings than a whole number such as 3, or if a finding has at least a
        severity such as 0.5.
    --root: each root is checked by itself.
    """
    from tui.workspace.curate.curating import memories_of, resolved
    from tui.workspace.curate.findings import checked

    places = resolved(roots)
    ids = ids_named(named, places)
    made = {root: checked(root, checks or BY_DEFAULT, db, os.environ, ids) for root in places}
    for root in places:
        if accepted := len(shared_acceptances(root)):
            place = os.path.join(root, ACCEPTED_FILE)  # noqa: PTH118
            tell(f"{place} accepts {counted(accepted, 'finding')}, each until its memory is edited.")
    every = [finding for found in made.values() for finding in found]
    if form == "ids":
        click.echo(text_of(dict.fromkeys(finding.memory_id for finding in every if finding.memory_id)), nl=False)
    else:
        click.echo(output_of_roots(form, {root: made_of(found) for root, found in made.items()}), nl=False)
    tell(_summary(every))
    for root in places:
        tell(f"{root}: {count_with_phrases(root, os.environ, (found.memory for found in memories_of([root])))}.")
    is_over = len(every) > most if isinstance(most, int) else any(found.severity >= (most or 0) for found in every)
    if most is not None and is_over:
        click.get_current_context().exit(1)


def ids_named(named: Sequence[str], roots: Sequence[str]) -> set[str] | None:
    """The ids of the memories that are *named* by id or file; None if nothing is named.

    A file of a root without a memory has none. Raises click.UsageError for a name that is neither file nor memory.
    """
    from engine.stores.roots import read_corpus

    if not named:
        return None
    memories = [memory.summary for root in roots for memory in read_corpus(root).memories]
    known, files = {memory.id for memory in memories}, set(map(os.path.realpath, filter(os.path.exists, named)))
    for name in named:
        if name not in known and not os.path.exists(name):  # noqa: PTH110
            raise click.UsageError(f"There is neither a file nor a memory {name!r} here.")
    return {memory.id for memory in memories if memory.id in named or os.path.realpath(memory.file) in files}


def _summary(found: Sequence[Finding]) -> str:
    """How many findings there are of each check, and how many are settled by memsift quality fix."""
    if not found:
        return "The checks found nothing."
    counts = Counter(finding.check for finding in found)
    parts = ", ".join(f"{count:,} {check}" for check, count in counts.items())
    settled = sum(bool(finding.change) for finding in found)
    rest = f" memsift quality fix settles {settled:,} of them." if settled else ""
    return f"{counted(len(found), 'finding')}: {parts}.{rest}"


def made_of(found: Sequence[Finding]) -> Output:
    """The findings as JSON, and as lines that are broken between words only."""
    width = text_width()
    lines: list[str] = []
    for finding in found:
        where = f" ({finding.where})" if finding.where else ""
        first = f"{finding.severity:.2f}  {finding.check}  {finding.memory_id or 'the root'}{where}: {finding.reason}"
        lines += [*wrapped(first, width, "", INDENT), *wrapped(finding.action, width, INDENT, INDENT)]
    return {"findings": list(map(fields, found))}, text_of(lines)


HISTORY = "The journal and the repository's history still hold the secrets. Replace the secrets where they are used."


@command()
def fix(
    ids: Annotated[tuple[str, ...], argument(metavar="[ID]...", nargs=-1)],
    roots: EachRoot,
    checks: CheckNames,
    is_agreed: Annotated[bool, option("--yes", "-y")],
    dry_run: Annotated[bool, option("--dry-run")],
    db: StoreFile,
) -> None:
    """Make the safe changes that settle findings, in all memories or in the memories ID...

    The changes are printed first, and made if you agree. They are one operation: a single memsift undo takes all of
    them back. Memories with a finding that you dismissed with memsift quality accept --check stay as they are.

    \b
    Check       Change
      secrets     a key or password of one word is taken out of the text
      drift       memories missing in the list get a line, as far as the client
                  loads the whole list; a generated list is brought in step with
                  the files

    No memory is retired, merged or reworded, and no line of a person is changed. All other findings are for you to
    decide. To change several memories alike, use a pipe:

    \b
      memsift quality check --check staleness --format ids |
        memsift retire --reason "out of date" -

    \b
    Examples:
      memsift quality fix --dry-run
      memsift quality fix --check drift --yes

    --yes: Make the changes without a question.
    --dry-run: Only print the changes.
    --root: the changes in all of them are one operation.
    """
    from engine.quality.fixing import join_fixes
    from tui.workspace.curate.curating import carry_out, opened_curator, resolved
    from tui.workspace.curate.findings import fixable

    with opened_curator(os.environ):
        pass  # what a killed process left is finished before the memories are read
    found = [fixable(root, checks or BY_DEFAULT, ids, db, os.environ) for root in resolved(roots)]
    made = [change for changes, _ in found for change in changes]
    left = sum(count for _, count in found)
    click.echo(text_of(f"{change.check:<10}  {change.sentence}" for change in made), nl=False)
    changes = "this change" if len(made) == 1 else f"these {len(made):,} changes"
    if not made:
        tell("There is nothing to change.")
    elif dry_run:
        tell(f"Nothing was changed. Without --dry-run: {changes}.")
    elif not is_agreed and not sys.stdin.isatty():
        raise click.UsageError("No terminal to ask in. Add --yes to make these changes, or --dry-run to see them.")
    elif is_agreed or click.confirm(f"Make {changes}?", err=True):
        with opened_curator(os.environ) as curator:
            carry_out(curator, curator.plan(join_fixes(made)))
        if any(change.check == "secrets" for change in made):
            tell(HISTORY)
    else:
        tell("Nothing was changed.")
    if left:
        tell(f"{counted(left, 'finding needs', 'findings need')} your decision: memsift quality check")


class Quality(Commands):
    subjects = {"Commands": "quality:accept quality:check quality:fix quality_judge:judge quality:list_ quality:reject"}


@click.group(cls=Quality)
@declared
def quality() -> None:
    """Find memories that are risky, out of date, doubled or unused, and decide about them.

    \b
    Example:
      memsift quality check
    """


@command("list")
def list_(roots: EachRoot, form: ListFormOrIds) -> None:
    """List the memories that look like a prompt injection, until you accept them.

    A safety scan gives a memory with signs of an attack a risk of 0.6 or 0.9. The risk is 0.9 for hard signs, which no
    honest text needs: hidden characters, text of another speaker, data sent away, secrecy. Such a memory waits: it is
    not injected until you accept it. With a risk of 0.6 it waits only in a root that is not yours. Yours are Claude
    Code's own folders, `roots` in config.toml, and roots that you trust. All others are only marked "to read". Read a
    memory with memsift show ID before you accept it. retrieval.max_risk is the lowest risk that counts.

    Output: a memory with its risk and state (waiting, to read, or rejected), then the signs found by the scan; with
    --format ids the ids of all memories but the rejected; or as JSON
    [{root, id, title, risk, state, digest, detections: [{category, severity, start, end, reason}]}]. `start` and `end`
    count characters in the title, tags and text of the memory, which stand on lines of their own.

    \b
    Example:
      memsift quality list

    --root: the memories of all are listed.
    """
    from engine.quality.decisions import REJECTED
    from tui.workspace.curate.curating import resolved
    from tui.workspace.curate.findings import risky_memories

    found = risky_memories(resolved(roots), os.environ)
    if form == "ids":
        click.echo(text_of(risky.memory.id for risky in found if risky.state != REJECTED), nl=False)
        return
    lines = (line for risky in found for line in _risky_lines(risky, text_width()))
    click.echo(output(form, [_row(risky) for risky in found], lines), nl=False)
    if not found and form == "text":
        tell("No memory of these roots looks like a prompt injection.")


@command()
def accept(ids: Ids, roots: LookedIn, checks: OfCheck, shared: Shared) -> None:
    """Say that memories are fine as they are.

    A waiting memory may be injected from the next prompt on. For memsift quality judge --agreement it counts as worth
    keeping. With --check, only its finding of that check is dismissed. All this holds for the present text: after an
    edit, the memory is checked again.

    \b
    Examples:
      memsift quality accept deploys-use-make
      memsift quality accept deploys-use-make --check staleness

    --check: Only dismiss the finding of this check. Repeatable.
    --shared: Also write it into the root, as memsift-accepted.txt, so that memsift quality check dismisses the finding
        for everybody, in CI too. It goes with --check. No memory is injected because of this file.
    """
    from engine.quality.decisions import ACCEPTED

    _decide(ids, roots, checks, ACCEPTED, is_shared=shared)


@command()
def reject(ids: Ids, roots: LookedIn, checks: OfCheck, shared: Shared) -> None:
    """Say that memories must not be injected, or take an acceptance back.

    A risky memory stays out, and is no longer listed to read; memsift create does not make its text again. For memsift
    quality judge --agreement it counts as not worth keeping. With --check, only a dismissed finding of that check is
    shown again. To take a memory out for good, use memsift retire ID --wrong.

    \b
    Example:
      memsift quality reject deploys-use-make

    --check: Show the finding of this check again. Repeatable.
    --shared: Also take the acceptance out of the root's memsift-accepted.txt. It goes with --check.
    """
    from engine.quality.decisions import REJECTED

    _decide(ids, roots, checks, REJECTED, is_shared=shared)


def _decide(ids: Sequence[str], roots: Sequence[str], checks: Sequence[str], verdict: str, *, is_shared: bool) -> None:
    from engine.quality.decisions import ACCEPTED, WHOLE, decide, share
    from tui.workspace.curate.curating import mark_rejected, resolved, to_change

    if is_shared and not checks:
        raise click.UsageError("--shared is about findings: name the check with --check.")
    found = to_change(ids, resolved(roots), os.environ)
    about = checks or WHOLE
    other = "reject" if verdict == ACCEPTED else "accept"
    options = "".join((*(f" --check {check}" for check in checks), " --shared" * is_shared))
    with uninterrupted():
        if not checks:
            mark_rejected(found, os.environ, is_rejected=verdict != ACCEPTED)
        for memory in found:
            place = memory.root, memory.memory.id, memory.memory.digest
            decide(*place, about, verdict, os.environ)
            if is_shared:
                tell(f"Written to {share(*place, checks, verdict)}.")
            back = f"To take it back: memsift quality {other} {memory.memory.id}{options}"
            tell(f"{verdict.capitalize()}: {memory.memory.id} ({', '.join(about)}). {back}")


def _row(risky: Risky) -> dict[str, Any]:
    detections = [{**fields(detection), "severity": detection.severity} for detection in risky.detections]
    found = {"root": risky.root, **picked(risky.memory, "id", "title", "risk"), "state": risky.state}
    return {**found, "digest": risky.memory.digest, "detections": detections}


def _risky_lines(risky: Risky, width: int) -> list[str]:
    memory = risky.memory
    lines = wrapped(f"{memory.id}  risk {memory.risk:.2f}  {risky.state}  {memory.title}", width, "", INDENT)
    for detection in risky.detections:
        place = f"characters {detection.start} to {detection.end}"
        sign = f"{detection.category} ({detection.severity:.2f}), {place}: {detection.reason}"
        lines += wrapped(sign, width, "    ", INDENT)
    return lines
