"""A dataset from what a file says of one pair after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import ExchangeError
from engine.prompt import Prompt
from labels.exchange.records import Dataset, LabelEvent, MemoryText

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

About = tuple[Prompt, MemoryText, list[LabelEvent]]
"""A prompt and a memory, and the events about them."""


def gathered(path: Path, said: Iterable[About]) -> Dataset:
    """Each prompt and memory once; ExchangeError if the file at *path* gives two texts for one id."""
    prompts: dict[str, Prompt] = {}
    memories: dict[tuple[str, str], MemoryText] = {}
    events: list[LabelEvent] = []
    for prompt, memory, about in said:
        if prompts.setdefault(prompt.id, prompt).text != prompt.text:
            raise ExchangeError(f"{path}: the prompt {prompt.id!r} has two texts. Give each an id of its own.")
        if texts(memories.setdefault((memory.id, memory.digest), memory)) != texts(memory):
            raise ExchangeError(f"{path}: the memory {memory.id!r} has two texts. Give each a digest of its own.")
        events += about
    return Dataset(tuple(prompts.values()), tuple(memories.values()), tuple(events), by_text=True)


def texts(memory: MemoryText) -> tuple[str, str | None]:
    return memory.title, memory.body


def named_labels(prompt: Prompt, verdicts: Iterable[tuple[MemoryText, str]]) -> Iterable[About]:
    """What a format says that names nobody: a verdict on each of some memories."""
    for memory, verdict in verdicts:
        yield prompt, memory, [LabelEvent("", prompt.id, memory.id, memory.digest, verdict=verdict)]
