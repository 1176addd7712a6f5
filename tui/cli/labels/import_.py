"""`memsift import` and `memsift merge-labels`."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from engine.errors import RootNotFoundError
from tui.cli.declaring import argument, command, option
from tui.cli.labels.export import FormatChoice, told_apart
from tui.cli.options import PROMPTS_HELP, EachRoot, StoreFile, opened_labels, store_path
from tui.workspace import opening
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labels.exchange.importing import Context, Imported
    from labels.exchange.merge import MergedRows


@command("import")
def import_(
    file: Annotated[Path, argument(type=click.Path(path_type=Path))],
    name: Annotated[str | None, option("--format", type=FormatChoice(readable=True))],
    annotator: Annotated[str, option("--annotator", metavar="NAME", default="")],
    dry_run: Annotated[bool, option("--dry-run")],
    roots: EachRoot,
    prompts: Annotated[tuple[str, ...], option("--prompts", metavar="FILE", about=PROMPTS_HELP)],
    db: StoreFile,
) -> None:
    """Add the labels in FILE to the label store.

    All labels are added, or none if FILE has a fault. A memory is found by id, digest or text, a prompt by id or text,
    among the label store, --root and --prompts. Labels about an unknown prompt or memory without a text are left out,
    and counted on stderr. Nothing is imported twice. Where FILE does not say
    whether labels were given blind, that is not known: they count, and memsift gate says how many they are.

    --format: Default: recognised by its beginning.
    --annotator: Person who gave the labels, if the file does not say.
    --dry-run: Tell what would be imported, and import nothing.
    --root: memories of all roots are known; runs in FILE count as runs over all of them together.
    """
    from labels.exchange.files import read_source
    from labels.exchange.importing import import_file
    from labels.exchange.merge import opened_copy
    from labels.exchange.registry import FORMATS, recognise

    source = read_source(file)
    form = FORMATS[name] if name else recognise(source)
    context = context_of(roots, prompts)
    store = opened_copy(store_path(db, writes=True)) if dry_run else opened_labels(db, writes=True)
    with store as labels:
        imported = import_file(labels, source, form, annotator, context)
    report_imported(imported, f"{file.name}, {form.name}", dry_run=dry_run)


def context_of(roots: Sequence[str], prompts: Sequence[str]) -> Context:
    from engine.conversations.prompt_files import read_prompts
    from engine.stores.roots import joint_name, read_corpus
    from labels.exchange.importing import Context, text_of

    try:
        corpora = [read_corpus(root) for root in opening.known_roots(roots, os.environ)]
    except RootNotFoundError:
        if roots:
            raise
        corpora = []
    return Context(
        now=datetime.now(UTC).isoformat(timespec="milliseconds"),
        root=joint_name([corpus.root for corpus in corpora]),
        memories=[text_of(memory) for memory in told_apart(corpora)],
        prompts=read_prompts(prompts).prompts if prompts else (),
    )


def report_imported(imported: Imported, what: str, *, dry_run: bool) -> None:
    verb = "Would import" if dry_run else "Imported"
    report_added(f"{verb} from {what}", imported.added, imported.known)
    matched = imported.matched
    for names, kind in ((matched.unknown_prompts, "prompts"), (matched.unknown_memories, "memories")):
        if names:
            tell(f"Unknown here, and without a text in the file: {len(names):,} {kind}, such as {names[0]!r}.")
    for count, kind in ((matched.events, "labels"), (matched.retrievals, "retrievals")):
        if count:
            tell(f"Left out: {count:,} {kind} about unknown prompts or memories.")


@command("merge-labels")
def merge_labels(other: Annotated[Path, argument(type=click.Path(path_type=Path))], db: StoreFile) -> None:
    """Add the content of the label store OTHER to yours. OTHER is only read.

    Two people may merge in any order and as often as they like: nothing is added twice.
    """
    from labels.exchange.merge import merge

    with opened_labels(db, writes=True) as labels:
        added = merge(labels, other)
    report_added(f"Merged {other.name}", added, added.known)


def report_added(what: str, added: MergedRows, known: int) -> None:
    """Tell what a label store received, after the words *what*, and how many key presses (*known*) it had already."""
    labels = [event for event in added.events if event.verdict]
    people = sorted({event.annotator for event in labels})
    parts = [
        f"{len(labels):,} labels" + (f" by {', '.join(people)}" if people else ""),
        f"{len(added.events) - len(labels):,} skips and retractions",
        f"{added.prompts:,} prompts",
        f"{added.memories:,} memory texts",
        f"{added.retrievals:,} retrievals",
    ]
    there = f"; {known:,} key presses were there already" if known else ""
    tell(f"{what}: {', '.join(part for part in parts if not part.startswith('0 ')) or 'nothing new'}{there}.")
