"""From a label store to a dataset: all of it or some roots, of one annotator or agreed, with texts or with hashes."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import ExchangeError
from engine.prompt import Prompt
from labels import runs
from labels.exchange.files import nfc
from labels.exchange.pairs import gold
from labels.exchange.records import (
    Dataset,
    JudgeCallRow,
    JudgeVerdict,
    LabelEvent,
    MemoryText,
    Planned,
    PooledPair,
    ResultRow,
    RetrievalRow,
    RunRow,
    Sighting,
    id_hash,
    text_hash,
)
from labels.records import blindness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labels.database import LabelDatabase

R = TypeVar("R")

EVERYTHING: Mapping[str, str | None] = {"roots": None, "present": "[]"}

GOLD = "gold"
"""The annotator of agreed labels."""

IN_ROOTS = """(:roots IS NULL OR EXISTS (
    SELECT 1 FROM (SELECT value AS wanted FROM json_each(:roots))
    WHERE instr(char(10) || root || char(10), char(10) || wanted || char(10))
))"""
"""Whether a run was over one of the roots, alone or together with others: see `engine.stores.roots.joint_name`."""

OF_ROOTS = f"(:roots IS NULL OR run_id IN (SELECT run_id FROM run WHERE {IN_ROOTS}))"
PROMPTS_OF_ROOTS = f"(:roots IS NULL OR prompt_id IN (SELECT prompt_id FROM retrieval WHERE {OF_ROOTS}))"
IS_PRESENT = """(pair.memory_id || char(10) || pair.digest IN (SELECT value FROM json_each(:present)) AND NOT EXISTS (
    SELECT 1 FROM result WHERE result.prompt_id = pair.prompt_id AND result.memory_id = pair.memory_id
))"""
PAIRS_OF_ROOTS = f"""(:roots IS NULL OR {IS_PRESENT} OR EXISTS (
    SELECT 1 FROM result
    WHERE {OF_ROOTS} AND result.prompt_id = pair.prompt_id AND result.memory_id = pair.memory_id
))"""
"""Whether a run over the roots found the memory of a row of the table `pair`, or no run did and it is `present`.

`roots` is a JSON array, or NULL for all roots.
"""


# Reading a store


def read_store(db: LabelDatabase, roots: Sequence[str] | None = None, present: Sequence[MemoryText] = ()) -> Dataset:
    """Everything in a store.

    With *roots*: their runs, and the events and pools of the memories that these found. Memories with imported labels
    may be in no run at all: they count if the roots hold them now, as *present*.
    """
    at = of_roots(roots)
    about = {**at, "present": json.dumps([f"{memory.id}\n{memory.digest}" for memory in present])}
    made = db.rows(f"SELECT * FROM run WHERE {IN_ROOTS} ORDER BY rowid", at)
    pooled = db.rows(f"SELECT * FROM frame AS pair WHERE {PAIRS_OF_ROOTS} ORDER BY rowid", about)
    planned = db.rows(f"SELECT * FROM plan WHERE {IN_ROOTS} ORDER BY rowid", at)
    seen = db.rows(f"SELECT * FROM sighting WHERE {PROMPTS_OF_ROOTS} ORDER BY rowid", at)
    dataset = Dataset(
        prompts=read_prompts(db),
        memories=read_memories(db),
        events=read_events(db, about),
        runs=tuple(record(RunRow, row) for row in made),
        retrievals=read_retrievals(db, roots),
        pool=tuple(record(PooledPair, row) for row in pooled),
        plan=tuple(record(Planned, row) for row in planned),
        sightings=tuple(record(Sighting, row) for row in seen),
    )
    return dataset if roots is None else without_unused_texts(dataset)


def of_roots(roots: Sequence[str] | None) -> dict[str, str | None]:
    return {"roots": None if roots is None else json.dumps(roots)}


def without_unused_texts(dataset: Dataset) -> Dataset:
    """*dataset* without prompts and memories that no event, pool or retrieval in it names."""
    pairs = {event.pair for event in dataset.events} | {pooled.pair for pooled in dataset.pool}
    for retrieved in dataset.retrievals:
        pairs |= {(retrieved.prompt_id, result.memory_id, result.digest) for result in retrieved.results}
    prompt_ids = {prompt_id for prompt_id, _, _ in pairs} | {retrieved.prompt_id for retrieved in dataset.retrievals}
    texts = {(memory_id, digest) for _, memory_id, digest in pairs}
    return replace(
        dataset,
        prompts=tuple(prompt for prompt in dataset.prompts if prompt.id in prompt_ids),
        memories=tuple(memory for memory in dataset.memories if (memory.id, memory.digest) in texts),
    )


def read_prompts(db: LabelDatabase) -> tuple[Prompt, ...]:
    return tuple(runs.prompt_of(row) for row in db.rows("SELECT * FROM prompt ORDER BY rowid"))


def read_memories(db: LabelDatabase) -> tuple[MemoryText, ...]:
    rows = db.rows("SELECT *, memory_id AS id FROM memory_version ORDER BY rowid")
    return tuple(record(MemoryText, row, tags=tuple(json.loads(row["tags"]))) for row in rows)


def read_events(db: LabelDatabase, about: Mapping[str, str | None] = EVERYTHING) -> tuple[LabelEvent, ...]:
    """The events in the order in which they were written; `supersedes` is a uid. *about* goes into PAIRS_OF_ROOTS."""
    rows = db.rows(
        f"""SELECT pair.*, target.uid AS target FROM label_event AS pair
            LEFT JOIN label_event AS target ON target.event_id = pair.supersedes
            WHERE {PAIRS_OF_ROOTS} ORDER BY pair.event_id""",
        dict(about),
    )
    return tuple(
        record(LabelEvent, row, blind=blindness(row["blind"]), repeat=bool(row["repeat"]), supersedes=row["target"])
        for row in rows
    )


def read_retrievals(db: LabelDatabase, roots: Sequence[str] | None = None) -> tuple[RetrievalRow, ...]:
    """The retrievals, oldest first, with their results and the verdicts of the judge."""
    results = rows_by_retrieval(db, "result", "rank", roots)
    calls = rows_by_retrieval(db, "judge_call", "call_id", roots)
    verdicts = rows_by_retrieval(db, "judge_verdict JOIN judge_call USING (call_id)", "call_id", roots)

    def retrieved(key: tuple[str, str], row: Mapping[str, Any]) -> RetrievalRow:
        by_memory = {verdict["memory_id"]: record(JudgeVerdict, verdict) for verdict in verdicts.get(key, ())}
        found = tuple(result_of(result, by_memory.get(result["memory_id"])) for result in results.get(key, ()))
        call = record(JudgeCallRow, calls[key][-1]) if key in calls else None
        return record(RetrievalRow, row, results=found, call=call)

    rows = rows_by_retrieval(db, "retrieval", "retrieval_id", roots)
    return tuple(retrieved(key, row) for key, same in rows.items() for row in same)


def rows_by_retrieval(
    db: LabelDatabase, table: str, order: str, roots: Sequence[str] | None
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """(run id, prompt id) -> the rows of a table about this retrieval."""
    columns = "judge_verdict.*, run_id, prompt_id" if "judge_verdict" in table else "*"
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in db.rows(f"SELECT {columns} FROM {table} WHERE {OF_ROOTS} ORDER BY {order}", of_roots(roots)):
        grouped.setdefault((row["run_id"], row["prompt_id"]), []).append(row)
    return grouped


def result_of(row: Mapping[str, Any], verdict: JudgeVerdict | None) -> ResultRow:
    matched = tuple(json.loads(row["matched"]))
    return record(ResultRow, row, injected=bool(row["injected"]), matched=matched, verdict=verdict)


def record(kind: type[R], row: Mapping[str, Any], **given: Any) -> R:
    """The dataclass *kind* from the columns of the same names; the *given* fields are not read."""
    names = [field.name for field in fields(kind) if field.name not in given]  # type: ignore[arg-type]
    return kind(**{name: row[name] for name in names}, **given)


# Choosing labels


def of_system(dataset: Dataset, system: str) -> Dataset:
    """*dataset* with the runs of one system. Without a name there may be only one. ExchangeError if there is none."""
    systems = sorted({run.system for run in dataset.runs})
    if not system and len(systems) < 2:
        return dataset
    if system not in systems:
        asked = f"There is no run of {system!r}" if system else "A run file holds one system"
        raise ExchangeError(f"{asked}. Choose one with --system: {', '.join(systems) or 'nothing was replayed yet'}.")
    kept = {run.run_id for run in dataset.runs if run.system == system}
    return replace(
        dataset,
        runs=tuple(run for run in dataset.runs if run.run_id in kept),
        retrievals=tuple(retrieved for retrieved in dataset.retrievals if retrieved.run_id in kept),
    )


def of_annotator(dataset: Dataset, annotator: str) -> Dataset:
    """*dataset* with the events of one annotator; ExchangeError if there are none."""
    own = tuple(event for event in dataset.events if nfc(event.annotator) == nfc(annotator))
    if not own:
        names = sorted({event.annotator for event in dataset.events})
        known = f"There are labels by {', '.join(names)}." if names else "There are no labels yet."
        raise ExchangeError(f"There are no labels by {annotator!r}. {known}")
    plan = tuple(planned for planned in dataset.plan if nfc(planned.annotator) == nfc(annotator))
    sightings = tuple(sighting for sighting in dataset.sightings if nfc(sighting.annotator) == nfc(annotator))
    return replace(dataset, events=own, plan=plan, sightings=sightings)


def gold_only(dataset: Dataset) -> Dataset:
    """*dataset* with one label for each pair that has gold, by the annotator `gold`."""
    events = tuple(
        LabelEvent(GOLD, *pair, verdict=agreed.verdict, grade=agreed.grade, ts=agreed.ts)
        for pair, agreed in gold(dataset.events).items()
    )
    return replace(dataset, events=events, plan=(), sightings=())


# Leaving out texts


def without_text(dataset: Dataset) -> Dataset:
    """*dataset* with hashes in place of the texts and ids of prompts and memories.

    Left out is everything else that could quote a text: titles, tags, categories, conversations, paths, folders, notes,
    reasons, the judge's sentences and details, configurations, and matched words. Names of annotators, systems and
    models stay, and so does the kind of a prompt.
    """
    return replace(
        dataset,
        prompts=tuple(
            Prompt(id_hash(prompt.id), text_hash(prompt.text), kind=prompt.kind) for prompt in dataset.prompts
        ),
        memories=tuple(bare_memory(memory) for memory in dataset.memories),
        events=tuple(bare(event, note="", reason="", source="") for event in dataset.events),
        runs=tuple(replace(run, root=id_hash(run.root), config_json="") for run in dataset.runs),
        retrievals=tuple(bare_retrieved(retrieval) for retrieval in dataset.retrievals),
        pool=tuple(bare(pair) for pair in dataset.pool),
        plan=tuple(bare(planned, root=id_hash(planned.root)) for planned in dataset.plan),
        sightings=tuple(bare(sighting) for sighting in dataset.sightings),
        redacted=True,
    )


def bare_memory(memory: MemoryText) -> MemoryText:
    return MemoryText(id_hash(memory.id), memory.digest, body=None if memory.body is None else text_hash(memory.body))


def bare_retrieved(retrieved: RetrievalRow) -> RetrievalRow:
    results = tuple(bare_result(result) for result in retrieved.results)
    return bare(retrieved, results=results, call=replace(retrieved.call, detail="") if retrieved.call else None)


def bare_result(result: ResultRow) -> ResultRow:
    verdict = replace(result.verdict, reasoning="") if result.verdict else None
    return bare(result, matched=(), verdict=verdict)


def bare(row: R, **changes: Any) -> R:
    """*row* with hashes in place of the ids of its prompt and memory, and with *changes*."""
    ids = {name: id_hash(getattr(row, name)) for name in ("prompt_id", "memory_id") if hasattr(row, name)}
    return replace(row, **ids, **changes)  # type: ignore[type-var]
