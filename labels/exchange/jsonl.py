"""memsift's own JSON lines: everything, event by event; or the labels of one person, as a file to share.

Reading a file of everything gives the same rows. In a file to share, the order of lines and doubled lines mean nothing:
git may join the lines of two such files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.lean.record import fields
from engine.prompt import Prompt, Turn
from labels.exchange.files import (
    CALL,
    EVENT,
    MEMORY,
    PLAN,
    POOLED,
    RESULT,
    RETRIEVAL,
    RUN,
    SIGHTING,
    VERDICT,
    Dataset,
    json_lines,
)
from labels.exchange.merge import rows_of
from labels.records import ACTIONS, ADJUDICATE, BY_HAND, LABEL, MAX_GRADE, RETRACT, VERDICTS, Event, MemoryText, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from labels.exchange.exporting import Extract
    from labels.exchange.files import FileText, Node, Row

VERSION = 2
HEADER = "memsift"


def write(extract: Extract) -> str:
    dataset = rows_of(extract)
    head = {"record": HEADER, "version": VERSION, "redacted": extract.redacted}
    return json_lines([head, *(shared_lines(dataset) if extract.annotator else lines(dataset))])


def lines(dataset: Dataset) -> Iterator[Row]:
    for kind, (field, _) in RECORDS.items():
        for record in getattr(dataset, field):
            yield {"record": kind, **written(record)}


def shared_lines(dataset: Dataset) -> Iterator[Row]:
    """The events of one person, oldest first, but all events about a prompt below its text.

    Left out is all that no label needs: runs, conversations, texts of memories, folders, and fields without a value.
    """
    prompts = {prompt.id: prompt for prompt in dataset.prompts}
    events = sorted(dataset.events, key=lambda event: (event.ts, event.uid))
    for name, about in grouped((event.prompt_id, event) for event in events).items():
        prompt = prompts[name]
        picked = {"source": prompt.source} if prompt.source in BY_HAND else {}
        yield {"record": "prompt", "id": name, "text": prompt.text, **picked}
        for event in about:
            values = written(event).items()
            said = {field: value for field, value in values if value != Event._field_defaults.get(field)}
            yield {"record": "event", **said}


def written(record: Prompt | MemoryText | Event | Row) -> Row:
    if isinstance(record, Prompt):
        turns = [fields(turn) for turn in record.turns]
        return {**{name: value for name, value in fields(record).items() if name != "injections"}, "turns": turns}
    if isinstance(record, Event):
        return {name: getattr(record, name) for name in EVENT}
    return record._asdict() if isinstance(record, MemoryText) else record


def read(source: FileText) -> Dataset:
    """The rows that `write` was given.

    Lines may also be made by hand: an event needs only annotator, prompt_id, memory_id and verdict. Its prompt and
    memory may be lines of the file, or be in the store.
    """
    redacted = False
    texts: dict[str, str] = {}
    records: dict[str, list[Any]] = {field: [] for field, _ in RECORDS.values()}
    for node in source.rows():
        kind = node.one_of("record", (HEADER, *RECORDS))
        if kind == HEADER:
            if node.whole("version") > VERSION:
                raise node.wrong("version", f"at most {VERSION}: a newer memsift wrote this file. Update memsift")
            redacted = node.flag("redacted", default=False) or redacted
        else:
            field, read_record = RECORDS[kind]
            record = read_record(node)
            if isinstance(record, Prompt) and texts.setdefault(record.id, record.text) != record.text:
                raise node.wrong("text", f"one text for the prompt {record.id!r}, but an earlier line gives another")
            records[field].append(record)
    content: dict[str, Any] = {field: tuple(values) for field, values in records.items()}
    return Dataset(**content, redacted=redacted)


def read_prompt(node: Node) -> Prompt:
    words: dict[str, Any] = {name: node.text(name, "") for name in ("session_id", "cwd", "timestamp", "source", "kind")}
    turns = tuple(Turn(turn.text("role"), turn.text("text")) for turn in node.children("turns"))
    return Prompt(id=node.name("id"), text=node.text("text"), turns=turns, **words)


def read_retrieved(node: Node) -> Row:
    call = node.child("call")
    results = []
    for result in node.children("results"):
        verdict = result.child("verdict")
        results.append({**result.record(RESULT), "verdict": verdict.record(VERDICT) if verdict else None})
    if len({result["memory_id"] for result in results}) < len(results):
        raise node.wrong("results", "each memory_id once")
    row = node.record(RETRIEVAL, ts=node.time("ts", ""))
    return {**row, "results": results, "call": call.record(CALL) if call else None}


def read_pooled(node: Node) -> Row:
    pooled = node.record(POOLED, ts=node.time("ts", ""))
    if not 0 < pooled["inclusion_probability"] <= 1:
        raise node.wrong("inclusion_probability", "a number over 0, up to 1")
    return pooled


def read_event(node: Node) -> Event:
    node.name("annotator")
    event = Event(**node.record(EVENT, ts=node.time("ts", ""), grade=node.grade("grade", MAX_GRADE)))
    node.one_of("action", ACTIONS, LABEL)
    if event.action in (LABEL, ADJUDICATE):
        node.one_of("verdict", VERDICTS)
    elif event.verdict is not None:
        raise node.wrong("verdict", f"null in a {event.action}")
    if event.action == RETRACT and not event.supersedes:
        raise node.wrong("supersedes", "the uid of the event that is taken back")
    return event


RECORDS: dict[str, tuple[str, Callable[[Node], object]]] = {
    "prompt": ("prompts", read_prompt),
    "memory": ("memories", lambda node: MemoryText(**node.record(MEMORY))),
    "run": ("runs", lambda node: node.record(RUN)),
    "retrieval": ("retrievals", read_retrieved),
    "frame": ("pool", read_pooled),
    "plan": ("plan", lambda node: node.record(PLAN, ts=node.time("ts", ""))),
    "sighting": ("sightings", lambda node: node.record(SIGHTING, ts=node.time("ts", ""))),
    "event": ("events", read_event),
}
"""The field `record` of a line -> the field of `Dataset` to which the line belongs, and how the line is read."""


def recognises(source: FileText) -> bool:
    return source.first_row.get("record") in (HEADER, *RECORDS)
