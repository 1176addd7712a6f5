"""From a label store to a file: whose labels, with or without texts, and what a format leaves out."""

import json
from typing import Any

import pytest
from hypothesis import given

from engine.errors import ExchangeError
from engine.prompt import Prompt
from labels.exchange.exporting import id_hash, text_hash
from labels.exchange.merge import rows_of
from labels.exchange.registry import FORMATS, left_out
from labels.records import NOT_RELEVANT, RETRACT, UNSURE, MemoryText
from tests.labels.exchange.datasets import PROMPT, dataset, datasets, event, extract, names, property_test, read, write


def test_one_annotators_events_or_what_all_say() -> None:
    labels = dataset(event("a"), event("b", "kim", NOT_RELEVANT), event("c", "lou", NOT_RELEVANT, grade=1))
    kims, agreed = extract(labels), extract(labels)
    kims.keep_annotator("kim")
    assert [each.annotator for each in rows_of(kims).events] == ["kim"]
    agreed.keep_gold()
    (together,) = rows_of(agreed).events
    assert (together.annotator, together.verdict, together.grade) == ("gold", NOT_RELEVANT, 1)
    with pytest.raises(ExchangeError, match=r"There are no labels by 'ann'\. There are labels by jan, kim, lou"):
        extract(labels).keep_annotator("ann")
    with pytest.raises(ExchangeError, match="There are no labels yet"):
        extract(dataset()).keep_annotator("ann")


def test_what_a_format_leaves_out_is_counted_by_kind() -> None:
    retraction = event("c", verdict=None, action=RETRACT, supersedes="b")
    full = dataset(event("a", grade=3, note="n"), event("b", memory_id="m2"), retraction, event("d", "kim", UNSURE))
    assert left_out(extract(full), FORMATS["jsonl"]) == []
    assert left_out(extract(full), FORMATS["qrels"]) == [
        (1, "labels that were taken back or changed later"),
        (1, "labels of single people beside the agreed verdict"),
        (1, "unsure or unrateable labels"),
        (1, "grades"),
        (1, "labels' reasons, notes, times and circumstances"),
        (1, "texts of prompts"),
        (1, "texts of memories"),
    ]
    assert left_out(extract(full), FORMATS["csv"]) == [(1, "labels that were taken back or changed later")]


@property_test
@given(datasets(annotators=names.map(lambda name: f"person {name}")))
def test_no_text_and_no_id_is_in_a_file_without_texts(given_dataset: Any) -> None:
    """Every text and id gets a word that can be looked for."""
    rows = [json.dumps(marked(json.loads(line))) for line in write("jsonl", given_dataset).split("\n") if line]
    bare = extract(read("jsonl", "\n".join(rows)))
    bare.redact()
    for form in FORMATS.values():
        assert "SECRET" not in form.write(bare)


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
    redacted = extract(dataset(event("a", note="they say: tokens")))
    redacted.redact()
    bare = rows_of(redacted)
    assert bare.prompts == (Prompt(id_hash("p1"), text_hash(PROMPT.text), kind="specific"),)
    assert bare.memories == (MemoryText(id_hash("m1"), "d1", body=text_hash("They expire.")),)
    assert (bare.events[0].prompt_id, bare.events[0].note, bare.events[0].uid) == (id_hash("p1"), "", "a")
