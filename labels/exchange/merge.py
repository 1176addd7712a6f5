"""A dataset, or the label store of another person, into a label store: a union in which no order matters."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from engine.errors import ExchangeError, LabelStoreError
from engine.stores.files import make_private
from labels import runs
from labels.database import LabelDatabase, unusable_place
from labels.events import event_of, event_row
from labels.exchange.files import CALL, PLAN, POOLED, RESULT, RETRIEVAL, RUN, SIGHTING, VERDICT, Dataset
from labels.records import RETRACT, Event, MemoryText
from labels.tables import explained, queries_beside, storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engine.prompt import Prompt
    from labels.exchange.files import Row
    from labels.tables import LabelTables


QUERIES = queries_beside(__file__)
VERDICT_ON = {"memory_id": str, **VERDICT}


@dataclass(frozen=True)
class MergedRows:
    """The rows that a store got. `events` were written; `known` counts the events that were there already."""

    events: tuple[Event, ...] = ()
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
        dataset = rows_of(theirs)
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
    dataset = rows_of(held)
    if session:
        events = [event for event in dataset.events if event.session == session]
        known = {event.uid for event in (*events, *read_events(db))}
        kept = (event for event in events if event.action != RETRACT or event.supersedes in known)
        dataset = replace(dataset, events=tuple(kept))
    return add(db, dataset)


# A store as a dataset


def rows_of(db: LabelTables) -> Dataset:
    """Everything in a store."""
    return Dataset(
        prompts=read_prompts(db),
        memories=read_memories(db),
        events=read_events(db),
        runs=selected(db, "run", RUN),
        retrievals=read_retrievals(db),
        pool=selected(db, "frame", POOLED),
        plan=selected(db, "plan", PLAN),
        sightings=selected(db, "sighting", SIGHTING),
    )


def selected(db: LabelTables, table: str, columns: Row) -> tuple[Row, ...]:
    return tuple(db.rows(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid"))


def read_prompts(db: LabelTables) -> tuple[Prompt, ...]:
    return tuple(map(runs.prompt_of, db.rows("SELECT * FROM prompt ORDER BY rowid")))


def read_memories(db: LabelTables) -> tuple[MemoryText, ...]:
    rows = db.tuples("SELECT memory_id, digest, category, title, tags, body, path FROM memory_version ORDER BY rowid")
    return tuple(MemoryText._make((*words, tuple(json.loads(tags)), body, path)) for *words, tags, body, path in rows)


def read_events(db: LabelTables) -> tuple[Event, ...]:
    """The events in the order in which they were written; `supersedes` is a uid."""
    return tuple(map(event_of, db.rows(QUERIES["events"])))


def read_retrievals(db: LabelTables) -> tuple[Row, ...]:
    """The retrievals, oldest first, with their results, the call of the judge and its verdicts."""
    verdicts: dict[tuple[str, str, str], Row] = {}
    for run_id, prompt_id, verdict in by_retrieval(db, "judge_verdict JOIN judge_call USING (call_id)", VERDICT_ON):
        verdicts[run_id, prompt_id, verdict.pop("memory_id")] = verdict
    results: dict[tuple[str, str], list[Row]] = {}
    for run_id, prompt_id, result in by_retrieval(db, "result ORDER BY rank", RESULT):
        result |= {"injected": bool(result["injected"]), "matched": tuple(json.loads(result["matched"]))}
        result["verdict"] = verdicts.get((run_id, prompt_id, result["memory_id"]))
        results.setdefault((run_id, prompt_id), []).append(result)
    calls = {(run_id, prompt_id): call for run_id, prompt_id, call in by_retrieval(db, "judge_call", CALL)}
    keyed = ((key_of(row), row) for row in selected(db, "retrieval", RETRIEVAL))
    return tuple({**row, "results": results.get(key, []), "call": calls.get(key)} for key, row in keyed)


def by_retrieval(db: LabelTables, source: str, columns: Row) -> Iterator[tuple[str, str, Row]]:
    """(run id, prompt id, row) for each row of the first table in *source*."""
    names = ", ".join(f"{source.split()[0]}.{name}" for name in columns)
    for run_id, prompt_id, *values in db.tuples(f"SELECT run_id, prompt_id, {names} FROM {source}"):
        yield run_id, prompt_id, dict(zip(columns, values, strict=True))


def key_of(retrieved: Row) -> tuple[str, str]:
    return retrieved["run_id"], retrieved["prompt_id"]


# A dataset into a store


def add(db: LabelTables, dataset: Dataset) -> MergedRows:
    """Write the rows of *dataset* that *db* does not have; the caller holds the transaction.

    Where a prompt, memory or run differs, each field keeps the greater value, so that an empty field is filled. Of two
    retrievals, pools or orders the newer one stays. Raises ExchangeError before the first write: for a prompt with
    another text, an event with other content, or a retrieval of an unknown run.
    """
    refuse_conflicts(db, dataset)
    new, known = new_events(db, dataset.events)
    sizes = {table: size(db, table) for table in ("prompt", "memory_version")}
    for prompt in dataset.prompts:
        add_greater(db, "prompt", runs.prompt_row(prompt), ("prompt_id",))
    for memory in dataset.memories:
        add_greater(db, "memory_version", runs.memory_row(memory, memory.body), ("memory_id", "digest"))
    for run in dataset.runs:
        add_greater(db, "run", run, ("run_id",))
    retrievals = add_retrievals(db, dataset.retrievals)
    for pooled in dataset.pool:
        add_newer(db, "frame", pooled, ("prompt_id", "memory_id", "digest", "seed"))
    for planned in dataset.plan:
        add_newer(db, "plan", planned, ("root", "prompt_id", "annotator"))
    for sighting in dataset.sightings:
        db.insert("sighting", sighting, upsert="DO NOTHING")
    ids = dict(db.tuples("SELECT uid, event_id FROM label_event"))
    ids |= {event.uid: number for number, event in enumerate(new, start=max(ids.values(), default=0) + 1)}
    db.execute("PRAGMA defer_foreign_keys = ON")  # an event may stand before the event that it supersedes
    for event in new:
        numbered = event._replace(event_id=ids[event.uid], supersedes=ids.get(event.supersedes))
        db.insert("label_event", event_row(numbered))
    db.execute(QUERIES["unlabelled_plans"])
    prompts, memories = (size(db, table) - before for table, before in sizes.items())
    return MergedRows(tuple(new), known, prompts, memories, retrievals)


def size(db: LabelTables, table: str) -> int:
    return int(db.tuples(f"SELECT count(*) FROM {table}")[0][0])


def refuse_conflicts(db: LabelTables, dataset: Dataset) -> None:
    """Raise ExchangeError for a prompt with another text, and for a retrieval of an unknown run."""
    texts = dict(db.tuples("SELECT prompt_id, text FROM prompt"))
    for prompt in dataset.prompts:
        text = storable(prompt.text)
        if texts.get(prompt.id, text) != text:
            raise ExchangeError(
                f"The prompt {prompt.id!r} has another text in {db.path}, so labels of one would count for the other. "
                "Nothing was added. Give one of the two prompts another id."
            )
    known = {run_id for (run_id,) in db.tuples("SELECT run_id FROM run")} | {run["run_id"] for run in dataset.runs}
    for run_id, prompt_id in map(key_of, dataset.retrievals):
        if run_id not in known:
            raise ExchangeError(
                f"The retrieval of {prompt_id!r} is of the run {run_id!r}, which is neither in {db.path} nor in the "
                "data to add. Nothing was added."
            )


def add_greater(db: LabelTables, table: str, row: Row, keys: tuple[str, ...]) -> None:
    """Insert *row*, or keep the greater value of each column; the empty text and NULL are less than any other value."""
    greater = (
        f"{name} = coalesce(max({table}.{name}, excluded.{name}), {table}.{name}, excluded.{name})"
        for name in row
        if name not in keys
    )
    db.insert(table, row, upsert=f"({', '.join(keys)}) DO UPDATE SET {', '.join(greater)}")


def add_newer(db: LabelTables, table: str, row: Row, keys: tuple[str, ...]) -> None:
    """Insert *row*, or replace an older row with the same keys; of two rows of the same time the greater one stays."""
    names = ["ts", *(name for name in row if name not in keys and name != "ts")]
    changes = ", ".join(f"{name} = excluded.{name}" for name in names)
    ours, theirs = (", ".join(f"{side}.{name}" for name in names) for side in (table, "excluded"))
    db.insert(table, row, upsert=f"({', '.join(keys)}) DO UPDATE SET {changes} WHERE ({theirs}) > ({ours})")


def add_retrievals(db: LabelTables, retrievals: Iterable[Row]) -> int:
    """Insert the retrievals that *db* has not, or has in an older version; the number of these."""

    def age(retrieved: Row) -> tuple[str, str]:
        return retrieved["ts"], repr(retrieved)

    known = {key_of(retrieved): age(retrieved) for retrieved in read_retrievals(db)}
    new = [retrieved for retrieved in retrievals if age(retrieved) > known.get(key_of(retrieved), ("", ""))]
    for retrieved in new:
        runs.write_retrieval(db, retrieved)
    if new:
        number_by_time(db)
    return len(new)


def number_by_time(db: LabelTables) -> None:
    """Number retrievals and judge calls anew by their times, because the higher number counts as newer."""
    db.execute("PRAGMA defer_foreign_keys = ON")
    for number, tables in (("retrieval_id", ["retrieval"]), ("call_id", ["judge_call", "judge_verdict"])):
        ordered = db.tuples(f"SELECT {number} FROM {tables[0]} ORDER BY ts, run_id, prompt_id")
        moved = [(old, new) for new, (old,) in enumerate(ordered, start=1) if old != new]
        for table in tables:
            for old, new in moved:
                db.execute(f"UPDATE {table} SET {number} = ? WHERE {number} = ?", [-new, old])
            db.execute(f"UPDATE {table} SET {number} = -{number} WHERE {number} < 0")


def new_events(db: LabelTables, events: Iterable[Event]) -> tuple[list[Event], int]:
    """The events that *db* does not have, and the number of events that it has.

    Raises ExchangeError for an event with other content, and for a retraction of an unknown event.
    """
    known = {event.uid: event for event in read_events(db)}
    new: dict[str, Event] = {}
    given = [stored(event) for event in events]
    for event in given:
        other = known.get(event.uid) or new.setdefault(event.uid, event)
        is_imported = bool(other.source or event.source)  # a file without texts has no sources
        if comparable(other, is_imported) != comparable(event, is_imported):
            raise ExchangeError(
                f"The event {event.uid} comes twice with different contents, in the data to add or in {db.path}: it "
                "was changed. Nothing was added."
            )
    for event in new.values():
        if event.action == RETRACT and event.supersedes not in known.keys() | new.keys():
            raise ExchangeError(
                f"The event {event.uid} takes back {event.supersedes}, which is neither in {db.path} nor in the data "
                "to add. Nothing was added."
            )
    return list(new.values()), len(given) - len(new)


def comparable(event: Event, is_imported: bool) -> Event:
    """The fields that must be equal in every store: `source` differs, and a file without texts has no notes.

    An imported label may have the time of its import, and two people may import one file at different times. The digest
    differs where only one store has followed a rereading: see `LabelStore.follow_rereading`.
    """
    same = event._replace(digest="", source="", note="", reason="", supersedes=None, blind=bool(event.blind))
    return same._replace(ts="", session="") if is_imported else same


def stored(event: Event) -> Event:
    """*event* with its texts as SQLite can hold them."""
    return Event._make(map(storable, event))
