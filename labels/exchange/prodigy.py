"""Prodigy's JSON lines (prodi.gy/docs/api-interfaces): a line for each answer: accept, reject or ignore."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from engine.conversations.exports import iso_time, seconds_of
from labels.exchange.exporting import PairRow, dataset_of, judged_pairs, prompt_in
from labels.exchange.files import json_lines
from labels.records import ADJUDICATE, LABEL, MAX_GRADE, NOT_RELEVANT, RELEVANT, SKIP, VERDICTS, Event, MemoryText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.events import PairKey
    from labels.exchange.exporting import Extract, JudgedPair
    from labels.exchange.files import Dataset, FileText, Node

ACCEPT, REJECT, IGNORE = ANSWERS = ("accept", "reject", "ignore")
OWN_FIELD = "memsift"
"""The field for data that has no place in the fields of Prodigy. Prodigy keeps fields that it does not know."""

OWN_COLUMNS = "prompt_id memory_id digest action verdict grade reason note ts blind elapsed_ms".split()


def write(extract: Extract) -> str:
    return json_lines(row(pair, event) for pair in judged_pairs(extract) for event in pair.given_events)


def row(pair: JudgedPair, event: Event) -> dict[str, Any]:
    title, body = pair.memory.title, pair.memory.body
    text = title if body is None else f"{title}\n\n{body}"
    return {
        "text": text,
        "title": title,
        "prompt": pair.prompt.text,
        "label": "RELEVANT",
        "answer": {RELEVANT: ACCEPT, NOT_RELEVANT: REJECT}.get(str(event.verdict), IGNORE),
        "_view_id": "classification",
        "_input_hash": prodigy_hash(pair.prompt.text, text),
        "_task_hash": prodigy_hash(pair.prompt.text, text, "RELEVANT"),
        "_annotator_id": event.annotator,
        "_session_id": f"{OWN_FIELD}-{event.annotator}",
        "_timestamp": int(seconds_of(event.ts) or 0),
        OWN_FIELD: {name: getattr(event, name) for name in OWN_COLUMNS},
    }


def prodigy_hash(*texts: str) -> int:
    """A hash in Prodigy's form: a signed whole number of 32 bits."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big", signed=True)


def read(source: FileText) -> Dataset:
    """The answers, with the data in their field `memsift`. Without it, a row needs `prompt`, `text` and `memory_id`.

    An ignored row is a skip, unless `memsift` gives its verdict.
    """
    return dataset_of(source.path, pair_rows(source))


def pair_rows(source: FileText) -> Iterator[PairRow]:
    for node in source.rows():
        own = node.child(OWN_FIELD) or node
        prompt, memory = prompt_in(own, node.text("prompt", "")), memory_in(node, own)
        if node.value.get("answer") is None:
            yield PairRow(node.place, prompt, memory, [], [node.place])
            continue
        event = event_in(node, own, (prompt.id, memory.id, memory.digest))
        yield PairRow(node.place, prompt, memory, [event])


def memory_in(node: Node, own: Node) -> MemoryText:
    title, text = node.text("title", ""), node.text("text")
    body = None if text == title else text.removeprefix(f"{title}\n\n")
    return MemoryText(own.name("memory_id"), own.text("digest", ""), title=title, body=body)


def event_in(node: Node, own: Node, pair: PairKey) -> Event:
    # an answer in Prodigy is newer than the verdict that was exported with the row
    verdict = {ACCEPT: RELEVANT, REJECT: NOT_RELEVANT}.get(node.one_of("answer", ANSWERS))
    if verdict is None and own.value.get("verdict"):
        verdict = own.one_of("verdict", VERDICTS)
    stamp = node.whole("_timestamp", 0)
    action = own.one_of("action", (LABEL, ADJUDICATE, SKIP), LABEL)
    return Event(
        node.name("_annotator_id", node.name("_session_id", "prodigy")),
        *pair,
        action=SKIP if verdict is None else LABEL if action == SKIP else action,
        verdict=verdict,
        grade=own.grade("grade", MAX_GRADE),
        reason=own.text("reason", ""),
        note=own.text("note", ""),
        ts=own.time("ts", "") or (iso_time(1000 * stamp).replace("Z", "+00:00") if stamp else ""),
        blind=own.known_flag("blind"),
        elapsed_ms=own.whole("elapsed_ms", 0),
    )


def recognises(source: FileText) -> bool:
    return {"answer", "text"} <= source.first_row.keys()
