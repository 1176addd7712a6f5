"""From a label store to a dataset."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from engine.prompt import Prompt, Turn
from labels.exchange.records import (
    Dataset,
    Framed,
    JudgeCall,
    JudgeVerdict,
    LabelEvent,
    MemoryText,
    Planned,
    Result,
    Retrieved,
    Run,
    Sighting,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.memory import Memory
    from labels.database import LabelDatabase

R = TypeVar("R")

IN_ROOTS = "(:roots IS NULL OR root IN (SELECT value FROM json_each(:roots)))"
OF_ROOTS = f"(:roots IS NULL OR run_id IN (SELECT run_id FROM run WHERE {IN_ROOTS}))"
PROMPTS_OF_ROOTS = f"(:roots IS NULL OR prompt_id IN (SELECT prompt_id FROM retrieval WHERE {OF_ROOTS}))"
SAID_OF_ROOTS = f"""(:roots IS NULL OR EXISTS (
    SELECT 1 FROM result
    WHERE {OF_ROOTS} AND result.prompt_id = said.prompt_id AND result.memory_id = said.memory_id
))"""
"""Whether runs over the roots, a JSON array or NULL for all, brought up the memory of a row of the table `said`."""


def read_store(db: LabelDatabase, roots: Sequence[str] | None = None) -> Dataset:
    """Everything in a store; or of *roots* their runs, and what was said of the memories that these brought up."""
    at = of_roots(roots)
    runs = db.rows(f"SELECT * FROM run WHERE {IN_ROOTS} ORDER BY rowid", at)
    framed = db.rows(f"SELECT * FROM frame AS said WHERE {SAID_OF_ROOTS} ORDER BY rowid", at)
    planned = db.rows(f"SELECT * FROM plan WHERE {IN_ROOTS} ORDER BY rowid", at)
    seen = db.rows(f"SELECT * FROM sighting WHERE {PROMPTS_OF_ROOTS} ORDER BY rowid", at)
    return narrowed(
        roots is not None,
        Dataset(
            prompts=read_prompts(db),
            memories=read_memories(db),
            events=read_events(db, roots),
            runs=tuple(record(Run, row) for row in runs),
            retrievals=read_retrievals(db, roots),
            frame=tuple(record(Framed, row) for row in framed),
            plan=tuple(record(Planned, row) for row in planned),
            sightings=tuple(record(Sighting, row) for row in seen),
        ),
    )


def of_roots(roots: Sequence[str] | None) -> dict[str, str | None]:
    return {"roots": None if roots is None else json.dumps(roots)}


def narrowed(is_needed: bool, dataset: Dataset) -> Dataset:
    """*dataset* without prompts and memories that nothing else in it is about, if that *is_needed*."""
    if not is_needed:
        return dataset
    pairs = {event.pair for event in dataset.events} | {framed.pair for framed in dataset.frame}
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
    return tuple(prompt_of(row) for row in db.rows("SELECT * FROM prompt ORDER BY rowid"))


def prompt_of(row: Mapping[str, Any]) -> Prompt:
    turns = tuple(Turn(turn["role"], turn["text"]) for turn in json.loads(row["context_json"]))
    words = {name: row[name] for name in ("text", "kind", "source", "session_id", "cwd")}
    return Prompt(id=row["prompt_id"], turns=turns, timestamp=row["ts"], **words)


def read_memories(db: LabelDatabase) -> tuple[MemoryText, ...]:
    rows = db.rows("SELECT *, memory_id AS id FROM memory_version ORDER BY rowid")
    return tuple(record(MemoryText, row, tags=tuple(json.loads(row["tags"]))) for row in rows)


def text_of(memory: Memory) -> MemoryText:
    """A memory of a root, as it reads now."""
    summary = memory.summary
    words = {"category": summary.category, "title": summary.title, "path": summary.path}
    return MemoryText(summary.id, summary.digest, **words, tags=summary.tags, body=memory.body)


def read_events(db: LabelDatabase, roots: Sequence[str] | None = None) -> tuple[LabelEvent, ...]:
    """The events in the order in which they were written; `supersedes` is a uid."""
    rows = db.rows(
        f"""SELECT said.*, target.uid AS target FROM label_event AS said
            LEFT JOIN label_event AS target ON target.event_id = said.supersedes
            WHERE {SAID_OF_ROOTS} ORDER BY said.event_id""",
        of_roots(roots),
    )
    return tuple(
        record(LabelEvent, row, blind=bool(row["blind"]), repeat=bool(row["repeat"]), supersedes=row["target"])
        for row in rows
    )


def read_retrievals(db: LabelDatabase, roots: Sequence[str] | None = None) -> tuple[Retrieved, ...]:
    """The retrievals, oldest first, with their results and what the judge said."""
    at = of_roots(roots)
    results = grouped(read_rows(db, "result", "rank", at))
    calls = {pair_of(row): record(JudgeCall, row) for row in read_rows(db, "judge_call", "call_id", at)}
    judged = "judge_verdict JOIN judge_call USING (call_id)"
    verdicts = grouped(read_rows(db, judged, "call_id", at, "judge_verdict.*, run_id, prompt_id"))

    def retrieved(row: Mapping[str, Any]) -> Retrieved:
        said = {each["memory_id"]: record(JudgeVerdict, each) for each in verdicts.get(pair_of(row), [])}
        seen = tuple(result_of(each, said.get(each["memory_id"])) for each in results.get(pair_of(row), []))
        return record(Retrieved, row, results=seen, call=calls.get(pair_of(row)))

    return tuple(retrieved(row) for row in read_rows(db, "retrieval", "retrieval_id", at))


def read_rows(
    db: LabelDatabase, table: str, order: str, at: dict[str, Any], columns: str = "*"
) -> list[dict[str, Any]]:
    return db.rows(f"SELECT {columns} FROM {table} WHERE {OF_ROOTS} ORDER BY {order}", at)


def pair_of(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["run_id"], row["prompt_id"]


def grouped(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(pair_of(row), []).append(row)
    return found


def result_of(row: Mapping[str, Any], verdict: JudgeVerdict | None) -> Result:
    matched = tuple(json.loads(row["matched"]))
    return record(Result, row, injected=bool(row["injected"]), matched=matched, verdict=verdict)


def record(kind: type[R], row: Mapping[str, Any], **given: Any) -> R:
    """The dataclass *kind* from the columns of the same names, but for what is *given*."""
    names = [field.name for field in fields(kind) if field.name not in given]  # type: ignore[arg-type]
    return kind(**{name: row[name] for name in names}, **given)
