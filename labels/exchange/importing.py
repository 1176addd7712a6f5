"""A file into a label store: all of it that is about known prompts and memories, or nothing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.errors import ExchangeError
from labels import runs
from labels.events import key_of
from labels.exchange.exporting import events_in
from labels.exchange.files import nfc
from labels.exchange.matching import KnownNames, match
from labels.exchange.merge import add, read_memories, read_prompts, stored
from labels.exchange.rows import EVENT
from labels.records import IMPORTED, LABEL, MemoryText

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from engine.memory import Memory
    from engine.prompt import Prompt
    from labels.database import LabelDatabase
    from labels.exchange.files import FileText
    from labels.exchange.matching import Matched
    from labels.exchange.merge import MergedRows
    from labels.exchange.registry import ExchangeFormat
    from labels.exchange.rows import Dataset
    from labels.records import Event


@dataclass(frozen=True)
class Context:
    """Prompts and present memories that labels may be about, beside the prompts and memories in the store.

    `now` is the time, in ISO 8601 as the store writes it, of labels without a time. `root` is the root of imported
    runs.
    """

    now: str
    root: str = ""
    memories: Sequence[MemoryText] = ()
    prompts: Sequence[Prompt] = ()


@dataclass(frozen=True)
class Imported:
    """The result of an import. `repeated` counts labels equal to a label that their annotator has given already."""

    added: MergedRows
    matched: Matched
    repeated: int

    @property
    def known(self) -> int:
        return self.added.known + self.repeated


def text_of(memory: Memory) -> MemoryText:
    """The present text of a memory of a root."""
    summary = memory.summary
    words = {"category": summary.category, "title": summary.title, "path": summary.path}
    return MemoryText(summary.id, summary.digest, **words, tags=summary.tags, body=memory.body)


def import_file(
    db: LabelDatabase, source: FileText, form: ExchangeFormat, annotator: str, context: Context
) -> Imported:
    """Add the content of *source* to *db* in one transaction; importing the same file again adds nothing.

    *annotator* names the annotator of the labels; if empty, the file names them, or else the name of the format does.
    Raises ExchangeError for a fault in the file, a prompt that is known with another text, or an *annotator* for a file
    of several annotators. Nothing is added then.
    """
    if form.read is None:
        raise ExchangeError(f"{source.path}: the format {form.name} can only be exported. Choose another --format.")
    dataset = with_annotator(form.read(source), annotator, form, source)
    origin = f"{source.path.name} ({form.name})"
    with db.writing():
        memories = (*read_memories(db), *context.memories)
        present = {memory.id: memory.digest for memory in context.memories}
        matched = match(dataset, KnownNames((*read_prompts(db), *context.prompts), memories, present))
        events = list(completed(matched.dataset.events, db, origin, context.now))
        repeated = len(matched.dataset.events) - len(events)
        ready = replace(with_run_ids(matched.dataset, db, source, context), events=tuple(events))
        return Imported(add(db, ready), matched, repeated)


def with_annotator(dataset: Dataset, annotator: str, form: ExchangeFormat, source: FileText) -> Dataset:
    names = {event.annotator for event in dataset.events}
    if annotator and len(names) > 1:
        raise ExchangeError(f"{source.path}: --annotator names one person, but the file names {len(names)}. Omit it.")
    if annotator and any(event.uid for event in dataset.events):
        raise ExchangeError(f"{source.path}: these events are memsift's own and say whose they are. Omit --annotator.")
    events = (event._replace(annotator=annotator or event.annotator or form.name) for event in dataset.events)
    return replace(dataset, events=tuple(events))


def completed(events: Iterable[Event], db: LabelDatabase, origin: str, now: str) -> Iterator[Event]:
    """*events* with the fields that a store needs, without events that repeat a standing event in *db*.

    An event with a uid is from a store and stays as it is. Other names of annotators are spelled as in *db*.
    `session` becomes the time of the import: the labels of one import came in together, whenever they were given.
    """
    standing = events_in(db, "label_standing WHERE NOT repeat ORDER BY ts, event_id")
    latest = {(event.action, event.annotator, key_of(event)): event for event in standing}
    taken = {uid for (uid,) in db.tuples("SELECT uid FROM label_event")}
    known = {name for (name,) in db.tuples("SELECT DISTINCT annotator FROM label_event")}
    spelled = {nfc(name): name for name in known}
    for event in events:
        if event.uid:
            yield event
            continue
        name = nfc(event.annotator)
        said = event if event.annotator in known else event._replace(annotator=spelled.get(name, name))
        same = stored(said)._replace(blind=bool(said.blind))
        # without the name of the file and the time of the import, so that the file again makes the same uid
        parts = [getattr(same, column) for column in EVENT if column not in ("uid", "source", "titles")]
        uid = hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest()[:32]
        place = said.action, said.annotator, key_of(said)
        before = latest.get(place)
        if uid in taken or (before and is_repeated(said, before)):
            continue
        made = said._replace(uid=uid, ts=said.ts or now, source=said.source or origin, session=now)
        taken.add(uid)
        if before is None or made.ts >= before.ts:
            latest[place] = made
            if before and said.action == LABEL:
                made = latest[place] = made._replace(supersedes=before.uid)
        yield made


def is_repeated(event: Event, before: Event) -> bool:
    """Whether *event* adds nothing to *before*; a format may have no place for grade, reason or note."""
    return event.verdict == before.verdict and all(
        given in (None, "", known)
        for given, known in ((event.grade, before.grade), (event.reason, before.reason), (event.note, before.note))
    )


def with_run_ids(dataset: Dataset, db: LabelDatabase, source: FileText, context: Context) -> Dataset:
    """*dataset* with run ids that are unique in a store, for formats that have only the names of systems.

    The id is made from the content of the file, so retrievals that *db* has already are recognised and left out.
    """
    if not (dataset.by_text and dataset.runs):
        return dataset
    content = runs.short_hash(source.text)
    config = json.dumps({IMPORTED: content})
    made = {run["run_id"]: runs.run_row(context.root, run["system"], config, content) for run in dataset.runs}
    known = set(db.tuples("SELECT run_id, prompt_id FROM retrieval"))
    named = ({**row, "run_id": made[row["run_id"]]["run_id"], "ts": context.now} for row in dataset.retrievals)
    new = tuple(row for row in named if (row["run_id"], row["prompt_id"]) not in known)
    imported = tuple({**run, **made[run["run_id"]], "ts": context.now} for run in dataset.runs)
    return replace(dataset, runs=imported if new else (), retrievals=new)
