"""A file into a label store: all of it that is about something known, or nothing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.errors import ExchangeError
from labels import runs
from labels.exchange import standing
from labels.exchange.loading import read_events, read_memories, read_prompts
from labels.exchange.matching import Known, match
from labels.exchange.storing import add, stored
from labels.records import IMPORTED, LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from engine.prompt import Prompt
    from labels.database import LabelDatabase
    from labels.exchange.format import Format
    from labels.exchange.matching import Matched
    from labels.exchange.records import Dataset, LabelEvent, MemoryText, PairKey
    from labels.exchange.source import Source
    from labels.exchange.storing import Added


@dataclass(frozen=True)
class Surroundings:
    """What labels may be about beside what the store knows: a root, its memories as they read now, and prompts.

    `now` is the time, as the store spells it, for labels of which a file does not say when they were given.
    """

    now: str
    root: str = ""
    memories: Sequence[MemoryText] = ()
    prompts: Sequence[Prompt] = ()


@dataclass(frozen=True)
class Imported:
    """What came of a file. `repeated` counts the labels that say what their annotator says already."""

    added: Added
    matched: Matched
    repeated: int

    @property
    def known(self) -> int:
        return self.added.known + self.repeated


def import_source(
    db: LabelDatabase, source: Source, form: Format, annotator: str, surroundings: Surroundings
) -> Imported:
    """Add what *source* holds to *db*, in one transaction; the same file twice adds nothing the second time.

    *annotator* names whoever gave the labels; empty: as the file says, else the format's name. Raises ExchangeError for
    a file that does not say what it should, for prompts that are known with another text, and for an *annotator* where
    the file names several; nothing is added then.
    """
    if form.read is None:
        raise ExchangeError(f"{source.path}: the format {form.name} is only written.")
    dataset = named(form.read(source), annotator, form, source)
    origin = f"{source.path.name} ({form.name})"
    with db.writing():
        matched = match(dataset, known_to(db, surroundings))
        present = read_events(db)
        events = list(completed(matched.dataset.events, present, origin, surroundings.now))
        repeated = len(matched.dataset.events) - len(events)
        ready = replace(with_runs(matched.dataset, db, source, surroundings), events=tuple(events))
        return Imported(add(db, ready), matched, repeated)


def named(dataset: Dataset, annotator: str, form: Format, source: Source) -> Dataset:
    names = sorted({event.annotator for event in dataset.events})
    if annotator and len(names) > 1:
        raise ExchangeError(f"{source.path}: --annotator is for the labels of one person, and here are {len(names)}.")
    if annotator and any(event.uid for event in dataset.events):
        raise ExchangeError(f"{source.path}: these events are memsift's own and say whose they are. Omit --annotator.")
    events = tuple(replace(event, annotator=annotator or event.annotator or form.name) for event in dataset.events)
    return replace(dataset, events=events)


def known_to(db: LabelDatabase, surroundings: Surroundings) -> Known:
    memories = (*read_memories(db), *surroundings.memories)
    present = {memory.id: memory.digest for memory in surroundings.memories}
    return Known((*read_prompts(db), *surroundings.prompts), memories, present)


def completed(
    events: Iterable[LabelEvent], present: Sequence[LabelEvent], origin: str, now: str
) -> Iterator[LabelEvent]:
    """*events* with all that makes them events of a store; without those that say again what stands in *present*.

    An event that has a uid is one of a store, and stays as it is.
    """
    latest = {key_of(event): event for event in standing.standing(present) if not event.repeat}
    latest |= {(LABEL, *key): event for key, event in standing.current(present).items()}
    taken = {event.uid for event in present}
    for event in events:
        if event.uid:
            yield event
            continue
        before = latest.get(key_of(event))
        uid = uid_of(event)
        if uid in taken or (before and says_the_same(event, before)):
            continue
        made = replace(event, uid=uid, ts=event.ts or now, source=event.source or origin)
        if before and event.action == LABEL and made.ts >= before.ts:
            made = replace(made, supersedes=before.uid)
        taken.add(uid)
        if not before or made.ts >= before.ts:
            latest[key_of(event)] = made
        yield made


def key_of(event: LabelEvent) -> tuple[str, str, PairKey]:
    return event.action, event.annotator, event.pair


def says_the_same(event: LabelEvent, before: LabelEvent) -> bool:
    """Whether *event* adds nothing to *before*; a format may have no place for grade, reason or note."""
    return event.verdict == before.verdict and all(
        given in (None, "", said)
        for given, said in ((event.grade, before.grade), (event.reason, before.reason), (event.note, before.note))
    )


def uid_of(event: LabelEvent) -> str:
    """The same for the same event in the same file, whatever the file is called and whenever it is imported."""
    parts = [value for name, value in vars(stored(event)).items() if name not in ("uid", "source")]
    return hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest()[:32]


def with_runs(dataset: Dataset, db: LabelDatabase, source: Source, surroundings: Surroundings) -> Dataset:
    """*dataset* with runs that a store can tell apart, where its format knows systems only by name.

    A run is named by what it says, so what *db* has of it already is left out.
    """
    if not (dataset.by_text and dataset.runs):
        return dataset
    content = runs.short_hash(source.text)
    config = json.dumps({IMPORTED: content})
    made = {run.run_id: runs.run_id(surroundings.root, run.system, config, content) for run in dataset.runs}
    known = {(row["run_id"], row["prompt_id"]) for row in db.rows("SELECT run_id, prompt_id FROM retrieval")}
    retrievals = [replace(each, run_id=made[each.run_id], ts=surroundings.now) for each in dataset.retrievals]
    new = tuple(each for each in retrievals if (each.run_id, each.prompt_id) not in known)
    imported = tuple(
        replace(
            run,
            run_id=made[run.run_id],
            root=surroundings.root,
            config_json=config,
            config_hash=runs.short_hash(config),
            corpus_hash=content,
            ts=surroundings.now,
        )
        for run in dataset.runs
    )
    return replace(dataset, runs=imported if new else (), retrievals=new)
