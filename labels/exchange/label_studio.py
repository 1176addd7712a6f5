"""Label Studio's JSON (labelstud.io/guide/task_format): tasks with annotations of people and predictions of judges."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.judge.verdict import APPROVED, FLAGGED, REJECTED
from engine.lean.json_text import printed_json
from engine.lean.record import fields
from engine.prompt import Turn
from labels.exchange.exporting import PairRow, dataset_of, judged_pairs, memory_in, prompt_in
from labels.records import (
    ADJUDICATE,
    LABEL,
    MAX_GRADE,
    NOT_RELEVANT,
    RELEVANT,
    SKIP,
    UNSURE,
    VERDICTS,
    Event,
    picked,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.events import PairKey
    from labels.exchange.exporting import Extract, JudgedPair
    from labels.exchange.files import Dataset, FileText, Node, Row

INTERFACE = Path(__file__).with_suffix(".xml").read_text(encoding="utf-8")
"""The labelling interface of the project that loads the tasks."""

RELEVANCE, GRADE, REASON, NOTE = "relevance", "grade", "reason", "note"
"""The names of its controls."""

GRADES = tuple(str(grade) for grade in range(MAX_GRADE + 1))

DECISIONS = {APPROVED: RELEVANT, REJECTED: NOT_RELEVANT, FLAGGED: UNSURE}
"""The verdict of a label for each decision of a judge."""

LONGEST_S = 10**9
"""The longest time that a person can have spent on a task, in seconds: about 30 years."""

HASHED_NAME = re.compile(r"person-[0-9a-f]{12}")


def write(extract: Extract) -> str:
    tasks = [task(number, pair) for number, pair in enumerate(judged_pairs(extract), start=1)]
    return f"{printed_json(tasks, indent=2)}\n"


def task(number: int, pair: JudgedPair) -> dict[str, Any]:
    prompt, memory = pair.prompt, pair.memory
    asked = {"prompt_id": prompt.id, "prompt": prompt.text, "turns": [fields(turn) for turn in prompt.turns]}
    words = picked(memory, ("digest", "category", "title", "tags"))
    return {
        "id": number,
        "data": {**asked, "memory_id": memory.id, **words, "body": memory.body or ""},
        "annotations": [annotation(event) for event in pair.given_events],
        "predictions": [prediction(result) for result in pair.results if result["decision"]],
    }


def annotation(event: Event) -> dict[str, Any]:
    """`completed_by` is left out, because Label Studio refuses users that it does not know.

    `annotator` and `blind` are fields of memsift, which Label Studio ignores.
    """
    results = [control(RELEVANCE, "choices", [event.verdict])] if event.verdict else []
    if event.grade is not None:
        results.append(control(GRADE, "choices", [str(event.grade)]))
    texts = {REASON: event.reason, NOTE: event.note}
    results += [control(name, "textarea", [text], "text") for name, text in texts.items() if text]
    return {
        "result": results,
        "was_cancelled": event.action == SKIP,
        "ground_truth": event.action == ADJUDICATE,
        "lead_time": event.elapsed_ms / 1000,
        "created_at": event.ts,
        "updated_at": event.ts,
        "annotator": event.annotator,
        "blind": event.blind,
    }


def control(name: str, kind: str, value: Any, field: str = "") -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": "memory", "type": kind, "value": {field or kind: value}}


def prediction(result: Row) -> dict[str, Any]:
    made = {
        "model_version": "{system} {provider}/{model}".format(**result),
        "result": [control(RELEVANCE, "choices", [DECISIONS.get(result["decision"], UNSURE)])],
    }
    return made if result["certainty"] is None else {**made, "score": result["certainty"]}


def read(source: FileText) -> Dataset:
    """The annotations of people; predictions are not read. `data` of a task names its prompt and memory."""
    return dataset_of(source.path, pair_rows(source))


def pair_rows(source: FileText) -> Iterator[PairRow]:
    for node in source.items():
        data = node.child("data")
        if data is None:
            raise node.wrong("data", "an object")
        turns = tuple(Turn(turn.text("role"), turn.text("text")) for turn in data.children("turns"))
        prompt = prompt_in(data, data.text("prompt", ""), turns)
        memory = memory_in(data, "body", data.texts("tags", ()))
        pair = prompt.id, memory.id, memory.digest
        found = {annotation.place: event_in(annotation, pair) for annotation in node.children("annotations")}
        events = [event for event in found.values() if event]
        yield PairRow(node.place, prompt, memory, events, [place for place, event in found.items() if not event])


def event_in(node: Node, pair: PairKey) -> Event | None:
    """The label in an annotation; None for one that was submitted without a choice."""
    verdict = choice(node, RELEVANCE, VERDICTS)
    is_skip = node.flag("was_cancelled", False)
    grade = None if is_skip else choice(node, GRADE, GRADES)
    if verdict is None and not is_skip:
        return None
    seconds = node.number("lead_time", 0.0)
    if not 0 <= seconds <= LONGEST_S:
        raise node.wrong("lead_time", f"a number of seconds from 0 to {LONGEST_S:,}")
    return Event(
        annotator_of(node),
        *pair,
        action=SKIP if is_skip else ADJUDICATE if node.flag("ground_truth", False) else LABEL,
        verdict=None if is_skip else verdict,
        grade=None if grade is None else int(grade),
        reason=written(node, REASON),
        note=written(node, NOTE),
        ts=node.time("updated_at", "") or node.time("created_at", ""),
        blind=node.known_flag("blind"),
        elapsed_ms=round(seconds * 1000),
    )


def controls(node: Node, name: str) -> Iterator[Node]:
    """The values of a control."""
    for result in node.children("result"):
        value = result.child("value")
        if value and result.text("from_name", "") == name:
            yield value


def choice(node: Node, name: str, known: tuple[str, ...]) -> str | None:
    """The choice in a control; None if nothing was chosen."""
    for value in controls(node, name):
        chosen = value.texts("choices")
        if len(chosen) != 1 or chosen[0] not in known:
            raise value.wrong("choices", f"one of {', '.join(known)}")
        return chosen[0]
    return None


def written(node: Node, name: str) -> str:
    """The text in a control."""
    return "\n".join(text for value in controls(node, name) for text in value.texts("text"))


def annotator_of(node: Node) -> str:
    """The annotator whom memsift wrote, else Label Studio's user: by number, or by a hash of the e-mail address.

    The hash is `person-` and 12 hex digits of the address in lower case: no address may get into a store.
    """
    user = node.value.get("completed_by")
    address = user.get("email") if isinstance(user, dict) else None
    if isinstance(address, str) and address:
        user = address.strip().lower()
        if not HASHED_NAME.fullmatch(user):
            user = f"person-{hashlib.sha256(user.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
    elif user is not None:
        user = f"user-{user.get('id') if isinstance(user, dict) else user}"
    return node.name("annotator", user or "label-studio")


def recognises(source: FileText) -> bool:
    tasks = source.document
    return isinstance(tasks, list) and bool(tasks) and isinstance(tasks[0], dict) and "data" in tasks[0]
