"""`memsift phrases`: the phrases by which memories are asked for, by hand, of an agent, or of a model."""

from __future__ import annotations

import itertools
import json
import os
import sys
from bisect import bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import click

from engine.errors import MemsiftError, UnknownMemoryError
from engine.lean.json_text import printed_json
from engine.lean.record import replace
from engine.phrases.file import OF_MODEL, PhraseProblem, read_phrases
from engine.phrases.writing import add_phrases, change_phrases, is_old
from engine.search.phrases import MOST_PHRASES
from engine.stores.files import read_named
from engine.wording import aligned, counted, listed
from tui.cli.declaring import Commands, argument, command, declared, option
from tui.cli.options import (
    AskedJudge,
    Bulk,
    EachRoot,
    ListForm,
    ListFormOrIds,
    LookedIn,
    MemoryId,
    exit_if_early,
    patient,
)
from tui.cli.output import output, picked
from tui.cli.quality_judge import ask_about
from tui.workspace import opening
from tui.workspace.curate.curating import FoundMemory, chosen, memories_of, named, resolved
from tui.workspace.curate.phrases import add_to, lacking_in, report_lacking, report_lines, report_uncounted
from tui.workspace.judging import Answers
from tui.workspace.stderr import tell, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.config import JudgeConfig
    from engine.judge.limits import Limits
    from engine.judge.provider import Provider
    from engine.memory import Memory
    from engine.phrases.file import PhraseRow
    from engine.quality.judging.phrase_writer import WrittenPhrases
    from tui.workspace.judging import JudgeOptions

MOST_IMPORTED = 20_000_000
"""Bytes of an import."""

MOST_READ = 20_000
"""Characters of JSON that an agent reads at a time: several cut what a command prints at 30,000."""

NO_WRITER = "There is no model to ask. Name one with --judge, such as --judge anthropic. Its calls may cost money."


class Phrases(Commands):
    subjects = {"Commands": "phrases:list_ phrases:add phrases:remove phrases:missing phrases:import_ phrases:write"}


@click.group(cls=Phrases)
@declared
def phrases() -> None:
    """Find memories by the words in which people ask for them.

    A phrase is a short prompt that needs a memory. Phrases are searched along with the memory, so a prompt can find it
    without sharing a word with it. They are in .memsift/phrases.jsonl in the root; the memories are not touched.

    They are written by a model (memsift phrases write), by hand, or by your coding agent. The agent reads
    `memsift phrases missing --next 10 --format json`. For each memory it writes six to eight short prompts of somebody
    who has not read it: symptoms, cases, other words, and no titles; half of them in the memory's language, half in
    English. It gives them to memsift phrases import -, a line `ID: PHRASE` for each, and begins again until nothing is
    missing.

    \b
    Example:
      memsift phrases missing
    """


@command("list")
def list_(
    ids: Annotated[tuple[str, ...], argument(metavar="[ID]...", nargs=-1)], roots: EachRoot, form: ListForm
) -> None:
    """List the phrases of all memories, or of the memories ID...

    Output: a line for each phrase, with the memory's id, the author, and a note if it does not count or is older than
    the text; or as JSON [{root, id, phrase, by, at, note}].

    \b
    Example:
      memsift phrases list deploys-use-make

    --root: the phrases of all are listed.
    """
    rows, places = [], resolved(roots)
    for root in places:
        reading = read_phrases(root, os.environ)
        digests = {held.memory.id: held.memory.digest for held in memories_of([root])}
        told = [*reading.problems]
        for memory_id, own in reading.rows.items():
            if memory_id not in digests:
                strange = f"is about {memory_id!r}, which is no memory here"
                told.append(PhraseProblem(own[0].file, own[0].line, strange))
            for number, row in enumerate(own):
                note = _note(row, number, digests.get(memory_id))
                rows.append({"root": root, "id": memory_id, **picked(row, "phrase", "by", "at"), "note": note})
        report_lines(problem.text for problem in told)
    report_uncounted(places)
    if ids:
        known = {(held.root, held.memory.id) for held in chosen(ids, places)}
        rows = [row for row in rows if (row["root"], row["id"]) in known]
    lines = aligned([tuple(row[name] for name in ("id", "phrase", "by", "note")) for row in rows]) if rows else []
    click.echo(output(form, rows, lines), nl=False)
    if not rows and form == "text":
        tell("There are no phrases here. To list memories without phrases: memsift phrases missing")


@command()
def add(
    memory_id: MemoryId,
    texts: Annotated[tuple[str, ...], argument(metavar="PHRASE...", nargs=-1, required=True)],
    roots: LookedIn,
) -> None:
    """Add phrases to the memory ID: prompts that need it. A memory has at most 12 phrases, each of at most 20 words.

    Write as somebody types who has not read the memory. Your name stands beside the phrases (MEMSIFT_ANNOTATOR, by
    default your user name).

    \b
    Example:
      memsift phrases add deploys-use-make "how do I get this live?"
    """
    (found,) = chosen([memory_id], resolved(roots))
    count = add_to([(found, texts)], opening.annotator_name(os.environ))
    if not count:
        raise MemsiftError(f"No phrase was added to {found.memory.id}.")


@command()
def remove(
    memory_id: MemoryId,
    texts: Annotated[tuple[str, ...], argument(metavar="[PHRASE]...", nargs=-1)],
    every: Annotated[bool, option("--all")],
    roots: LookedIn,
) -> None:
    """Remove phrases of the memory ID.

    A removal is a line in the file of phrases, so it survives a merge in git. `memsift phrases add` brings a phrase
    back. The memory ID may be gone.

    \b
    Example:
      memsift phrases remove deploys-use-make "how do I get this live?"

    --all: Remove all phrases of the memory.
    """
    if bool(texts) == every:
        raise click.UsageError("Name phrases, or say --all.")
    readings = {root: read_phrases(root, os.environ).rows for root in resolved(roots)}
    own = {root: rows[memory_id] for root, rows in readings.items() if memory_id in rows}
    if not own:
        (found,) = chosen([memory_id], resolved(roots))
        raise MemsiftError(f"{found.memory.id} has no phrases.")
    count = 0
    for root, rows in own.items():
        gone = [replace(row, is_removed=True) for row in rows if every or row.phrase in texts]
        count += len(gone)
        with uninterrupted():
            change_phrases(root, os.environ, lambda _, gone=gone: gone)  # type: ignore[misc]
    if unknown := set(texts).difference(row.phrase for rows in own.values() for row in rows):
        raise UnknownMemoryError(f"{memory_id} has no phrase {listed([*map(repr, sorted(unknown))])}.")
    tell(f"Removed {counted(count, 'phrase')} of {memory_id}.")


@command()
def missing(
    roots: EachRoot,
    most: Annotated[int | None, option("--next", metavar="N", type=click.IntRange(1))],
    form: ListFormOrIds,
) -> None:
    """List the active memories without phrases, or with phrases older than their text.

    Memories with a secret, and memories held back by the safety scan, are left out and named on stderr: their text is
    not for a model.

    Output: a line for each memory; or as JSON, with the text for a model, [{root, id, state, title, category, tags,
    text}]. `state` is none or old.

    \b
    Example:
      memsift phrases missing --next 20 --format json

    --next: Only the first N, as far as they fit into 20,000 characters.
    --root: the memories of all are listed.
    """
    from engine.quality.judging.rubric import BODY_LIMIT
    from engine.quality.safety.gate import cut_runs

    rows: list[dict[str, Any]] = []
    for root in resolved(roots):
        found = lacking_in(root)
        report_lacking(root, found)
        for memory in found.memories:
            parts = (line for section in memory.sections for line in (section.heading, *section.lines) if line)
            text = cut_runs("\n".join(parts))[:BODY_LIMIT]
            row = {"root": root, "id": memory.summary.id, "state": found.state[memory.summary.id]}
            rows.append({**row, **picked(memory.summary, "title", "category", "tags"), "text": text})
    if most:
        ends = [*itertools.accumulate(len(printed_json(row)) for row in rows[:most])]
        rows = rows[: max(1, bisect_right(ends, MOST_READ))]
    table = aligned([(row["id"], row["state"], row["title"]) for row in rows]) if rows else []
    lines = [row["id"] for row in rows] if form == "ids" else table
    click.echo(output(form, rows, lines), nl=False)


@command("import")
def import_(
    file: Annotated[str, argument(metavar="FILE|-")],
    by: Annotated[str, option("--by", metavar="NAME", default="agent")],
    roots: LookedIn,
) -> None:
    """Add the phrases in FILE, or in stdin for -: a line `ID: PHRASE` each, or {"id", "phrases": [text]} a memory.

    This is for your coding agent: it reads memsift phrases missing, writes six to eight phrases for each memory, and
    gives them to this command, a few memories at a time. Unusable phrases are named on stderr, and the rest is added.
    New phrases replace the phrases of a model for an older text.

    \b
    Example:
      memsift phrases import phrases.txt --by claude-opus

    --by: The name of the model that wrote them.
    """
    texts: dict[str, tuple[int, list[object]]] = {}
    wrong = []
    for number, line in enumerate(_text_of(file).splitlines(), 1):
        if not line.strip():
            continue
        memory_id, _, phrase = line.strip().partition(": ")
        is_plain = memory_id and phrase and not memory_id.startswith("{")
        row = {"id": memory_id, "phrases": [phrase]} if is_plain else None
        with suppress(ValueError, RecursionError):
            row = json.loads(line)
        match row:
            case {"id": str(memory_id), "phrases": list(found)}:
                texts.setdefault(memory_id, (number, []))[1].extend(found)
            case _:
                wrong.append(f'line {number:,} is neither `ID: PHRASE` nor {{"id": text, "phrases": [text, ...]}}')
    given: list[tuple[FoundMemory, Sequence[object]]] = []
    known = memories_of(resolved(roots))
    for memory_id, (number, phrases_of) in texts.items():
        try:
            given.append((named([memory_id], known)[0], phrases_of))
        except UnknownMemoryError as error:
            wrong.append(f"line {number:,}: {error}")
    report_lines(wrong)
    count = add_to(given, f"{OF_MODEL}{by}")
    if not count and (wrong or not given):
        raise MemsiftError("No phrase was added.")


@command()
def write(
    ids: Annotated[tuple[str, ...], argument(metavar="[ID]...", nargs=-1)],
    roots: EachRoot,
    judge: AskedJudge,
    bulk: Bulk,
    dry_run: Annotated[bool, option("--dry-run")],
) -> None:
    """Let a model write phrases for memories without phrases, or with phrases older than their text.

    The whole text of these memories is sent to the model of --judge, five memories in a call. Memories with a secret,
    and memories held back by the safety scan, are never sent. The price is shown before the first call.

    The phrases of a call are kept at once: after Ctrl-C, or at --max-cost, the same command goes on with the rest.
    Answers are also in ~/.cache/memsift/judge.db. Without --judge-timeout a call may take 60 s.

    \b
    Examples:
      memsift phrases write --judge anthropic --dry-run
      memsift phrases write --judge anthropic --max-cost 1

    --dry-run: Only show the memories, the model and the price.
    --root: the memories of all get phrases.
    """
    if judge.depth:
        raise click.UsageError("--judge-depth has no effect here: phrases have no reasons. Leave it out.")
    places = resolved(roots)
    wanted = {(held.root, held.memory.id) for held in chosen(ids, places)}
    found = {root: lacking_in(root) for root in places}
    asked: dict[str, list[Memory]] = {}
    for root, lacking in found.items():
        report_lacking(root, lacking)
        if own := [memory for memory in lacking.memories if not ids or (root, memory.summary.id) in wanted]:
            asked[root] = own
    if asked:
        _write(asked, patient(judge), bulk.limits(), is_dry=dry_run)
    else:
        tell("There is nothing to write.")


def _write(asked: Mapping[str, Sequence[Memory]], judge: JudgeOptions, limits: Limits, *, is_dry: bool) -> None:
    """Let the judge's model write phrases for these memories of each root. Raises MemsiftError."""
    from engine.quality.judging.phrase_writer import PhraseWriter, batches_of

    every: list[WrittenPhrases] = []
    counts: list[int] = []
    complaints: list[str] = []

    def make(provider: Provider, config: JudgeConfig, how: dict[str, Any]) -> PhraseWriter:
        return PhraseWriter(provider, config, **{**how, "samples": 1})

    def keep(root: str, written: WrittenPhrases) -> None:
        every.append(written)
        texts = [(memory.summary, own) for memory, own in zip(written.memories, written.phrases, strict=True)]
        count, more = add_phrases(root, os.environ, texts, f"{OF_MODEL}{written.judgement.model}")
        counts.append(count)
        complaints.extend(more)
        if written.judgement.is_answer:
            complaints.extend(f"{memory.id} got no phrases" for memory, own in texts if not own)

    batches = {root: batches_of(memories) for root, memories in asked.items()}
    ending = ask_about(batches, make, None if is_dry else keep, judge, limits, "Writing phrases", NO_WRITER)
    if is_dry:
        tell("Nothing was sent. To send it, leave --dry-run out.")
        return
    report_lines(f"{text}: left out." for text in complaints)
    costs = [written.judgement.cost_usd for written in every if written.judgement.cost_usd is not None]
    cost = f" It cost ${sum(costs):.4f}." if costs else ""
    served = sum(any(own) for written in every for own in written.phrases)
    tell(f"Added {counted(sum(counts), 'phrase')} to {counted(served, 'memory')}.{cost}")
    report_uncounted(asked)
    exit_if_early(ending, counted(ending.jobs, "call"), "Give the same command again to go on: the phrases are kept.")
    Answers.of(every).report()


def _note(row: PhraseRow, number: int, digest: str | None) -> str:
    """What people should know about the phrase with this *number* of its memory; None as *digest*: it has none."""
    if digest is None:
        return "no such memory"
    if number >= MOST_PHRASES:
        return "does not count"
    return "older than the text" if is_old([row], digest) else ""


def _text_of(file: str) -> str:
    """The text of a file or of stdin. Raises MemsiftError."""
    try:
        raw = sys.stdin.buffer.read(MOST_IMPORTED + 1) if file == "-" else read_named(file, MOST_IMPORTED + 1)
    except OSError as error:
        raise MemsiftError(f"{file} cannot be read ({error.strerror or error}).") from None
    if len(raw) > MOST_IMPORTED:
        raise MemsiftError(f"{file} is larger than {MOST_IMPORTED // 10**6} MB. Import it in parts.")
    return raw.decode("utf-8", "replace")
