"""A Quepid book (quepid.com) as JSON: queries with documents and their judgements. E-mail addresses are hashed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.prompt import Prompt, prompt_id
from labels.exchange import losses
from labels.exchange.format import Format
from labels.exchange.gathering import gathered
from labels.exchange.pairs import judged_pairs
from labels.exchange.people import address, person
from labels.exchange.records import LabelEvent, MemoryText
from labels.exchange.source import Node
from labels.exchange.spelling import json_document
from labels.records import LABEL, MAX_GRADE, NOT_RELEVANT, RELEVANT, SKIP, UNRATEABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from labels.exchange.format import Opening
    from labels.exchange.gathering import About
    from labels.exchange.pairs import JudgedPair
    from labels.exchange.records import Dataset
    from labels.exchange.source import Source

SCALE = [0, 1]
SCALE_WITH_LABELS = {"0": "Not relevant", "1": "Relevant"}
RATINGS = {RELEVANT: 1.0, NOT_RELEVANT: 0.0}


def write(dataset: Dataset) -> str:
    """A book that Quepid's import takes: older versions find the scale with the scorer, newer ones beside it."""
    scale = {"scale": SCALE, "scale_with_labels": SCALE_WITH_LABELS}
    return json_document(
        {
            "name": "memsift",
            "show_rank": False,
            "support_implicit_judgements": False,
            **scale,
            "scorer": {"name": "memsift", **scale},
            "query_doc_pairs": [query_doc_pair(pair) for pair in judged_pairs(dataset)],
        }
    )


def query_doc_pair(pair: JudgedPair) -> dict[str, Any]:
    ranks = [result.rank for _, result in pair.systems if result.injected]
    document = {
        "title": pair.memory.title,
        "category": pair.memory.category,
        "tags": list(pair.memory.tags),
        "body": pair.memory.body,
        "digest": pair.memory.digest,
        "prompt_id": pair.prompt.id,
    }
    return {
        "query_text": pair.prompt.text[: losses.QUEPID_CHARACTERS],
        "doc_id": pair.memory.id,
        "position": min(ranks, default=None),
        "document_fields": json.dumps(document),
        "judgements": [judgement(event) for event in (*pair.labels, *pair.skips)],
    }


def judgement(event: LabelEvent) -> dict[str, Any]:
    """Quepid's "I can't tell" is for unsure and for unrateable, its "judge later" for a skip."""
    rating = RATINGS.get(str(event.verdict))
    return {
        "rating": rating,
        "unrateable": rating is None and event.action != SKIP,
        "judge_later": event.action == SKIP,
        "user_email": address(event.annotator),
        "explanation": event.note or None,
    }


def read(source: Source) -> Dataset:
    """Everybody's judgements; the upper half of the book's scale is relevant, and one from 0 to 3 gives grades too."""
    return gathered(source.path, said(source))


def said(source: Source) -> Iterator[About]:
    book = source.root()
    highest = highest_rating(book)
    for node in book.children("query_doc_pairs", needed=True):
        document = document_of(node)
        prompt, memory = prompt_of(node, document), memory_of(node, document)
        yield prompt, memory, [event_of(each, prompt, memory, highest) for each in node.children("judgements")]


def highest_rating(book: Node) -> float:
    """The top of the scale: as the book or its scorer says, else of the ratings there are."""
    for node in (book, book.child("scorer")):
        scale = numbers(node.value.get("scale")) if node else []
        if scale:
            return max(scale)
    judgements = [each for pair in book.children("query_doc_pairs") for each in pair.children("judgements")]
    return max((each.number("rating", 0.0) for each in judgements), default=1.0)


def numbers(scale: object) -> list[float]:
    """Quepid writes a scale as a list, or as numbers with commas between."""
    values = scale.split(",") if isinstance(scale, str) else scale if isinstance(scale, list) else []
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError):
        return []


def document_of(node: Node) -> Mapping[str, Any]:
    """The fields of the document: an object, or one that is spelled as a text."""
    value = node.value.get("document_fields")
    try:
        fields = json.loads(value) if isinstance(value, str) and value else value or {}
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise node.wrong("document_fields", "an object, or a text that spells one")
    return fields


def prompt_of(node: Node, document: Mapping[str, Any]) -> Prompt:
    """A prompt that has its id with it is known by that where Quepid had no room for its end."""
    text = node.text("query_text")
    ours = Node(node.path, f"{node.place}.document_fields", dict(document)).text("prompt_id", "")
    is_cut = bool(ours) and len(text) >= losses.QUEPID_CHARACTERS
    return Prompt(ours or prompt_id(text), "" if is_cut else text)


def memory_of(node: Node, document: Mapping[str, Any]) -> MemoryText:
    doc_id = node.name("doc_id")
    if "digest" not in document:
        return MemoryText(doc_id, title=str(document.get("title") or ""), body=other_fields(document))
    fields = Node(node.path, f"{node.place}.document_fields", dict(document))
    words = {name: fields.text(name, "") for name in ("digest", "category", "title")}
    body = None if document.get("body") is None else fields.text("body")
    return MemoryText(doc_id, **words, tags=fields.texts("tags", ()), body=body)


def other_fields(document: Mapping[str, Any]) -> str | None:
    """A foreign document's fields but the title, a line each."""
    lines = [f"{name}: {value}" for name, value in document.items() if name != "title" and value not in (None, "")]
    return "\n".join(lines) or None


def event_of(node: Node, prompt: Prompt, memory: MemoryText, highest: float) -> LabelEvent:
    is_later, is_unrateable = node.flag("judge_later", False), node.flag("unrateable", False)
    rating = None if is_later or is_unrateable else node.number("rating")
    graded = rating is not None and highest == MAX_GRADE and rating in range(MAX_GRADE + 1)
    email = node.text("user_email", "")
    return LabelEvent(
        person(email) if email else "",
        prompt.id,
        memory.id,
        memory.digest,
        action=SKIP if is_later else LABEL,
        verdict=None if is_later else UNRATEABLE if rating is None else relevance(rating, highest),
        grade=int(rating) if graded and rating is not None else None,
        note=node.text("explanation", ""),
    )


def relevance(rating: float, highest: float) -> str:
    return RELEVANT if rating * 2 > highest else NOT_RELEVANT


def recognises(opening: Opening) -> bool:
    return opening.is_object_with("query_doc_pairs")


LOSES = frozenset({losses.NAMES, losses.UNSURE_APART, losses.LONG_PROMPTS})
KEEPS = (losses.BY_PAIR | {losses.NOTES, losses.SKIPS}) - LOSES
QUEPID = Format("quepid", "a Quepid book, as JSON", write, read, recognises, KEEPS)
