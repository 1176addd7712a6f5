"""A dataset, or the label store of another person, into a label store: a union in which no order matters."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from engine.errors import ExchangeError, LabelStoreError
from engine.stores.files import make_private
from labels import runs
from labels.database import LabelDatabase, unusable_place
from labels.exchange.exporting import read_events, read_retrievals, read_store
from labels.records import NOT_KNOWN, RETRACT
from labels.tables import explained, storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from engine.prompt import Prompt
    from labels.exchange.records import Dataset, LabelEvent, MemoryText, RetrievalRow


@dataclass(frozen=True)
class MergedRows:
    """The rows that a store got. `events` were written; `known` counts the events that were there already."""

    events: tuple[LabelEvent, ...] = ()
    known: int = 0
    prompts: int = 0
    memories: int = 0
    retrievals: int = 0


# Another store


def merge(db: LabelDatabase, other: Path) -> MergedRows:
    """Add to *db* everything that only the store at *other* has; *other* is only read and may be of an older schema.

    The result is the same in either direction and however often it is repeated. Raises LabelStoreError if *other* is
    missing or no label store, ExchangeError for a prompt of one id with two texts; nothing is added then.
    """
    if not other.is_file():
        raise LabelStoreError(f"There is no label store {other}. Check the path.")
    with opened_copy(other) as theirs:
        dataset = read_store(theirs)
    with db.writing():
        return add(db, dataset)


@contextmanager
def opened_copy(path: Path) -> Iterator[LabelDatabase]:
    """A temporary copy of the store at *path*, with today's schema; an empty store if there is none.

    Raises LabelStoreError for a file that is no label store, NewerStoreError for a store of a newer memsift.
    """
    with TemporaryDirectory(prefix="memsift-") as folder:
        copy = Path(folder) / path.name
        copy_store(path, copy)
        try:
            db = LabelDatabase(copy)
        except LabelStoreError as error:
            raise type(error)(str(error).replace(str(copy), str(path))) from error
        with closing(db):
            yield db


def copy_store(path: Path, copy: Path) -> None:
    """Copy the store at *path*, with committed data that is still in its write-ahead log.

    Only SQLite opens the store, because this process may have it open. Where no process has, SQLite reads it without
    its log, which is copied: it would make files beside the store otherwise.
    """
    if not path.exists():
        return
    log, shared = (path.with_name(path.name + ending) for ending in ("-wal", "-shm"))
    in_use = shared.exists()
    mode = "ro" if in_use else "ro&immutable=1"
    try:
        make_private(str(copy))
        with (
            closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)) as theirs,
            closing(sqlite3.connect(copy)) as ours,
        ):
            theirs.backup(ours)
        if log.exists() and not in_use:
            shutil.copyfile(log, copy.with_name(copy.name + "-wal"))
    except OSError as error:
        raise unusable_place(error, path) from error
    except sqlite3.Error as error:
        raise explained(error, path) from error


def carry(held: LabelDatabase, db: LabelDatabase, session: str = "") -> MergedRows:
    """Add to *db* what *held* has; of the events, only those of a *session*, if one is named.

    A retraction of an event that neither of them has is left out. Raises as `add` does.
    """
    dataset = read_store(held)
    if session:
        events = [event for event in dataset.events if event.session == session]
        known = {event.uid for event in (*events, *read_events(db))}
        kept = (event for event in events if event.action != RETRACT or event.supersedes in known)
        dataset = replace(dataset, events=tuple(kept))
    return add(db, dataset)


# A dataset


def add(db: LabelDatabase, dataset: Dataset) -> MergedRows:
    """Write the rows of *dataset* that *db* does not have; the caller holds the transaction.

    Where a prompt, memory or run differs, each field keeps the greater value, so that an empty field is filled. Of two
    retrievals, pools or orders the newer one stays. Raises ExchangeError before the first write: for a prompt with
    another text, an event with other content, or a retrieval of an unknown run.
    """
    refuse_other_texts(db, dataset.prompts)
    refuse_unknown_runs(db, dataset)
    new, known = new_events(db, dataset.events)
    sizes = {table: size(db, table) for table in ("prompt", "memory_version")}
    for prompt in dataset.prompts:
        add_greater(db, "prompt", runs.prompt_row(prompt), ("prompt_id",))
    for memory in dataset.memories:
        add_greater(db, "memory_version", memory_row(memory), ("memory_id", "digest"))
    for run in dataset.runs:
        add_greater(db, "run", vars(run), ("run_id",))
    retrievals = add_retrievals(db, dataset.retrievals)
    for pooled in dataset.pool:
        add_newer(db, "frame", vars(pooled), ("prompt_id", "memory_id", "digest", "seed"))
    for planned in dataset.plan:
        add_newer(db, "plan", vars(planned), ("root", "prompt_id", "annotator"))
    for sighting in dataset.sightings:
        db.insert("sighting", vars(sighting), upsert="DO NOTHING")
    add_events(db, new)
    prompts, memories = (size(db, table) - before for table, before in sizes.items())
    return MergedRows(tuple(new), known, prompts, memories, retrievals)


def size(db: LabelDatabase, table: str) -> int:
    return int(db.rows(f"SELECT count(*) AS n FROM {table}")[0]["n"])


def refuse_other_texts(db: LabelDatabase, prompts: Iterable[Prompt]) -> None:
    known = {row["prompt_id"]: row["text"] for row in db.rows("SELECT prompt_id, text FROM prompt")}
    for prompt in prompts:
        text = storable(prompt.text)
        if known.get(prompt.id, text) != text:
            raise ExchangeError(
                f"The prompt {prompt.id!r} has another text in {db.path}, so labels of one would count for the other. "
                "Nothing was added. Give one of the two prompts another id."
            )


def refuse_unknown_runs(db: LabelDatabase, dataset: Dataset) -> None:
    known = {row["run_id"] for row in db.rows("SELECT run_id FROM run")} | {run.run_id for run in dataset.runs}
    for retrieved in dataset.retrievals:
        if retrieved.run_id not in known:
            raise ExchangeError(
                f"The retrieval of {retrieved.prompt_id!r} is of the run {retrieved.run_id!r}, which is neither in "
                f"{db.path} nor in the data to add. Nothing was added."
            )


def memory_row(memory: MemoryText) -> dict[str, Any]:
    row = {**vars(memory), "memory_id": memory.id, "tags": json.dumps(memory.tags, ensure_ascii=False)}
    del row["id"]
    return row


def add_greater(db: LabelDatabase, table: str, row: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Insert *row*, or keep the greater value of each column; the empty text and NULL are less than any other value."""
    greater = (
        f"{name} = coalesce(max({table}.{name}, excluded.{name}), {table}.{name}, excluded.{name})"
        for name in row
        if name not in keys
    )
    db.insert(table, dict(row), upsert=f"({', '.join(keys)}) DO UPDATE SET {', '.join(greater)}")


def add_newer(db: LabelDatabase, table: str, row: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Insert *row*, or replace an older row with the same keys; of two rows of the same time the greater one stays."""
    names = ["ts", *(name for name in row if name not in keys and name != "ts")]
    changes = ", ".join(f"{name} = excluded.{name}" for name in names)
    ours, theirs = (", ".join(f"{side}.{name}" for name in names) for side in (table, "excluded"))
    db.insert(table, dict(row), upsert=f"({', '.join(keys)}) DO UPDATE SET {changes} WHERE ({theirs}) > ({ours})")


def add_retrievals(db: LabelDatabase, retrievals: Iterable[RetrievalRow]) -> int:
    """Insert the retrievals that *db* has not, or has in an older version; the number of these."""
    known = {(retrieval.run_id, retrieval.prompt_id): age(retrieval) for retrieval in read_retrievals(db)}
    new = [
        retrieval
        for retrieval in retrievals
        if age(retrieval) > known.get((retrieval.run_id, retrieval.prompt_id), ("", ""))
    ]
    for retrieved in new:
        runs.forget_results(db, retrieved.run_id, retrieved.prompt_id)
        add_retrieved(db, retrieved)
    if new:
        number_by_time(db)
    return len(new)


def age(retrieved: RetrievalRow) -> tuple[str, str]:
    return retrieved.ts, repr(retrieved)


def add_retrieved(db: LabelDatabase, retrieved: RetrievalRow) -> None:
    at = {"run_id": retrieved.run_id, "prompt_id": retrieved.prompt_id}
    spent = {"fallback": retrieved.fallback, "elapsed_ms": retrieved.elapsed_ms}
    db.insert("retrieval", {**at, "ts": retrieved.ts, **spent})
    call_id = db.insert("judge_call", {**at, **vars(retrieved.call)}) if retrieved.call else None
    for result in retrieved.results:
        row = {**vars(result), "matched": json.dumps(result.matched, ensure_ascii=False)}
        verdict = row.pop("verdict")
        db.insert("result", {**at, **row})
        if verdict and call_id is not None:
            about = {"call_id": call_id, "memory_id": result.memory_id, "digest": result.digest}
            db.insert("judge_verdict", {**about, **vars(verdict)})


def number_by_time(db: LabelDatabase) -> None:
    """Number retrievals and judge calls anew by their times, because the higher number counts as newer."""
    db.execute("PRAGMA defer_foreign_keys = ON")
    for number, tables in (("retrieval_id", ["retrieval"]), ("call_id", ["judge_call", "judge_verdict"])):
        ordered = f"SELECT {number} FROM {tables[0]} ORDER BY ts, run_id, prompt_id"
        places = {row[number]: place for place, row in enumerate(db.rows(ordered), start=1)}
        moved = [(old, new) for old, new in places.items() if old != new]
        for table in tables:
            for old, new in moved:
                db.execute(f"UPDATE {table} SET {number} = ? WHERE {number} = ?", [-new, old])
            db.execute(f"UPDATE {table} SET {number} = -{number} WHERE {number} < 0")


def new_events(db: LabelDatabase, events: Iterable[LabelEvent]) -> tuple[list[LabelEvent], int]:
    """The events that *db* does not have, each after the event that it supersedes; and the number of known events."""
    known = {event.uid: event for event in read_events(db)}
    new: dict[str, LabelEvent] = {}
    given = [stored(event) for event in events]
    for event in given:
        other = known.get(event.uid) or new.setdefault(event.uid, event)
        if comparable(other) != comparable(event):
            raise ExchangeError(
                f"The event {event.uid} comes twice with different contents, in the data to add or in {db.path}: it "
                "was changed. Nothing was added."
            )
    return list(targets_first(db, new, known.keys())), len(given) - len(new)


def comparable(event: LabelEvent) -> LabelEvent:
    """The fields that must be equal in every store: `source` differs, and a file without texts has no notes.

    An imported label may have the time of its import, and two people may import one file at different times.
    """
    same = replace(event, source="", note="", reason="", supersedes=None, blind=bool(event.blind))
    return replace(same, ts="", session="") if event.source else same


def stored(event: LabelEvent) -> LabelEvent:
    """*event* with its texts as SQLite can hold them."""
    return replace(event, **{name: storable(value) for name, value in vars(event).items()})


def targets_first(db: LabelDatabase, events: Mapping[str, LabelEvent], known: Iterable[str]) -> Iterator[LabelEvent]:
    """*events* in their order, but each after the event that it supersedes.

    Raises ExchangeError for a retraction of an unknown event.
    """
    placed = set(known)
    for event in events.values():
        chain = []
        at: LabelEvent | None = event
        while at is not None and at.uid not in placed and at not in chain:
            chain.append(at)
            at = events.get(at.supersedes or "")
        for link in reversed(chain):
            if link.action == RETRACT and link.supersedes not in placed:
                raise ExchangeError(
                    f"The event {link.uid} takes back {link.supersedes}, which is neither in {db.path} nor in the data "
                    "to add. Nothing was added."
                )
            placed.add(link.uid)
            yield link


def add_events(db: LabelDatabase, events: Iterable[LabelEvent]) -> None:
    ids = {row["uid"]: row["event_id"] for row in db.rows("SELECT uid, event_id FROM label_event")}
    for event in events:
        row = {
            **vars(event),
            "blind": NOT_KNOWN if event.blind is None else event.blind,
            "supersedes": ids.get(event.supersedes or ""),
        }
        ids[event.uid] = db.insert("label_event", row)
