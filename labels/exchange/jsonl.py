"""memsift's own JSON lines: everything, event by event. Reading a written file gives the same dataset."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engine.lean.record import fields
from engine.prompt import Prompt, Turn
from labels.exchange.files import json_lines
from labels.exchange.records import (
    Dataset,
    JudgeCall,
    JudgeVerdict,
    LabelEvent,
    MemoryText,
    Planned,
    PooledPair,
    Result,
    Retrieved,
    Run,
    Sighting,
)
from labels.records import ACTIONS, ADJUDICATE, LABEL, MAX_GRADE, RETRACT, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.exchange.files import Node, Source

VERSION = 2
HEADER, PROMPT, MEMORY, RUN, RETRIEVAL, FRAME, PLAN, SIGHTING, EVENT = RECORDS = (
    "memsift",
    "prompt",
    "memory",
    "run",
    "retrieval",
    "frame",
    "plan",
    "sighting",
    "event",
)
"""The values of the field `record`, which says what a line holds."""


def write(dataset: Dataset) -> str:
    return json_lines(rows(dataset))


def rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    yield {"record": HEADER, "version": VERSION, "redacted": dataset.redacted}
    for prompt in dataset.prompts:
        yield {"record": PROMPT, **fields(prompt), "turns": [fields(turn) for turn in prompt.turns]}
    for kind, records in (
        (MEMORY, dataset.memories),
        (RUN, dataset.runs),
        (RETRIEVAL, dataset.retrievals),
        (FRAME, dataset.pool),
        (PLAN, dataset.plan),
        (SIGHTING, dataset.sightings),
        (EVENT, dataset.events),
    ):
        for record in records:
            yield {"record": kind, **asdict(record)}


def read(source: Source) -> Dataset:
    """The dataset that `write` was given.

    Lines may also be made by hand: an event needs only annotator, prompt_id, memory_id and verdict. Its prompt and
    memory may be lines of the file, or be in the store.
    """
    lines: dict[str, list[Any]] = {kind: [] for kind in RECORDS}
    for node in source.rows():
        kind = node.one_of("record", RECORDS)
        lines[kind].append(READERS[kind](node))
    return Dataset(
        prompts=tuple(lines[PROMPT]),
        memories=tuple(lines[MEMORY]),
        events=tuple(lines[EVENT]),
        runs=tuple(lines[RUN]),
        retrievals=tuple(lines[RETRIEVAL]),
        pool=tuple(lines[FRAME]),
        plan=tuple(lines[PLAN]),
        sightings=tuple(lines[SIGHTING]),
        redacted=any(lines[HEADER]),
    )


def read_header(node: Node) -> bool:
    """Whether the file holds hashes in place of texts."""
    if node.whole("version") > VERSION:
        raise node.wrong("version", f"at most {VERSION}: a newer memsift wrote this file. Update memsift")
    return node.flag("redacted", default=False)


def read_prompt(node: Node) -> Prompt:
    words = {name: node.text(name, "") for name in ("session_id", "cwd", "timestamp", "source", "kind")}
    turns = tuple(Turn(turn.text("role"), turn.text("text")) for turn in node.children("turns"))
    return Prompt(id=node.name("id"), text=node.text("text"), turns=turns, **words)


def read_retrieved(node: Node) -> Retrieved:
    call = node.child("call")
    results = tuple(read_result(result) for result in node.children("results"))
    return node.record(
        Retrieved, ts=node.time("ts", ""), results=results, call=call.record(JudgeCall) if call else None
    )


def read_result(node: Node) -> Result:
    verdict = node.child("verdict")
    return node.record(Result, verdict=verdict.record(JudgeVerdict) if verdict else None)


def read_frame(node: Node) -> PooledPair:
    pooled = node.record(PooledPair, ts=node.time("ts", ""))
    if not 0 < pooled.inclusion_probability <= 1:
        raise node.wrong("inclusion_probability", "a number over 0, up to 1")
    return pooled


def read_event(node: Node) -> LabelEvent:
    node.name("annotator")
    event = node.record(LabelEvent, ts=node.time("ts", ""), grade=node.grade("grade", MAX_GRADE))
    node.one_of("action", ACTIONS, LABEL)
    if event.action in (LABEL, ADJUDICATE):
        node.one_of("verdict", VERDICTS)
    elif event.verdict is not None:
        raise node.wrong("verdict", f"null in a {event.action}")
    if event.action == RETRACT and not event.supersedes:
        raise node.wrong("supersedes", "the uid of the event that is taken back")
    return event


READERS = {
    HEADER: read_header,
    PROMPT: read_prompt,
    MEMORY: lambda node: node.record(MemoryText),
    RUN: lambda node: node.record(Run),
    RETRIEVAL: read_retrieved,
    FRAME: read_frame,
    PLAN: lambda node: node.record(Planned, ts=node.time("ts", "")),
    SIGHTING: lambda node: node.record(Sighting, ts=node.time("ts", "")),
    EVENT: read_event,
}


def recognises(source: Source) -> bool:
    return source.first_row.get("record") in RECORDS
