"""The commands that change memories, from `memsift create` to `memsift move`, and those on the journal of changes.

--dry-run: Print the differences that the command would make, and change nothing.
--reason: The reason. It is kept in the memory.
--set: Set a field, such as tags or a field of the category. Repeat it with the same field for a list. An empty value
    removes a field that is not required.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.curation.files import diff_of, text_at
from engine.curation.journal import MOST_BYTES, MOST_OPERATIONS
from engine.curation.operations import (
    Archive,
    Create,
    Edit,
    Merge,
    Move,
    Rename,
    Restore,
    Retire,
    Rewrite,
    Tag,
    Together,
)
from engine.errors import CurationError, InvalidMemoryError, UnknownMemoryError
from engine.lean.record import fields as fields_of
from engine.stores.claude_memory_schema import CONTENT
from engine.stores.markdown.parts import TYPES
from engine.stores.writing import Changes, Draft
from tui.cli.declaring import argument, command, help_of, option
from tui.cli.options import Ids, ListForm, LookedIn, MemoryId
from tui.cli.output import output, text_of
from tui.workspace import opening
from tui.workspace.curate.curating import (
    carry_out,
    chosen,
    edited_in_editor,
    keep_refused,
    opened_curator,
    resolved,
    to_change,
)
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engine.curation.curator import Curator
    from engine.curation.operations import Operation, Plan
    from tui.workspace.curate.curating import FoundMemory


TEXTS = help_of(sys.modules[__name__])[1]
DryRun = Annotated[bool, option("--dry-run", about=TEXTS["--dry-run"])]
Reason = Annotated[str, option("--reason", metavar="TEXT", default="", about=TEXTS["--reason"])]
FieldValues = Annotated[tuple[str, ...], option("--set", metavar="FIELD=VALUE", about=TEXTS["--set"])]


def parsed_fields(fields: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Field and values, from texts such as "rationale=fast". Raises click.UsageError."""
    found: dict[str, list[str]] = {}
    for field in fields:
        name, equals, value = field.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--set takes FIELD=VALUE, not {field!r}.")
        found.setdefault(name.strip(), []).append(value)
    return tuple((name, tuple(values)) for name, values in found.items())


def perform(operations: Sequence[Operation], *, dry_run: bool) -> tuple[str, ...]:
    """Perform the operations as one, so that they are undone together; or print what they would change.

    The ids of their memories. All of them are planned first, so none is performed if one is refused.
    """
    if not operations:
        tell("No memory was named, so nothing was changed.")
        return ()
    with opened_curator(os.environ) as curator:
        plan = curator.plan(operations[0] if len(operations) == 1 else Together(tuple(operations)))
        perform_plan(curator, plan, dry_run=dry_run)
        return plan.memories


def perform_plan(curator: Curator, plan: Plan, *, dry_run: bool) -> None:
    if dry_run:
        click.echo(text_of(diff_of(plan.effect.files).splitlines()), nl=False)
        tell(f"Nothing was changed. Without --dry-run: {plan.summary}.")
    else:
        carry_out(curator, plan)


def perform_each(
    ids: Sequence[str], roots: Sequence[str], make: Callable[[FoundMemory], Operation], *, dry_run: bool
) -> None:
    """Perform an operation for each memory. Raises UnknownMemoryError before any is performed."""
    perform([make(memory) for memory in to_change(ids, resolved(roots), os.environ)], dry_run=dry_run)


HOW_TO_GIVE = "Give a field with --set FIELD=VALUE, once for each item of a list."
CATEGORY = f"The type: {', '.join(TYPES)}. In claude-memory the category: {', '.join(CONTENT)}."


@command()
def create(
    category: Annotated[str, option("--category", metavar="NAME", required=True, about=CATEGORY)],
    title: Annotated[str, option("--title", metavar="TEXT", required=True)],
    tags: Annotated[tuple[str, ...], option("--tag", metavar="NAME")],
    fields: FieldValues,
    body: Annotated[str | None, option("--body", metavar="TEXT")],
    phrases: Annotated[tuple[str, ...], option("--phrase", metavar="TEXT")],
    memory_id: Annotated[str, option("--id", metavar="ID", default="")],
    root: Annotated[str | None, option("--root", metavar="PATH")],
    force: Annotated[bool, option("--force")],
    dry_run: DryRun,
) -> None:
    """Make a memory. In a new folder, memories are Markdown.

    In claude-memory each category has required fields. The command names those that are missing.

    \b
    Example:
      memsift create --category project --title "Deploys use make" \\
        --body "Run make deploy."

    --title: The title, on one line.
    --tag: A tag. Repeatable.
    --body: The text, or - for stdin. In claude-memory the category's main field.
    --phrase: A prompt that needs the memory, in other words than its own: see memsift phrases. Repeatable.
    --id: The id. Default: made from the title.
    --root: The folder of memories. Default: the first of memsift list.
    --force: Make it even if the same text was rejected before.
    """
    changes = Changes(fields=parsed_fields(fields), body=_body(body))
    draft = Draft(category, title, tags, changes, memory_id)
    place = os.path.realpath(opening.resolve_root(root, os.environ))
    try:
        created = perform([Create(place, draft, force)], dry_run=dry_run)
    except InvalidMemoryError as error:
        if " is missing" not in str(error):
            raise
        raise InvalidMemoryError(f"{error} {HOW_TO_GIVE}") from None
    if phrases and not dry_run:
        from tui.workspace.curate.phrases import add_to

        add_to([(found, phrases) for found in chosen(created, [place])], opening.annotator_name(os.environ))


@command()
def edit(
    memory_id: MemoryId,
    roots: LookedIn,
    title: Annotated[str | None, option("--title", metavar="TEXT")],
    fields: FieldValues,
    body: Annotated[str | None, option("--body", metavar="TEXT")],
    dry_run: DryRun,
) -> None:
    """Change the memory ID.

    Without --title, --set and --body its file opens in your editor (VISUAL or EDITOR). The result is checked against
    the rules of its format, and refused if the file changed meanwhile. A refused text is kept in a file.

    \b
    Examples:
      memsift edit deploys-use-make
      memsift edit deploys-use-make --title "Deploys use make deploy"

    --title: The new title.
    --body: The new text, or - for stdin. In claude-memory the category's main field.
    """
    (found,) = to_change([memory_id], resolved(roots), os.environ)
    if title is not None or body is not None or fields:
        changes = Changes(title, parsed_fields(fields), _body(body))
        perform([Edit(found.root, found.memory, changes)], dry_run=dry_run)
        return
    read = text_at(found.memory.file) or ""
    new = edited_in_editor(read, found.memory.file, os.environ)
    if new is None:
        tell("The text is unchanged, so nothing was done.")
        return
    try:
        perform([Rewrite(found.root, found.memory, read, new)], dry_run=dry_run)
    except CurationError:
        tell(f"Your text is in {keep_refused(found.memory.file, new, os.environ)}.")
        raise


@command()
def retire(
    ids: Ids, roots: LookedIn, reason: Reason, wrong: Annotated[bool, option("--wrong")], dry_run: DryRun
) -> None:
    """Take the memories ID... out of use, because they are wrong or out of date.

    They are no longer injected. `memsift restore` brings them back.

    With - for ID, the ids come from stdin.

    \b
    Examples:
      memsift retire old-login --reason "replaced by SSO"
      memsift quality check --check staleness --format ids | memsift retire -

    --wrong: The text is wrong: memsift create will not make it again.
    """
    perform_each(ids, roots, lambda memory: Retire(memory.root, memory.memory, reason, wrong), dry_run=dry_run)


@command()
def archive(ids: Ids, roots: LookedIn, reason: Reason, dry_run: DryRun) -> None:
    """Put the memories ID... aside: true, but no longer injected. `memsift restore` brings them back.

    \b
    Example:
      memsift archive release-of-may --reason "done"
    """
    perform_each(ids, roots, lambda memory: Archive(memory.root, memory.memory, reason), dry_run=dry_run)


@command()
def restore(ids: Ids, roots: LookedIn, dry_run: DryRun) -> None:
    """Make the retired or archived memories ID... active again.

    \b
    Example:
      memsift restore old-login
    """
    perform_each(ids, roots, lambda memory: Restore(memory.root, memory.memory), dry_run=dry_run)


@command()
def tag(
    ids: Ids,
    roots: LookedIn,
    add: Annotated[tuple[str, ...], option("--add", metavar="NAME")],
    remove: Annotated[tuple[str, ...], option("--remove", metavar="NAME")],
    dry_run: DryRun,
) -> None:
    """Change the tags of the memories ID...

    \b
    Example:
      memsift tag deploys-use-make --add deploy --remove old

    --add: Add a tag. Repeatable.
    --remove: Remove a tag. Repeatable.
    """
    if not add and not remove:
        raise click.UsageError("Name tags with --add or --remove.")
    perform_each(ids, roots, lambda memory: Tag(memory.root, memory.memory, add, remove), dry_run=dry_run)


@command()
def merge(
    kept: Annotated[str, argument(metavar="KEPT")],
    others: Annotated[tuple[str, ...], argument(metavar="OTHER...", nargs=-1, required=True)],
    roots: LookedIn,
    note: Annotated[str, option("--note", metavar="TEXT", default="")],
    dry_run: DryRun,
) -> None:
    """Merge the memories OTHER... into the memory KEPT.

    KEPT gets their tags and related files. They are retired with the reason "superseded by KEPT". Their text is not
    copied: read it first, and add missing parts with `memsift edit`. All memories must be in one root.

    \b
    Example:
      memsift merge deploys-use-make make-deploy make-release

    --note: A note that is kept in the memory KEPT.
    """
    first, *rest = to_change((kept, *others), resolved(roots), os.environ)
    if any(memory.root != first.root for memory in rest):
        raise click.UsageError("The memories are in different roots. Bring them together with memsift move.")
    perform([Merge(first.root, first.memory, tuple(memory.memory for memory in rest), note)], dry_run=dry_run)


@command()
def move(
    ids: Ids,
    roots: LookedIn,
    to: Annotated[str, option("--to", metavar="PATH", required=True)],
    dry_run: DryRun,
) -> None:
    """Move the memories ID... to another root of the same format.

    \b
    Example:
      memsift move deploys-use-make --to ../other/.claude/memory

    --to: The folder of memories to move them to.
    """
    from engine.stores.roots import readable_root

    target = readable_root(to)
    perform_each(ids, roots, lambda memory: Move(memory.root, memory.memory, target), dry_run=dry_run)


@command()
def rename(
    memory_id: MemoryId, name: Annotated[str, argument(metavar="NAME")], roots: LookedIn, dry_run: DryRun
) -> None:
    """Give the memory ID of an auto memory another id and file name, made of NAME.

    Links and [[wiki links]] to it change as well, in MEMORY.md and in the other memories.

    \b
    Example:
      memsift rename deploys-use-make deployment
    """
    perform_each([memory_id], roots, lambda memory: Rename(memory.root, memory.memory, name), dry_run=dry_run)


def _body(given: str | None) -> str | None:
    return sys.stdin.read() if given == "-" else given


@command()
def undo(number: Annotated[int | None, argument(type=click.IntRange(1), required=False)], dry_run: DryRun) -> None:
    """Undo the operation NUMBER, or the last operation on memories.

    Every file of the operation gets its old text back. If one of them has changed since, nothing is undone, and the
    difference is shown. Undoing an undo repeats the operation. `memsift history` lists the numbers.

    \b
    Examples:
      memsift undo
      memsift undo 12 --dry-run
    """
    with opened_curator(os.environ) as curator:
        perform_plan(curator, curator.plan_undo(number), dry_run=dry_run)


@command()
def history(
    memory_id: Annotated[str, argument(metavar="[ID]", required=False, default="")],
    root: Annotated[str | None, option("--root", metavar="PATH")],
    has_diff: Annotated[bool, option("--diff")],
    form: ListForm,
) -> None:
    """List the changes that memsift made to all memories or to the memory ID, the oldest first.

    Output: a line for each operation, with number, time and a sentence; or as JSON [{number, at, kind, summary,
    memories, roots, state, undoes, undone_by}], and with --diff also `diff`. `state` is done, pending or incomplete.

    \b
    Examples:
      memsift history
      memsift history deploys-use-make --diff

    --root: Only operations in this folder of memories. Default: in all folders.
    --diff: Also print the differences that each operation made.
    """
    from engine.explaining.explain import near_ids

    with opened_curator(os.environ) as curator:
        deeds = curator.journal.deeds(memory_id, resolved([root])[0] if root else "")
        if memory_id and not deeds:
            known = {memory for deed in curator.journal.deeds() for memory in deed.memories}
            near = ", ".join(map(repr, near_ids(memory_id, sorted(known))))
            instead = f" There are changes of {near}." if near else ""
            raise UnknownMemoryError(f"The journal has no change of a memory {memory_id!r}.{instead}")
        rows = [fields_of(deed) for deed in deeds]
        for row, deed in zip(rows, deeds if has_diff else (), strict=False):
            row["diff"] = diff_of(curator.journal.effect(deed.number).files)
    click.echo(output(form, rows, (line for row in rows for line in _lines(row))), nl=False)
    if not rows and form == "text":
        tell(f"Nothing was changed yet. The journal keeps {MOST_OPERATIONS:,} operations, {MOST_BYTES // 10**6} MB.")


def _lines(row: dict[str, Any]) -> list[str]:
    marks = [row["state"]] if row["state"] != "done" else []
    marks += [f"undone by {row['undone_by']}"] if row["undone_by"] else []
    mark = f" [{', '.join(marks)}]" if marks else ""
    line = f"{row['number']:>5}  {row['at']}  {row['summary']}{mark}  ({', '.join(row['roots'])})"
    return [*line.splitlines(), *row.get("diff", "").splitlines()]
