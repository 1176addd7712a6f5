"""memtomem's set of evaluation cases: queries with judgements on content hashes, which here are digests."""

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
    from labels.exchange.source import Node, Source

JUDGEMENTS = {"relevant": RELEVANT, "not_relevant": NOT_RELEVANT}


def write(dataset: Dataset) -> str:
    cases = [case(judged) for judged in judged_prompts(dataset)]
    return json_document({"schema_version": 1, "kind": "eval_case_set", "cases": cases})


def case(judged: JudgedPrompt) -> dict[str, Any]:
    """Memories of one text share a hash, which may be judged once: relevant if any of them is."""
    judgements = {memory.digest: "not_relevant" for memory in judged.irrelevant}
    judgements |= {memory.digest: "relevant" for memory in judged.relevant}
    return {
        "case_id": judged.prompt.id,
        "name": judged.prompt.id,
        "query_text": judged.prompt.text,
        "top_k": len(judgements),
        "filters": {},
        "status": "active",
        "version": 1,
        "labels": [{"content_hash": digest, "judgment": said} for digest, said in judgements.items()],
    }


def read(source: Source) -> Dataset:
    """A label for each judgement, by whoever made the cases; memories are known by their digests."""
    return gathered(source.path, said(source))


def said(source: Source) -> Iterator[About]:
    for node in source.root().children("cases", needed=True):
        text = node.text("query_text", "")
        if not text and "case_id" not in node.value:
            raise node.wrong("query_text", "a text, or an id in `case_id`")
        prompt = Prompt(node.name("case_id", prompt_id(text)), text)
        yield from named_labels(prompt, (judgement(label) for label in node.children("labels", needed=True)))


def judgement(label: Node) -> tuple[MemoryText, str]:
    return MemoryText("", label.name("content_hash")), JUDGEMENTS[label.one_of("judgment", tuple(JUDGEMENTS))]


def recognises(opening: Opening) -> bool:
    return opening.is_object_with("cases")


KEEPS = losses.BY_VERDICT | {losses.PROMPT_TEXTS}
MEMTOMEM = Format("memtomem", "memtomem's evaluation cases, as JSON", write, read, recognises, KEEPS)
