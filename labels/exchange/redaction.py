"""A dataset without texts: what is left are hashes, by which the same texts are known again elsewhere."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.prompt import Prompt
from labels.exchange.records import MemoryText

if TYPE_CHECKING:
    from labels.exchange.records import Dataset, JudgeCall, LabelEvent, Result, Retrieved, Run

PREFIX = "sha256:"


def text_hash(text: str) -> str:
    """What stands for *text*: `sha256:` and 64 hex digits."""
    return PREFIX + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_hash(text: str) -> bool:
    return text.startswith(PREFIX) and len(text) == len(PREFIX) + 64


def hidden(name: str) -> str:
    """What stands for an id, which may be words of a text: 16 hex digits. The empty id stays empty."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16] if name else ""


def without_text(dataset: Dataset) -> Dataset:
    """*dataset* with hashes in place of all texts of prompts and memories, and of what could quote them.

    Left out are titles, tags, categories, conversations, paths, folders, notes, reasons, the judge's sentences and
    details, configurations, and the words that matched. Names of annotators, systems and models stay, and so does a
    prompt's kind.
    """
    return replace(
        dataset,
        prompts=tuple(Prompt(hidden(each.id), text_hash(each.text), kind=each.kind) for each in dataset.prompts),
        memories=tuple(bare_memory(each) for each in dataset.memories),
        events=tuple(bare_event(each) for each in dataset.events),
        runs=tuple(bare_run(each) for each in dataset.runs),
        retrievals=tuple(bare_retrieved(each) for each in dataset.retrievals),
        frame=tuple(
            replace(each, prompt_id=hidden(each.prompt_id), memory_id=hidden(each.memory_id)) for each in dataset.frame
        ),
        plan=tuple(replace(each, prompt_id=hidden(each.prompt_id), root=hidden(each.root)) for each in dataset.plan),
        sightings=tuple(replace(each, prompt_id=hidden(each.prompt_id)) for each in dataset.sightings),
        redacted=True,
    )


def bare_memory(memory: MemoryText) -> MemoryText:
    return MemoryText(hidden(memory.id), memory.digest, body=None if memory.body is None else text_hash(memory.body))


def bare_event(event: LabelEvent) -> LabelEvent:
    prompt_id, memory_id = hidden(event.prompt_id), hidden(event.memory_id)
    return replace(event, prompt_id=prompt_id, memory_id=memory_id, note="", reason="", source="")


def bare_run(run: Run) -> Run:
    return replace(run, root=hidden(run.root), config_json="")


def bare_retrieved(retrieved: Retrieved) -> Retrieved:
    results = tuple(bare_result(result) for result in retrieved.results)
    call = bare_call(retrieved.call) if retrieved.call else None
    return replace(retrieved, prompt_id=hidden(retrieved.prompt_id), results=results, call=call)


def bare_result(result: Result) -> Result:
    verdict = replace(result.verdict, reasoning="") if result.verdict else None
    return replace(result, memory_id=hidden(result.memory_id), matched=(), verdict=verdict)


def bare_call(call: JudgeCall) -> JudgeCall:
    return replace(call, detail="")
