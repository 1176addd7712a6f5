"""`memsift export`, `memsift import` and `memsift merge-labels`."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from engine.errors import ExchangeError, RootNotFoundError
from engine.lean.record import replace
from engine.stores.files import let_git_join
from engine.wording import counted
from tui.cli.declaring import argument, command, option
from tui.cli.options import PROMPTS_HELP, EachRoot, StoreFile, opened_labels, opened_store, store_path
from tui.cli.output import text_of, write_output
from tui.workspace import opening
from tui.workspace.stderr import tell, uninterrupted

MOST_PLACES = 10
"""Places in a file that are named."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.memory import Corpus, Memory
    from labels.exchange.exporting import Extract
    from labels.exchange.importing import Context, Matched
    from labels.exchange.merge import MergedRows
    from labels.exchange.registry import ExchangeFormat


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

    The format jsonl holds everything: memsift import restores it. For other formats, stderr counts the data left out.
    With --annotator, jsonl is for sharing and holds only labels, the texts of their prompts, and ids and digests of
    their memories.

    \b
    Examples:
      memsift export --format csv --output labels.csv
      memsift export --annotator ana --output .memsift/labels/ana.jsonl
      memsift export --format run --system memsift

    --format: jsonl, which holds everything; or for other programs csv, label-studio, prodigy, or in TREC form
        qrels, qrels-graded, run or run-candidates.
    --interface: Print the labelling interface for Label Studio instead of labels.
    --output: Write to FILE instead of stdout. A file of one person's labels in jsonl keeps the labels it has, and a
        .gitattributes beside it lets git join its lines.
    --no-text: Replace texts and ids of prompts and memories by hashes.
    --annotator: Only this person's labels.
    --gold: The consensus of all people, instead of each person's labels.
    --system: The system whose run is written in the formats run and run-candidates; needed where there are several.
    --root: Only memories of this folder, and of replays over it, alone or with others. Repeatable. Default: everything.
    """
    from labels.exchange.registry import FORMATS, left_out

    if annotator and gold:
        raise click.UsageError("--annotator and --gold exclude each other: choose one.")
    if gold and name == "jsonl":
        raise click.UsageError("--gold does not go with jsonl, which holds each key press. Choose another --format.")
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
    if annotator and name == "jsonl" and output:
        share(extract, form, Path(output))
        return
    put(form.write(extract), output)
    if form.interface:
        tell(f"Your project also needs the labelling interface: memsift export --format {name} --interface")


def share(extract: Extract, form: ExchangeFormat, file: Path) -> None:
    """Write the labels of one person to a *file* to share: those that it has already stay. Git joins two of them."""
    from labels.exchange.files import read_source

    if file.is_file() and file.stat().st_size and form.recognises and form.read:
        source = read_source(file)
        if not form.recognises(source):
            raise ExchangeError(f"{file} holds no labels to join with yours. Mend it, or move it away.")
        extract.add_shared(form.read(source))
    write_output(form.write(extract), str(file))
    tell(f"{file} holds the labels of {extract.annotator} alone. Without --annotator, a file holds everything.")
    if rules := let_git_join(str(file)):
        tell(f"{rules} lets git join the labels of two machines. Commit it, too.")


def chosen(db: str | None, roots: Sequence[str], annotator: str | None, *, gold: bool) -> Extract:
    from engine.stores.roots import read_corpus
    from labels.exchange.exporting import Extract
    from labels.exchange.importing import text_of
    from tui.workspace.root_labels import let_labels_follow

    corpora = [read_corpus(root) for root in roots]
    with opened_store(db) as store:
        for root in roots:
            with opening.opened_index(root) as index:
                let_labels_follow(store, index)
    with opened_labels(db) as labels:
        extract = Extract(labels)
    click.get_current_context().call_on_close(extract.close)
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
    if output is not None:
        write_output(text, output)
    else:
        click.echo(text_of(text.splitlines()) if sys.stdout.isatty() else text.encode("utf-8"), nl=False)


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
    and counted on stderr. Nothing is imported twice. Labels whose FILE does not tell whether they were given blind
    count, and memsift gate tells their number.

    \b
    Examples:
      memsift import labels.jsonl
      memsift import labels.csv --annotator ada --dry-run

    --format: Default: recognised by the beginning of FILE.
    --annotator: Person who gave the labels, if the file does not say.
    --dry-run: Count the labels, and import nothing.
    --root: the memories of all are known; runs in FILE count as runs over all of them together.
    """
    from labels.exchange.files import read_source
    from labels.exchange.importing import import_file
    from labels.exchange.merge import opened_copy
    from labels.exchange.registry import FORMATS, recognise

    source = read_source(file)
    form = FORMATS[name] if name else recognise(source)
    context = context_of(roots, prompts)
    store = opened_copy(store_path(db, writes=True)) if dry_run else opened_labels(db, writes=True)
    with store as labels, ExitStack() as end:
        with labels.writing():
            added, matched = import_file(labels, source, form, annotator, context)
            end.enter_context(uninterrupted())
        verb = "Would import" if dry_run else "Imported"
        report_added(f"{verb} from {file.name}, {form.name}", added)
        report_left_out(matched)


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


def report_left_out(matched: Matched) -> None:
    for names, kind in ((matched.unknown_prompts, "prompt"), (matched.unknown_memories, "memory")):
        if names:
            tell(f"Unknown here, and without a text in the file: {counted(len(names), kind)}, such as {names[0]!r}.")
    for count, kind in ((matched.events, "label"), (matched.retrievals, "retrieval")):
        if count:
            tell(f"Left out: {counted(count, kind)} about unknown prompts or memories.")
    if places := matched.dataset.unanswered:
        more = f", and {len(places) - MOST_PLACES:,} more" if places[MOST_PLACES:] else ""
        tell(f"Left out, because they hold no choice: {', '.join(places[:MOST_PLACES])}{more}.")


@command("merge-labels")
def merge_labels(other: Annotated[Path, argument(type=click.Path(path_type=Path))], db: StoreFile) -> None:
    """Add the content of the label store OTHER to yours. OTHER is only read.

    Two people may merge in any order and as often as they like: nothing is added twice.

    \b
    Example:
      memsift merge-labels ~/other/labels.db
    """
    from labels.exchange.merge import merge

    with opened_labels(db, writes=True) as labels, ExitStack() as end:
        with labels.writing():
            added = merge(labels, other)
            end.enter_context(uninterrupted())
        report_added(f"Merged {other.name}", added)


def report_added(what: str, added: MergedRows) -> None:
    """Tell what a label store received, after the words *what*, and how many key presses it had already."""
    labels = [event for event in added.events if event.verdict]
    people = sorted({event.annotator for event in labels})
    parts = [
        counted(len(labels), "label") + (f" by {', '.join(people)}" if people else ""),
        counted(len(added.events) - len(labels), "skip or retraction", "skips and retractions"),
        counted(added.prompts, "prompt"),
        counted(added.memories, "memory text"),
        counted(added.retrievals, "retrieval"),
    ]
    there = f"; {counted(added.known, 'key press', 'key presses')} already there" if added.known else ""
    tell(f"{what}: {', '.join(part for part in parts if not part.startswith('0 ')) or 'nothing new'}{there}.")
