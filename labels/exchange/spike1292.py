"""The questions of spike1292/claude-memory: JSON lines with a question and the notes that answer it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.prompt import Prompt, prompt_id
from labels.exchange import losses
from labels.exchange.format import Format
from labels.exchange.gathering import gathered, named_labels
from labels.exchange.pairs import judged_prompts
from labels.exchange.records import MemoryText
from labels.exchange.spelling import json_lines
from labels.records import RELEVANT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labels.exchange.format import Opening
    from labels.exchange.gathering import About
    from labels.exchange.records import Dataset
    from labels.exchange.source import Source


def write(dataset: Dataset) -> str:
    """The prompts for which something is relevant."""
    return json_lines(
        {"q": judged.prompt.text, "gold": [memory.id for memory in judged.relevant]}
        for judged in judged_prompts(dataset)
        if judged.relevant
    )


def read(source: Source) -> Dataset:
    """A relevant label for each gold note, by whoever made the questions."""
    return gathered(source.path, said(source))


def said(source: Source) -> Iterator[About]:
    for node in source.rows():
        text = node.name("q")
        notes = node.texts("gold")
        prompt = Prompt(prompt_id(text), text)
        yield from named_labels(prompt, ((MemoryText(note), RELEVANT) for note in notes))


def recognises(opening: Opening) -> bool:
    return opening.has_rows_with("q", "gold")


KEEPS = (losses.BY_VERDICT | {losses.PROMPT_TEXTS}) - {losses.IRRELEVANT, losses.NOTHING_RELEVANT}
SPIKE1292 = Format("spike1292", "questions with their notes, as JSON lines", write, read, recognises, KEEPS)
