"""qmd's bench fixture: queries with the files that they should find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.prompt import Prompt, prompt_id
from labels.exchange import losses
from labels.exchange.format import Format
from labels.exchange.gathering import gathered, named_labels
from labels.exchange.pairs import judged_prompts
from labels.exchange.records import MemoryText
from labels.exchange.spelling import json_document
from labels.records import RELEVANT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.exchange.format import Opening
    from labels.exchange.gathering import About
    from labels.exchange.records import Dataset
    from labels.exchange.source import Source

TOP_K = 3


def write(dataset: Dataset) -> str:
    """The prompts for which something is relevant; memories are named by their paths."""
    queries = [
        {
            "id": judged.prompt.id,
            "query": judged.prompt.text,
            "type": judged.prompt.kind or "semantic",
            "expected_files": [memory.path or memory.id for memory in judged.relevant],
            "expected_in_top_k": max(TOP_K, len(judged.relevant)),
        }
        for judged in judged_prompts(dataset)
        if judged.relevant
    ]
    return json_document({"description": "Labels from memsift", "version": 1, "collection": "", "queries": queries})


def read(source: Source) -> Dataset:
    """A relevant label for each expected file, by whoever made the fixture."""
    return gathered(source.path, said(source))


def said(source: Source) -> Iterator[About]:
    for node in source.root().children("queries", needed=True):
        text = node.name("query")
        prompt = Prompt(node.name("id", prompt_id(text)), text, kind=node.text("type", ""))
        files = node.texts("expected_files", ())
        yield from named_labels(prompt, ((MemoryText(file, path=file), RELEVANT) for file in files))


def recognises(opening: Opening) -> bool:
    return opening.is_object_with("queries")


KEEPS = (losses.BY_VERDICT | {losses.PROMPT_TEXTS}) - {losses.IRRELEVANT, losses.NOTHING_RELEVANT}
QMD = Format("qmd", "qmd's bench fixture, as JSON", write, read, recognises, KEEPS)
