"""`memsift list` and `memsift show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import click

from engine.errors import UnknownMemoryError
from engine.stores.writing import STATUSES
from engine.wording import aligned
from tui.cli.declaring import command, option
from tui.cli.options import EachRoot, ListForm, ListFormOrIds, MemoryId
from tui.cli.output import output, picked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import Memory
    from tui.workspace.curate.curating import FoundMemory

FIELDS = ("id", "title", "category", "path", "tags", "status", "created_at", "updated_at", "digest")
ANY_STATUS = click.Choice([*STATUSES, "all"])


@command("list")
def list_(
    roots: EachRoot,
    status: Annotated[str, option("--status", type=ANY_STATUS, default="all")],
    category: Annotated[tuple[str, ...], option("--category", metavar="NAME")],
    tag: Annotated[tuple[str, ...], option("--tag", metavar="NAME")],
    text: Annotated[str, option("--text", metavar="WORDS", default="")],
    form: ListFormOrIds,
) -> None:
    """List memories.

    Output: a line for each memory, with id, status, category and title; or as JSON [{root, id, title, category, path,
    tags, status, created_at, updated_at, digest}].

    \b
    Examples:
      memsift list --status active --tag deploy
      memsift list --text "old login" --format ids | memsift retire -

    --status: Only this status.
    --category: Only this category. Repeatable.
    --tag: Only memories with this tag. Repeatable: with all of them.
    --text: Only memories that hold all of these words, best first.
    --root: the memories of all of them are listed.
    """
    from tui.workspace.curate.curating import resolved

    found = [
        memory
        for memory in _listed(resolved(roots), text)
        if status in ("all", memory.memory.status)
        and (not category or memory.memory.category in category)
        and set(tag) <= set(memory.memory.tags)
    ]
    rows = [{"root": memory.root, **picked(memory.memory, *FIELDS)} for memory in found]
    lines = [memory.memory.id for memory in found] if form == "ids" else _lines(found)
    click.echo(output(form, rows, lines), nl=False)


@command()
def show(memory_id: MemoryId, roots: EachRoot, form: ListForm) -> None:
    """Print the whole memory ID.

    Output: title, facts and text; or as JSON {root, id, title, category, path, tags, status, created_at, updated_at,
    digest, sections: [{heading, lines}]}.

    \b
    Example:
      memsift show deploys-use-make

    --root: the memory is looked for in all of them.
    """
    from tui.workspace.curate.curating import chosen, resolved

    (found,) = chosen([memory_id], resolved(roots))
    memory = _whole(found)
    sections = [{"heading": section.heading, "lines": section.lines} for section in memory.sections]
    row = {"root": found.root, **picked(memory.summary, *FIELDS), "sections": sections}
    click.echo(output(form, row, _text(memory)), nl=False)


def _listed(roots: Sequence[str], text: str) -> list[FoundMemory]:
    from engine.search.query import filter_terms
    from tui.workspace import opening
    from tui.workspace.curate.curating import FoundMemory
    from tui.workspace.stderr import report_notices, report_skipped

    found = []
    for root in roots:
        with opening.opened_index(root) as index:
            report_skipped(index.skipped)
            report_notices(index.notices)
            found += [FoundMemory(root, summary) for summary in index.matching(filter_terms(text))]
    return found


def _whole(found: FoundMemory) -> Memory:
    """The memory as its file is now. Raises UnknownMemoryError."""
    from tui.workspace import opening

    with opening.opened_index(found.root) as index:
        memory = index.memory(found.memory.id)
    if memory is None:
        raise UnknownMemoryError(f"{found.memory.file} changed just now, or is gone. Try again.")
    return memory


def _lines(found: Sequence[FoundMemory]) -> list[str]:
    """A line for each memory."""
    from tui.workspace.curate.curating import distinct_ids

    facts = [(memory.memory.status, memory.memory.category, memory.memory.title) for memory in found]
    return aligned([(name, *rest) for name, rest in zip(distinct_ids(found), facts, strict=True)])


def _text(memory: Memory) -> list[str]:
    summary = memory.summary
    facts = {
        "id": summary.id,
        "status": summary.status,
        "category": summary.category,
        "tags": ", ".join(summary.tags),
        "created": summary.created_at,
        "updated": summary.updated_at,
        "file": summary.file,
    }
    lines = [summary.title, "", *(f"{name + ':':<10}{value}" for name, value in facts.items() if value)]
    for section in memory.sections:
        lines += ["", *([section.heading] if section.heading else []), *(f"  {line}" for line in section.lines)]
    return lines
