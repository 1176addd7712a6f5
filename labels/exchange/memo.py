"""memo's recall labels (schema memo.eval_recall.labels.v1): prompts with ids to expect and ids to avoid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.prompt import Prompt, prompt_id
from labels.exchange import losses
from labels.exchange.format import Format
from labels.exchange.gathering import gathered, named_labels
from labels.exchange.pairs import judged_prompts
from labels.exchange.records import MemoryText
from labels.exchange.spelling import json_document
from labels.records import NOT_RELEVANT, RELEVANT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.exchange.format import Opening
    from labels.exchange.gathering import About
    from labels.exchange.pairs import JudgedPrompt
    from labels.exchange.records import Dataset
    from labels.exchange.source import Source

SCHEMA = "memo.eval_recall.labels.v1"


def write(dataset: Dataset) -> str:
    prompts = [row(judged) for judged in judged_prompts(dataset)]
    return json_document({"schema": SCHEMA, "prompts": prompts, "relevant_terms": [], "noise_tags": []})


def row(judged: JudgedPrompt) -> dict[str, Any]:
    return {
        "text": judged.prompt.text,
        "relevant": bool(judged.relevant),
        "expect_ids": [memory.id for memory in judged.relevant],
        "avoid_ids": [memory.id for memory in judged.irrelevant],
        "_note": judged.prompt.id,
    }


def read(source: Source) -> Dataset:
    """A relevant label for each expected id, and one that says not for each to avoid."""
    return gathered(source.path, said(source))


def said(source: Source) -> Iterator[About]:
    for node in source.root().children("prompts", needed=True):
        text = node.name("prompt" if "prompt" in node.value else "text")
        prompt = Prompt(prompt_id(text), text)
        yield from named_labels(prompt, ((MemoryText(each), RELEVANT) for each in node.texts("expect_ids", ())))
        yield from named_labels(prompt, ((MemoryText(each), NOT_RELEVANT) for each in node.texts("avoid_ids", ())))


def recognises(opening: Opening) -> bool:
    return opening.is_object_with("prompts")


KEEPS = losses.BY_VERDICT | {losses.PROMPT_TEXTS}
MEMO = Format("memo", "memo's recall labels, as JSON", write, read, recognises, KEEPS)
