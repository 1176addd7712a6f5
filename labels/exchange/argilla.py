"""Argilla's records (docs.argilla.io, rg.Record): fields, people's responses and a judge's suggestion, as JSON."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from engine.prompt import Prompt, prompt_id
from labels.exchange import losses
from labels.exchange.format import Format
from labels.exchange.gathering import gathered
from labels.exchange.label_studio import DECISIONS
from labels.exchange.pairs import judged_pairs
from labels.exchange.records import LabelEvent, MemoryText
from labels.exchange.redaction import hidden
from labels.exchange.spelling import json_document
from labels.records import MAX_GRADE, NOT_RELEVANT, RELEVANT, UNSURE, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.exchange.format import Opening
    from labels.exchange.gathering import About
    from labels.exchange.pairs import JudgedPair, Opinion
    from labels.exchange.records import Dataset
    from labels.exchange.source import Node, Source

RELEVANCE, GRADE, NOTE = "relevance", "grade", "note"
"""The questions: a choice of VERDICTS, a rating of 0 to 3, and a text."""

SUBMITTED, DISCARDED, DRAFT = STATUSES = ("submitted", "discarded", "draft")

PEOPLE = uuid.UUID("0a2c1e0e-6a57-4d5a-8c5e-0d7d2f0b9e11")
"""The namespace in which an annotator's name is a user's id: Argilla knows users by UUID only."""


def write(dataset: Dataset) -> str:
    return json_document([record(pair) for pair in judged_pairs(dataset)])


def record(pair: JudgedPair) -> dict[str, Any]:
    names = [label.annotator for label in pair.labels]
    about = {"prompt_id": pair.prompt.id, "memory_id": pair.memory.id, "digest": pair.memory.digest}
    return {
        "id": hidden("\0".join(about.values())),
        "fields": {"prompt": pair.prompt.text, "title": pair.memory.title, "memory": pair.memory.body or ""},
        "metadata": {**about, "annotators": names},
        "suggestions": {RELEVANCE: suggestion(pair.opinions[-1])} if pair.opinions else {},
        "responses": {
            RELEVANCE: [response(label, label.verdict) for label in pair.labels],
            GRADE: [response(label, label.grade) for label in pair.labels if label.grade is not None],
            NOTE: [response(label, label.note) for label in pair.labels if label.note],
        },
        "vectors": {},
    }


def user_id(annotator: str) -> str:
    # uuid5 takes no lone surrogate, which no name has that comes from a label store
    return str(uuid.uuid5(PEOPLE, annotator.encode("utf-8", "replace").decode("utf-8")))


def response(label: LabelEvent, value: Any) -> dict[str, Any]:
    status = SUBMITTED if label.verdict in (RELEVANT, NOT_RELEVANT) else DISCARDED
    return {"value": value, "user_id": user_id(label.annotator), "status": status}


def suggestion(opinion: Opinion) -> dict[str, Any]:
    agent = f"{opinion.system} {opinion.call.provider}/{opinion.call.model}"
    value = DECISIONS.get(opinion.verdict.decision, UNSURE)
    return {"value": value, "score": opinion.verdict.confidence, "agent": agent}


def read(source: Source) -> Dataset:
    """People's responses to the question `relevance`; suggestions and drafts are not read."""
    return gathered(source.path, said(source))


def said(source: Source) -> Iterator[About]:
    for node in source.items():
        texts, metadata, responses = (node.child(name) for name in ("fields", "metadata", "responses"))
        if texts is None or metadata is None:
            raise node.wrong("fields" if texts is None else "metadata", "an object")
        prompt, memory = prompt_of(texts, metadata), memory_of(texts, metadata)
        yield prompt, memory, labels_of(responses, metadata, prompt, memory) if responses else []


def prompt_of(texts: Node, metadata: Node) -> Prompt:
    text = texts.text("prompt", "")
    if not text and "prompt_id" not in metadata.value:
        raise texts.wrong("prompt", "a text, or an id in the metadata's `prompt_id`")
    return Prompt(metadata.name("prompt_id", prompt_id(text)), text)


def memory_of(texts: Node, metadata: Node) -> MemoryText:
    title, body = texts.text("title", ""), texts.text("memory", "") or None
    return MemoryText(metadata.name("memory_id"), metadata.text("digest", ""), title=title, body=body)


def labels_of(responses: Node, metadata: Node, prompt: Prompt, memory: MemoryText) -> list[LabelEvent]:
    names = {user_id(name): name for name in metadata.texts("annotators", ())}
    grades = {answer.text("user_id", ""): answer for answer in responses.children(GRADE)}
    notes = {answer.text("user_id", ""): answer for answer in responses.children(NOTE)}
    labels = []
    for answer in responses.children(RELEVANCE):
        user, status = answer.text("user_id", ""), answer.one_of("status", STATUSES, SUBMITTED)
        if status == DRAFT:
            continue
        verdict = answer.one_of("value", VERDICTS, UNSURE if status == DISCARDED else None)
        note = notes[user].text("value", "") if user in notes else ""
        grade = grade_of(grades[user]) if user in grades else None
        about = (names.get(user, user or "argilla"), prompt.id, memory.id, memory.digest)
        labels.append(LabelEvent(*about, verdict=verdict, grade=grade, note=note))
    return labels


def grade_of(answer: Node) -> int:
    grade = answer.whole("value")
    if not 0 <= grade <= MAX_GRADE:
        raise answer.wrong("value", f"0 to {MAX_GRADE}")
    return grade


def recognises(opening: Opening) -> bool:
    return opening.is_array_of("fields")


KEEPS = losses.BY_PAIR | {losses.GRADES, losses.NOTES, losses.JUDGES}
ARGILLA = Format("argilla", "Argilla's records, as JSON", write, read, recognises, KEEPS)
