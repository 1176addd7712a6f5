"""From a dataset into a label store: a union, which does not depend on which of the two came first."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import ExchangeError
from labels import runs
from labels.database import storable
from labels.exchange.loading import read_events, read_retrievals
from labels.records import RETRACT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from engine.prompt import Prompt
    from labels.database import LabelDatabase
    from labels.exchange.records import Dataset, LabelEvent, MemoryText, Retrieved, Run

R = TypeVar("R")


@dataclass(frozen=True)
class Added:
    """What a store did not have. `events` are those that were written, `known` were there already."""

    events: tuple[LabelEvent, ...] = ()
    known: int = 0
    prompts: int = 0
    memories: int = 0
    retrievals: int = 0


def add(db: LabelDatabase, dataset: Dataset) -> Added:
    """Write what *db* does not have of *dataset*; the caller holds the transaction.

    Of two spellings of the same prompt, memory or run, each field keeps the greater one, so that nothing is lost where
    one is empty; of two retrievals, pools or orders the newer one stays. Raises ExchangeError, before it has written
    anything, for a prompt with another text, an event with other content, and a retrieval of a run that is unknown.
    """
    refuse_other_texts(db, dataset.prompts)
    refuse_unknown_runs(db, dataset)
    new, known = new_events(db, dataset.events)
    sizes = {table: size(db, table) for table in ("prompt", "memory_version")}
    for prompt in dataset.prompts:
        add_prompt(db, prompt)
    for memory in dataset.memories:
        add_memory(db, memory)
    for run in dataset.runs:
        add_run(db, run)
    retrievals = add_retrievals(db, dataset.retrievals)
    for framed in dataset.frame:
        add_newer(db, "frame", vars(framed), ("prompt_id", "memory_id", "digest", "seed"))
    for planned in dataset.plan:
        add_newer(db, "plan", vars(planned), ("root", "prompt_id", "annotator"))
    for sighting in dataset.sightings:
        db.insert("sighting", vars(sighting), upsert="DO NOTHING")
    add_events(db, new)
    prompts, memories = (size(db, table) - before for table, before in sizes.items())
    return Added(tuple(new), known, prompts, memories, retrievals)


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
                f"{db.path} nor with it. Nothing was added."
            )


def add_prompt(db: LabelDatabase, prompt: Prompt) -> None:
    add_greater(db, "prompt", runs.prompt_row(prompt), ("prompt_id",))


def add_memory(db: LabelDatabase, memory: MemoryText) -> None:
    row = {**vars(memory), "memory_id": memory.id, "tags": json.dumps(memory.tags, ensure_ascii=False)}
    del row["id"]
    add_greater(db, "memory_version", row, ("memory_id", "digest"))


def add_run(db: LabelDatabase, run: Run) -> None:
    add_greater(db, "run", vars(run), ("run_id",))


def add_greater(db: LabelDatabase, table: str, row: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Insert *row*, or keep the greater value of each column; the empty text is less than any other, NULL too."""
    greater = (
        f"{name} = coalesce(max({table}.{name}, excluded.{name}), {table}.{name}, excluded.{name})"
        for name in row
        if name not in keys
    )
    db.insert(table, dict(row), upsert=f"({', '.join(keys)}) DO UPDATE SET {', '.join(greater)}")


def add_newer(db: LabelDatabase, table: str, row: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Insert *row*, or let it take the place of an older one; of two at one moment the greater one stays."""
    names = ["ts", *(name for name in row if name not in keys and name != "ts")]
    changes = ", ".join(f"{name} = excluded.{name}" for name in names)
    ours, theirs = (", ".join(f"{side}.{name}" for name in names) for side in (table, "excluded"))
    db.insert(table, dict(row), upsert=f"({', '.join(keys)}) DO UPDATE SET {changes} WHERE ({theirs}) > ({ours})")


def add_retrievals(db: LabelDatabase, retrievals: Iterable[Retrieved]) -> int:
    """Insert the retrievals that *db* does not have, or has an older one of; how many those were."""
    known = {(each.run_id, each.prompt_id): age(each) for each in read_retrievals(db)}
    new = [each for each in retrievals if age(each) > known.get((each.run_id, each.prompt_id), ("", ""))]
    for retrieved in new:
        runs.forget_results(db, retrieved.run_id, retrieved.prompt_id)
        add_retrieved(db, retrieved)
    if new:
        put_in_order(db)
    return len(new)


def age(retrieved: Retrieved) -> tuple[str, str]:
    return retrieved.ts, repr(retrieved)


def add_retrieved(db: LabelDatabase, retrieved: Retrieved) -> None:
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


def put_in_order(db: LabelDatabase) -> None:
    """Number retrievals and judge calls anew by their times: of two, the one with the higher number counts as newer."""
    db.execute("PRAGMA defer_foreign_keys = ON")
    for table, number in (("retrieval", "retrieval_id"), ("judge_call", "call_id")):
        tables = [table, "judge_verdict"] if table == "judge_call" else [table]
        ordered = f"SELECT {number} FROM {table} ORDER BY ts, run_id, prompt_id"
        places = {row[number]: place for place, row in enumerate(db.rows(ordered), start=1)}
        moved = [(old, new) for old, new in places.items() if old != new]
        for each in tables:
            for old, new in moved:
                db.execute(f"UPDATE {each} SET {number} = ? WHERE {number} = ?", [-new, old])
            db.execute(f"UPDATE {each} SET {number} = -{number} WHERE {number} < 0")


def new_events(db: LabelDatabase, events: Iterable[LabelEvent]) -> tuple[list[LabelEvent], int]:
    """The events that *db* does not have, each behind the one that it supersedes; and how many it has."""
    known = {event.uid: event for event in read_events(db)}
    new: dict[str, LabelEvent] = {}
    given = [stored(event) for event in events]
    for event in given:
        other = known.get(event.uid) or new.setdefault(event.uid, event)
        if comparable(other) != comparable(event):
            raise ExchangeError(
                f"The event {event.uid} comes twice with different contents, here or in {db.path}: it was changed. "
                "Nothing was added."
            )
    return list(targets_first(db, new, known.keys())), len(given) - len(new)


def comparable(event: LabelEvent) -> LabelEvent:
    """What must be the same in every store; a file without texts has no notes, and each store its own `source`."""
    return replace(event, source="", note="", reason="", supersedes=None)


def stored(record: R) -> R:
    """*record* with its texts as SQLite can hold them."""
    texts = {field.name: storable(getattr(record, field.name)) for field in fields(record)}  # type: ignore[arg-type]
    return type(record)(**texts)


def targets_first(db: LabelDatabase, events: Mapping[str, LabelEvent], known: Iterable[str]) -> Iterator[LabelEvent]:
    """*events* in their order, but none before the one that it supersedes.

    Raises ExchangeError for a retraction of nothing.
    """
    placed = set(known)
    for event in events.values():
        chain = []
        at: LabelEvent | None = event
        while at is not None and at.uid not in placed and at not in chain:
            chain.append(at)
            at = events.get(at.supersedes or "")
        for each in reversed(chain):
            if each.action == RETRACT and each.supersedes not in placed:
                raise ExchangeError(
                    f"The event {each.uid} takes back {each.supersedes}, which is neither in {db.path} nor with it. "
                    "Nothing was added."
                )
            placed.add(each.uid)
            yield each


def add_events(db: LabelDatabase, events: Iterable[LabelEvent]) -> None:
    ids = {row["uid"]: row["event_id"] for row in db.rows("SELECT uid, event_id FROM label_event")}
    for event in events:
        row = {**vars(event), "supersedes": ids.get(event.supersedes or "")}
        ids[event.uid] = db.insert("label_event", row)
