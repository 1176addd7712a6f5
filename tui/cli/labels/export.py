"""`memsift export`."""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from engine.errors import MemsiftError
from engine.lean.record import replace
from engine.stores.files import open_named, write_whole
from tui.cli.declaring import command, option
from tui.cli.options import StoreFile, opened_labels, store_path
from tui.cli.output import text_of
from tui.workspace.stderr import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import Corpus, Memory
    from labels.exchange.exporting import Extract


class FormatChoice(click.Choice[str]):
    """The name of a format. The registry is loaded when a name is read or shown, not when the command is listed."""

    def __init__(self, *, readable: bool = False) -> None:
        self.case_sensitive = True
        self.readable = readable

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        from labels.exchange.registry import FORMATS, READABLE

        return READABLE if self.readable else tuple(FORMATS)


@command()
def export(
    name: Annotated[str, option("--format", metavar="NAME", type=FormatChoice(), default="jsonl")],
    interface: Annotated[bool, option("--interface")],
    output: Annotated[str | None, option("--output", metavar="FILE")],
    no_text: Annotated[bool, option("--no-text")],
    annotator: Annotated[str | None, option("--annotator", metavar="NAME")],
    gold: Annotated[bool, option("--gold")],
    system: Annotated[str, option("--system", metavar="NAME", default="")],
    roots: Annotated[tuple[str, ...], option("--root", metavar="PATH")],
    db: StoreFile,
) -> None:
    """Write the labels for another program, or as a backup.

    The format jsonl holds everything: memsift import restores it. For other formats, stderr tells with counts which
    data they have no place for.

    --format: jsonl, which holds everything; or for other programs csv, label-studio, prodigy, or in TREC form
        qrels, qrels-graded, run or run-candidates.
    --interface: Print the labelling interface for Label Studio instead of labels.
    --output: Write to FILE instead of stdout.
    --no-text: Replace texts and ids of prompts and memories by hashes.
    --annotator: Only this person's labels.
    --gold: The consensus of all people, instead of each person's labels.
    --system: The system whose run is written in the formats run and run-candidates; needed where there are several.
    --root: Only memories that this folder holds, or that replays over it returned, alone or with others.
        Repeatable. Default: everything.
    """
    from labels.exchange.registry import FORMATS, left_out

    if annotator and gold:
        raise click.UsageError("--annotator and --gold exclude each other: choose one.")
    if gold and name == "jsonl":
        raise click.UsageError("--gold does not work with jsonl, which holds each key press. Choose another --format.")
    form = FORMATS[name]
    if interface:
        if not form.interface:
            raise click.UsageError(f"{name} needs no labelling interface: --interface goes with label-studio.")
        put(form.interface, output)
        return
    extract = chosen(db, roots, annotator, gold=gold)
    if form.is_run:
        extract.keep_system(system)
    elif system:
        raise click.UsageError("--system goes with the formats run and run-candidates.")
    if not extract.has_events:
        tell("There are no labels of these memories." if roots else "There are no labels yet.")
    for count, kind in left_out(extract, form):
        tell(f"{name} leaves out {kind}: {count:,}.")
    if no_text:
        tell("--no-text leaves out all texts, titles, paths, notes and reasons, and writes hashes instead.")
        extract.redact()
    put(form.write(extract), output)
    if form.interface:
        tell(f"The project that loads this needs the output of `memsift export --format {name} --interface`.")


def chosen(db: str | None, roots: Sequence[str], annotator: str | None, *, gold: bool) -> Extract:
    from engine.stores.roots import read_corpus
    from labels.exchange.exporting import Extract
    from labels.exchange.importing import text_of

    corpora = [read_corpus(root) for root in roots]
    with opened_labels(db) as labels:
        extract = Extract(labels)
    if corpora:
        extract.keep_roots([corpus.root for corpus in corpora], [text_of(memory) for memory in told_apart(corpora)])
    if annotator:
        extract.keep_annotator(annotator)
    elif gold:
        extract.keep_gold()
    return extract


def told_apart(corpora: Sequence[Corpus]) -> list[Memory]:
    """The memories of several roots, with the ids by which the app and the other commands tell them apart."""
    from engine.roots import distinct_id

    found: dict[str, Memory] = {}
    for corpus in corpora:
        for memory in corpus.memories:
            name = distinct_id(memory.summary.id, corpus.root, found)
            found[name] = replace(memory, summary=replace(memory.summary, id=name))
    return [*found.values()]


def put(text: str, output: str | None) -> None:
    """Write *text* to stdout, or to the file *output*: complete or not at all. A new file is for its owner alone.

    CSV cannot escape a character that commands a terminal. So a terminal is shown dots in place of these.
    """
    if output is None and sys.stdout.isatty():
        click.echo(text_of(text.splitlines()), nl=False)
        return
    if output is None:
        click.echo(text.encode("utf-8"), nl=False)
    else:
        write_output(text, output)


def write_output(text: str, output: str) -> None:
    """Write the file that a person named: complete or not at all. Raises MemsiftError, also for the label store."""
    place, store = Path(output), store_path(click.get_current_context().params.get("db"), writes=True)
    if place.exists() and store.exists() and place.samefile(store):
        raise MemsiftError(f"{output} is the label store, so it was left alone. Name another file.")
    try:
        write_whole(output, text.encode("utf-8"), open_named)
    except OSError as error:
        raise MemsiftError(f"{output}: {error.strerror or error}. Name a file that can be written.") from None
