"""Prodigy's JSON lines (prodi.gy/docs/api-interfaces): a line for each answer: accept, reject or ignore."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from labels.exchange.files import json_lines
from labels.exchange.pairs import dataset_of, judged_pairs, prompt_in
from labels.exchange.records import LabelEvent, MemoryText
from labels.records import ADJUDICATE, LABEL, MAX_GRADE, NOT_RELEVANT, RELEVANT, SKIP, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.exchange.files import Node, Source
    from labels.exchange.pairs import JudgedPair, PairRow
    from labels.exchange.records import Dataset, PairKey

ACCEPT, REJECT, IGNORE = ANSWERS = ("accept", "reject", "ignore")
OURS = "memsift"
"""The field for data that has no place in Prodigy's own fields. Prodigy keeps fields that it does not know."""


def write(dataset: Dataset) -> str:
    return json_lines(row(pair, event) for pair in judged_pairs(dataset) for event in pair.given_events)


def row(pair: JudgedPair, event: LabelEvent) -> dict[str, Any]:
    text = shown(pair.memory)
    return {
        "text": text,
        "title": pair.memory.title,
        "prompt": pair.prompt.text,
        "label": "RELEVANT",
        "answer": {RELEVANT: ACCEPT, NOT_RELEVANT: REJECT}.get(str(event.verdict), IGNORE),
        "_view_id": "classification",
        "_input_hash": number(pair.prompt.text, text),
        "_task_hash": number(pair.prompt.text, text, "RELEVANT"),
        "_annotator_id": event.annotator,
        "_session_id": f"{OURS}-{event.annotator}",
        "_timestamp": seconds(event.ts),
        OURS: {
            "prompt_id": pair.prompt.id,
            "memory_id": pair.memory.id,
            "digest": pair.memory.digest,
            "action": event.action,
            "verdict": event.verdict,
            "grade": event.grade,
            "reason": event.reason,
            "note": event.note,
            "ts": event.ts,
            "blind": event.blind,
            "elapsed_ms": event.elapsed_ms,
        },
    }


def shown(memory: MemoryText) -> str:
    """The text that a person reads: the title, and below it the body, if it is known."""
    return memory.title if memory.body is None else f"{memory.title}\n\n{memory.body}"


def number(*texts: str) -> int:
    """A hash in Prodigy's form: a signed whole number of 32 bits."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big", signed=True)


def seconds(ts: str) -> int:
    """*ts*, ISO 8601, in seconds since 1970; 0 if it is unknown."""
    try:
        moment = datetime.fromisoformat(ts)
    except ValueError:
        return 0
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def moment(timestamp: int) -> str:
    """The time in ISO 8601 of *timestamp*, in seconds since 1970; empty for 0 and for a number that is no time."""
    try:
        return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="milliseconds") if timestamp else ""
    except (ValueError, OverflowError, OSError):
        return ""


def read(source: Source) -> Dataset:
    """The answers, with the data in their field `memsift`. Without it, a row needs `prompt`, `text` and `memory_id`.

    An ignored row is a skip, unless `memsift` gives its verdict.
    """
    return dataset_of(source.path, pair_rows(source))


def pair_rows(source: Source) -> Iterator[PairRow]:
    for node in source.rows():
        ours = node.child(OURS) or node
        prompt, memory = prompt_in(ours, node.text("prompt", "")), memory_in(node, ours)
        yield prompt, memory, [event_in(node, ours, (prompt.id, memory.id, memory.digest))]


def memory_in(node: Node, ours: Node) -> MemoryText:
    title, text = node.text("title", ""), node.text("text")
    body = None if text == title else text.removeprefix(f"{title}\n\n")
    return MemoryText(ours.name("memory_id"), ours.text("digest", ""), title=title, body=body)


def event_in(node: Node, ours: Node, pair: PairKey) -> LabelEvent:
    # an answer in Prodigy is newer than the verdict that was exported with the row
    verdict = {ACCEPT: RELEVANT, REJECT: NOT_RELEVANT}.get(node.one_of("answer", ANSWERS))
    if verdict is None and ours.value.get("verdict"):
        verdict = ours.one_of("verdict", VERDICTS)
    action = ours.one_of("action", (LABEL, ADJUDICATE, SKIP), LABEL)
    return LabelEvent(
        node.name("_annotator_id", node.name("_session_id", "prodigy")),
        *pair,
        action=SKIP if verdict is None else LABEL if action == SKIP else action,
        verdict=verdict,
        grade=ours.grade("grade", MAX_GRADE),
        reason=ours.text("reason", ""),
        note=ours.text("note", ""),
        ts=ours.time("ts", "") or moment(node.whole("_timestamp", 0)),
        blind=ours.flag("blind", False),
        elapsed_ms=ours.whole("elapsed_ms", 0),
    )


def recognises(source: Source) -> bool:
    return {"answer", "text"} <= source.first_row.keys()
