"""Files without texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given

from engine.prompt import Prompt
from labels.exchange.formats import ALL
from labels.exchange.jsonl import JSONL
from labels.exchange.records import MemoryText
from labels.exchange.redaction import hidden, text_hash, without_text
from labels.exchange.source import Source
from tests.labels.exchange.datasets import (
    PROMPT,
    dataset,
    datasets,
    event,
    names,
    property_test,
)


@property_test
@given(datasets(annotators=names.map(lambda name: f"person {name}")))
def test_no_text_and_no_id_is_in_a_file_without_texts(given_dataset: Any) -> None:
    marked = JSONL.read(Source(Path("x"), mark(JSONL.write(given_dataset))))  # type: ignore[misc]
    bare = without_text(marked)
    for form in ALL:
        assert "SECRET" not in form.write(bare)


def mark(text: str) -> str:
    """Every text and id of a JSONL file with a word in it that can be looked for."""
    return "".join(f"{json.dumps(marked(json.loads(line)))}\n" for line in text.split("\n") if line)


PUBLIC = {"record", "annotator", "action", "verdict", "uid", "supersedes", "ts", "digest", "run_id", "system", "status"}
PUBLIC |= {"provider", "model", "template_hash", "dropped_by", "decision", "depth", "order_name", "stratum"}
PUBLIC |= {"kind", "confidence", "fallback", "session", "guideline", "app_version"}
PUBLIC |= {"config_hash", "corpus_hash", "engine_version", "sqlite_version"}


def marked(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: marked(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [marked(each, name) for each in value]
    is_ours = name in PUBLIC or (name == "source" and value in ("live", ""))
    return f"SECRET {value}" if isinstance(value, str) and not is_ours else value


def test_hashes_stand_for_texts_and_ids() -> None:
    bare = without_text(dataset(event("a", note="they say: tokens")))
    assert bare.prompts == (Prompt(hidden("p1"), text_hash(PROMPT.text), kind="specific"),)
    assert bare.memories == (MemoryText(hidden("m1"), "d1", body=text_hash("They expire.")),)
    assert (bare.events[0].prompt_id, bare.events[0].note, bare.events[0].uid) == (hidden("p1"), "", "a")
