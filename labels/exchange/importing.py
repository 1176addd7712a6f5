"""A file into a label store: all of it that is about known prompts and memories, or nothing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.errors import ExchangeError
from labels import runs
from labels.exchange.exporting import read_events, read_memories, read_prompts
from labels.exchange.files import nfc
from labels.exchange.matching import KnownNames, match
from labels.exchange.merge import add, stored
from labels.exchange.pairs import current_labels, standing_events
from labels.exchange.records import MemoryText
from labels.records import IMPORTED, LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from engine.memory import Memory
    from engine.prompt import Prompt
    from labels.database import LabelDatabase
    from labels.exchange.files import FileText
    from labels.exchange.matching import Matched
    from labels.exchange.merge import MergedRows
    from labels.exchange.records import Dataset, LabelEvent, PairKey
    from labels.exchange.registry import Format


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


def import_file(db: LabelDatabase, source: FileText, form: Format, annotator: str, context: Context) -> Imported:
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
        matched = match(dataset, known_to(db, context))
        events = list(completed(matched.dataset.events, read_events(db), origin, context.now))
        repeated = len(matched.dataset.events) - len(events)
        ready = replace(with_run_ids(matched.dataset, db, source, context), events=tuple(events))
        return Imported(add(db, ready), matched, repeated)


def with_annotator(dataset: Dataset, annotator: str, form: Format, source: FileText) -> Dataset:
    names = {event.annotator for event in dataset.events}
    if annotator and len(names) > 1:
        raise ExchangeError(f"{source.path}: --annotator names one person, but the file names {len(names)}. Omit it.")
    if annotator and any(event.uid for event in dataset.events):
        raise ExchangeError(f"{source.path}: these events are memsift's own and say whose they are. Omit --annotator.")
    events = (replace(event, annotator=annotator or event.annotator or form.name) for event in dataset.events)
    return replace(dataset, events=tuple(events))


def known_to(db: LabelDatabase, context: Context) -> KnownNames:
    memories = (*read_memories(db), *context.memories)
    present = {memory.id: memory.digest for memory in context.memories}
    return KnownNames((*read_prompts(db), *context.prompts), memories, present)


def completed(
    events: Iterable[LabelEvent], present: Sequence[LabelEvent], origin: str, now: str
) -> Iterator[LabelEvent]:
    """*events* with the fields that a store needs, without events that repeat the standing event in *present*.

    An event with a uid is from a store and stays as it is. Other names of annotators are spelled as in *present*.
    `session` becomes the time of the import: the labels of one import came in together, whenever they were given.
    """
    latest = {key_of(event): event for event in standing_events(present) if not event.repeat}
    latest |= {(LABEL, *key): event for key, event in current_labels(present).items()}
    taken = {event.uid for event in present}
    known = {event.annotator for event in present}
    spelled = {nfc(name): name for name in known}
    for event in events:
        if event.uid:
            yield event
            continue
        if event.annotator not in known:
            name = nfc(event.annotator)
            event = replace(event, annotator=spelled.get(name, name))
        before, uid = latest.get(key_of(event)), uid_of(event)
        if uid in taken or (before and is_repeated(event, before)):
            continue
        made = replace(event, uid=uid, ts=event.ts or now, source=event.source or origin, session=now)
        is_newer = before is None or made.ts >= before.ts
        if before and is_newer and event.action == LABEL:
            made = replace(made, supersedes=before.uid)
        taken.add(uid)
        if is_newer:
            latest[key_of(event)] = made
        yield made


def key_of(event: LabelEvent) -> tuple[str, str, PairKey]:
    return event.action, event.annotator, event.pair


def is_repeated(event: LabelEvent, before: LabelEvent) -> bool:
    """Whether *event* adds nothing to *before*; a format may have no place for grade, reason or note."""
    return event.verdict == before.verdict and all(
        given in (None, "", known)
        for given, known in ((event.grade, before.grade), (event.reason, before.reason), (event.note, before.note))
    )


def uid_of(event: LabelEvent) -> str:
    """32 hex digits of a hash of the event's content, without the name of the file and the time of the import."""
    known = replace(stored(event), blind=bool(event.blind))
    parts = [value for name, value in vars(known).items() if name not in ("uid", "source")]
    return hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest()[:32]


def with_run_ids(dataset: Dataset, db: LabelDatabase, source: FileText, context: Context) -> Dataset:
    """*dataset* with run ids that are unique in a store, for formats that have only the names of systems.

    The id is made from the content of the file, so retrievals that *db* has already are recognised and left out.
    """
    if not (dataset.by_text and dataset.runs):
        return dataset
    content = runs.short_hash(source.text)
    config = json.dumps({IMPORTED: content})
    ids = {run.run_id: runs.run_id(context.root, run.system, config, content) for run in dataset.runs}
    known = {(row["run_id"], row["prompt_id"]) for row in db.rows("SELECT run_id, prompt_id FROM retrieval")}
    retrievals = (replace(retrieval, run_id=ids[retrieval.run_id], ts=context.now) for retrieval in dataset.retrievals)
    new = tuple(retrieval for retrieval in retrievals if (retrieval.run_id, retrieval.prompt_id) not in known)
    made = {
        "root": context.root,
        "config_json": config,
        "config_hash": runs.short_hash(config),
        "corpus_hash": content,
        "ts": context.now,
    }
    imported = tuple(replace(run, run_id=ids[run.run_id], **made) for run in dataset.runs)
    return replace(dataset, runs=imported if new else (), retrievals=new)
