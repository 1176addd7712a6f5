"""Importing a file: what is matched, what is added, and what is refused."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ExchangeError
from engine.prompt import Prompt, prompt_id
from labels.database import LabelDatabase
from labels.exchange.exporting import Extract
from labels.exchange.files import POOLED, Dataset, FileText, row_of
from labels.exchange.importing import Context, Matched, import_file
from labels.exchange.merge import MergedRows, read_events, rows_of
from labels.exchange.registry import FORMATS, READABLE
from labels.records import NOT_RELEVANT, RELEVANT, RETRACT, MemoryText
from tests.labels.exchange.datasets import (
    KEY,
    MEMORY,
    PROMPT,
    RETRIEVED,
    content,
    dataset,
    event,
    made_run,
    moment,
    opened,
    property_test,
    sighting,
    store_test,
    stored_datasets,
    write,
)

NOW = moment(600)
EMPTY = dataset(prompts=(), memories=())
KNOWN = dataset()
"""A store that knows a prompt and a memory, and no label."""


def bring(db: LabelDatabase, name: str, text: str, annotator: str = "", **around: Any) -> tuple[MergedRows, Matched]:
    source = FileText(Path("file.txt"), text.encode("utf-8").decode("utf-8"))
    return import_file(db, source, FORMATS[name], annotator, Context(**{"now": NOW, **around}))


def said(db: LabelDatabase) -> list[tuple[str, str, str, str, str | None]]:
    return [(each.annotator, each.prompt_id, *each.pair, each.verdict) for each in read_events(db)]


@store_test
@given(stored_datasets)
def test_jsonl_restores_a_store_as_it_was(given_dataset: Dataset) -> None:
    with opened(given_dataset, EMPTY) as (before, after):
        bring(after, "jsonl", write("jsonl", rows_of(before)))
        assert content(after) == content(before)
        assert [each.uid for each in read_events(after)] == [each.uid for each in read_events(before)]


@property_test
@given(stored_datasets, st.sampled_from(READABLE))
def test_importing_a_file_twice_adds_nothing(given_dataset: Dataset, name: str) -> None:
    with opened(given_dataset, KNOWN) as (before, after):
        text = write(name, rows_of(before))
        known = {"prompts": given_dataset.prompts, "memories": given_dataset.memories}
        bring(after, name, text, **known)
        once = content(after)
        again, _ = bring(after, name, text, now=moment(700), **known)
        assert content(after) == once
        assert again.events == ()


@store_test
@given(stored_datasets)
def test_importing_what_one_exported_oneself_adds_nothing(given_dataset: Dataset) -> None:
    with opened(given_dataset) as (db,):
        before = content(db)
        for name in ("jsonl", "csv", "label-studio", "prodigy"):
            bring(db, name, write(name, rows_of(db)))
            assert content(db) == before, name


@store_test
@given(stored_datasets)
def test_a_file_without_texts_is_understood_where_the_texts_are_known(given_dataset: Dataset) -> None:
    with opened(given_dataset, replace(given_dataset, events=(), pool=())) as (before, after):
        _, matched = bring(after, "jsonl", bare(before))
        assert matched.events == 0
        uids = [each.uid for each in read_events(before)]
        assert [each.uid for each in read_events(after)] == uids
        assert content(after)["current"] == content(before)["current"]
        assert bring(before, "jsonl", bare(after))[0].known == len(uids)


def test_what_was_seen_of_a_pooled_prompt_is_in_a_file_without_texts() -> None:
    pooled = row_of(POOLED, **KEY, seed=1, stratum="", inclusion_probability=1.0)
    seen = dataset(pool=(pooled,), sightings=(sighting("ann", "p1", 5),))
    with opened(seen, KNOWN) as (before, after):
        bring(after, "jsonl", bare(before))
        assert rows_of(after).sightings == seen.sightings


def bare(db: LabelDatabase) -> str:
    """The file of a store without texts."""
    with closing(Extract(db)) as extract:
        extract.redact()
        return FORMATS["jsonl"].write(extract)


def test_what_is_not_known_and_has_no_text_is_left_out_and_named() -> None:
    with opened(KNOWN) as (db,):
        _, matched = bring(db, "qrels", "p1 0 m1 1\np9 0 m1 1\np1 0 m9 0\n")
        assert said(db) == [("qrels", "p1", "m1", "d1", RELEVANT)]
        assert matched.unknown_prompts == ("p9",)
        assert matched.unknown_memories == ("m9",)
        assert matched.events == 2


def test_a_label_is_about_the_text_that_it_brings_or_else_about_the_memory_as_it_reads_now() -> None:
    texts = [MEMORY._replace(digest=digest, body=body) for digest, body in (("d1", "old"), ("d2", "new"))]
    table = "prompt_id,memory_id,title,memory,label:jan\np1,m1,Tokens,old,relevant\np1,m1,Tokens,unknown,not\n"
    with opened(dataset(memories=tuple(texts))) as (db,):
        refused = pytest.raises(ExchangeError, match="the memory 'm1' has two texts")
        with refused:
            bring(db, "csv", table)
        bring(db, "csv", table.replace("unknown", "old"))
        assert [row[3] for row in said(db)] == ["d1", "d1"]
        bring(db, "csv", table.replace("old", "unknown"), annotator="kim")
        assert [len(row[3]) for row in said(db)] == [2, 2, 64, 64]
    texts = [MEMORY._replace(digest=digest, body=body) for digest, body in (("d1", "old"), ("d2", "new"), ("d3", ""))]
    with opened(dataset(memories=tuple(texts))) as (db,):
        bring(db, "qrels", "p1 0 m1 1\n", memories=texts[1:2])
        assert said(db) == [("qrels", "p1", "m1", "d2", RELEVANT)]


ANSWER = {"prompt": PROMPT.text, "memory_id": "m1", "title": "Tokens", "text": "Tokens", "answer": "accept"}
BY_HAND = {"record": "event", "annotator": "jan", "prompt_id": "p1", "memory_id": "m1", "verdict": "relevant"}
"""The four fields that an event needs."""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("csv", f"prompt,memory_id,label:jan\n  {PROMPT.text} ,decisions/m1.json,relevant\n"),
        ("csv", f"prompt,memory_id,label:jan\n{PROMPT.text},m1,relevant\n"),
        ("csv", "prompt_id,memory_id,label:jan\np1,m1,relevant\n"),
        ("prodigy", json.dumps(ANSWER)),
        ("label-studio", write("label-studio", dataset(event("", digest="d1")))),
        ("jsonl", json.dumps({**BY_HAND, "memory_id": "", "digest": "d1"})),
    ],
    ids=["path", "id", "ids", "text", "version", "digest"],
)
def test_prompts_are_known_by_text_and_memories_by_path_digest_or_id(name: str, text: str) -> None:
    with opened(KNOWN) as (db,):
        bring(db, name, text, "jan")
        assert said(db) == [("jan", "p1", "m1", "d1", RELEVANT)]
        assert rows_of(db).prompts == (PROMPT,)


def test_an_unknown_prompt_is_taken_with_its_text_and_a_known_id_with_another_text_is_refused() -> None:
    table = "prompt_id,prompt,memory_id,label:jan\np2,new,m1,not\np1,other,m1,relevant\n"
    with opened(KNOWN) as (db,):
        before = content(db)
        with pytest.raises(ExchangeError, match=r"The prompt 'p1' is known with another text.*Nothing was imported"):
            bring(db, "csv", table)
        assert content(db) == before
        bring(db, "csv", "prompt,memory_id,label:jan\nwhat else?,m1,relevant\n")
        assert rows_of(db).prompts[1:] == (Prompt(prompt_id("what else?"), "what else?"),)


def test_imported_labels_say_where_they_come_from_and_whether_they_were_given_blind_if_the_file_says_so() -> None:
    with opened(KNOWN) as (db,):
        bring(db, "qrels", "p1 0 m1 1\n")
        (label,) = read_events(db)
        assert (label.source, label.blind, label.ts, len(label.uid)) == ("file.txt (qrels)", None, NOW, 32)
    with opened(dataset(event("a" * 32, blind=True, ts=moment(0))), KNOWN) as (before, after):
        bring(after, "prodigy", write("prodigy", rows_of(before)))
        assert [(each.blind, each.ts) for each in read_events(after)] == [(True, moment(0))]


def test_an_event_that_was_written_by_hand_needs_four_fields_and_gets_the_file_as_its_source() -> None:
    with opened(KNOWN) as (db,):
        bring(db, "jsonl", json.dumps(BY_HAND))
        assert said(db) == [("jan", "p1", "m1", "d1", RELEVANT)]
        assert read_events(db)[0].source == "file.txt (jsonl)"


def test_a_changed_mind_supersedes_what_was_imported_and_an_old_label_no_newer_key_press() -> None:
    with opened(KNOWN) as (db,):
        for verdict, now in (("relevant", NOW), ("not", moment(601))):
            bring(db, "csv", f"prompt_id,memory_id,label:jan\np1,m1,{verdict}\n", now=now)
        first, second = read_events(db)
        assert second.supersedes == first.uid
        assert content(db)["current"] == [second.uid]
    newer = event("a" * 32, verdict=NOT_RELEVANT, ts=moment(60))
    tasks = write("label-studio", dataset(event("", ts=moment(5))))
    with opened(dataset(newer)) as (db,):
        bring(db, "label-studio", tasks)
        assert len(read_events(db)) == 2
        assert content(db)["current"] == ["a" * 32]


def test_the_annotator_may_be_named_where_the_file_names_nobody_or_one() -> None:
    table = "prompt_id,memory_id,label:a,label:b\np1,m1,relevant,{}\n"
    with opened(KNOWN, KNOWN) as (one, two):
        bring(one, "csv", table.format(""), "jan")
        assert said(one)[0][0] == "jan"
        with pytest.raises(ExchangeError, match=r"--annotator names one person, but the file names 2\. Omit it"):
            bring(two, "csv", table.format("not"), "jan")
        with pytest.raises(ExchangeError, match="memsift's own and say whose they are"):
            bring(two, "jsonl", write("jsonl", dataset(event("a" * 32))), "jan")
        assert said(two) == []


def test_a_retraction_of_nothing_and_a_run_that_is_missing_are_refused_and_events_come_in_any_order() -> None:
    alone = event("b" * 32, verdict=None, action=RETRACT, supersedes="a" * 32)
    run = write("jsonl", dataset(runs=(made_run("r"),), retrievals=({**RETRIEVED, "results": []},)))
    without = "\n".join(line for line in run.splitlines() if '"record": "run"' not in line)
    with opened(KNOWN) as (db,):
        with pytest.raises(ExchangeError, match=r"takes back a{32}, which is neither in"):
            bring(db, "jsonl", write("jsonl", dataset(alone)))
        with pytest.raises(ExchangeError, match=r"of the run 'r', which is neither in .*0\.db"):
            bring(db, "jsonl", without)
    label, retraction = event("a" * 32), event("b" * 32, verdict=None, action=RETRACT, supersedes="a" * 32)
    with opened(KNOWN) as (db,):
        bring(db, "jsonl", write("jsonl", dataset(retraction, label)))
        assert content(db)["current"] == []


def test_a_run_becomes_a_system_that_injects_what_it_lists() -> None:
    rows = "p1 Q0 m1 1 2.5 other\np9 Q0 m1 1 2.5 other\np2 Q0 m1 1 2.5 other\np2 Q0 m9 2 1.5 other\n"
    with opened(dataset(prompts=(PROMPT, Prompt("p2", "x")))) as (db,):
        _, matched = bring(db, "run", rows, root="/root")
        assert matched.retrievals == 2  # of an unknown prompt, and one with an unknown memory
        held = rows_of(db)
        assert [(run["system"], run["root"]) for run in held.runs] == [("other", "/root")]
        (retrieved,) = held.retrievals
        assert [(found["memory_id"], found["score"], found["injected"]) for found in retrieved["results"]] == [
            ("m1", -2.5, True)
        ]


def test_an_id_that_only_looks_escaped_is_found() -> None:
    given_dataset = dataset(prompts=(Prompt("http://x/a%20b", "x"),), memories=(MemoryText("50%", "d"),))
    with opened(given_dataset) as (db,):
        bring(db, "qrels", "http://x/a%20b 0 50% 1\n")
        assert said(db) == [("qrels", "http://x/a%20b", "50%", "d", RELEVANT)]
