"""Recorded retrievals, and the outcomes that are read back."""

import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given

from engine.errors import LabelStoreError
from engine.judge.verdict import APPROVED
from engine.lean.record import replace
from engine.prompt import Prompt, Turn
from labels.exchange.files import Dataset, Row
from labels.records import Outcome
from labels.store import LabelStore
from tests.labels.exchange.datasets import opened, store_test, stored_datasets
from tests.labels.samples import ROOT, judged, pool_of, record, retrieval, say


def rows(store: LabelStore, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(store.path)) as connection:
        return connection.execute(sql).fetchall()


def without_run(outcome: Outcome) -> tuple[object, ...]:
    return outcome[: Outcome._fields.index("run_id")]


def test_a_recorded_retrieval_comes_back_as_an_outcome(store: LabelStore) -> None:
    record(store, retrieval(["b", "a"], {"c": "cap"}), judged(["a"], ["b"]))
    bm25, judge = store.outcomes()
    assert without_run(bm25) == ("p1", "bm25", ("b", "a"), ("b", "a"), (None, None), "", 1.5)
    assert without_run(judge) == ("p1", "bm25+judge", ("a",), ("a",), (APPROVED,), "", 211.5)
    assert bm25.run_id != judge.run_id


def test_the_texts_are_kept_with_the_results(store: LabelStore) -> None:
    turns = (Turn("user", "hi"), Turn("assistant", "hello"))
    asked = Prompt("p1", "fix that", turns, session_id="s", cwd="/w", timestamp="t", source="f.jsonl", kind="context")
    record(store, replace(retrieval(["a"], {"b": "floor"}), prompt=asked))
    kept = rows(store, "SELECT text, context_json, kind, source, session_id, cwd, ts FROM prompt")
    context = json.dumps([{"role": "user", "text": "hi"}, {"role": "assistant", "text": "hello"}])
    assert kept == [("fix that", context, "context", "f.jsonl", "s", "/w", "t")]
    assert rows(store, "SELECT memory_id, title, tags, body, category FROM memory_version ORDER BY memory_id") == [
        ("a", "Title of a", '["auth", "tokens"]', "Body of a", "decision"),
        ("b", "Title of b", '["auth", "tokens"]', "Body of b", "decision"),
    ]
    assert rows(store, "SELECT memory_id, rank, score, injected, dropped_by FROM result ORDER BY rank") == [
        ("a", 1, -9.0, 1, None),
        ("b", 2, -8.0, 0, "floor"),
    ]
    assert rows(store, "SELECT root, system, corpus_hash FROM run") == [(ROOT, "bm25", "c1")]


def test_what_a_verdict_is_drawn_from_and_what_it_cost_is_kept(store: LabelStore) -> None:
    retrieval = judged(["a"], ["b"])
    assert retrieval.judgement
    sure = [
        replace(one, confidence=0.9, samples=3, agreement=2 / 3, source="cache") for one in retrieval.judgement.verdicts
    ]
    judgement = replace(retrieval.judgement, verdicts=tuple(sure), depth="explained", cost_usd=0.0005)
    record(store, replace(retrieval, judgement=judgement))
    assert rows(store, "SELECT depth, cost_usd, template_hash FROM judge_call") == [
        ("explained", 0.0005, "0123456789abcdef")
    ]
    assert (
        rows(store, "SELECT confidence, samples, agreement, source FROM judge_verdict")
        == [(0.9, 3, 2 / 3, "cache")] * 2
    )


def test_what_was_asked_in_another_wording_is_not_in_the_same_number(store: LabelStore) -> None:
    record(store, judged(["a"], []), judged(["a"], [], prompt_id="p2"), retrieval(["a"], prompt_id="p2"))
    again = judged([], ["a"])
    assert again.judgement
    reworded = replace(again, judgement=replace(again.judgement, template_hash="f" * 16))
    record(store, reworded, corpus_hash="new")
    found = {(outcome.prompt_id, outcome.system): outcome.injected for outcome in store.outcomes()}
    assert found == {("p1", "bm25+judge"): (), ("p2", "bm25"): ("a",)}
    record(store, judged(["a"], []), corpus_hash="newest")
    found = {(outcome.prompt_id, outcome.system): outcome.injected for outcome in store.outcomes()}
    assert found == {("p1", "bm25+judge"): ("a",), ("p2", "bm25+judge"): ("a",), ("p2", "bm25"): ("a",)}


def test_a_prompt_replayed_in_the_same_run_replaces_its_rows(store: LabelStore) -> None:
    record(store, judged(["a", "b"], ["c"]))
    record(store, judged(["a"], ["d"]))
    (outcome,) = store.outcomes()
    assert (outcome.injected, outcome.candidates, outcome.decisions) == (("a",), ("a",), (APPROVED,))
    counts = [rows(store, f"SELECT count(*) FROM {table}") for table in ("retrieval", "result", "judge_verdict")]
    assert counts == [[(1,)], [(2,)], [(2,)]]


def test_a_pool_keeps_strata_and_probabilities_and_no_body_is_lost(store: LabelStore) -> None:
    record(store, retrieval(["a"]))
    store.record_pool(pool_of("a", "b"))
    store.record_pool(pool_of("a", "b"))
    assert rows(store, "SELECT memory_id, stratum, inclusion_probability, seed FROM frame") == [
        ("a", "injected", 1.0, 1),
        ("b", "injected", 1.0, 1),
    ]
    assert rows(store, "SELECT memory_id, body FROM memory_version") == [("a", "Body of a"), ("b", None)]


def test_a_labelled_prompt_cannot_become_another_text(store: LabelStore) -> None:
    record(store, retrieval(["a"], text="first"))
    record(store, retrieval(["a"], text="second"))
    say(store, "p1 a")
    record(store, retrieval(["b"], text="second"))
    with pytest.raises(LabelStoreError, match=r"'p1' was labelled .* with another text"):
        record(store, retrieval(["c"], text="third"))
    assert rows(store, "SELECT text FROM prompt") == [("second",)]
    assert [outcome.injected for outcome in store.outcomes()] == [("b",)]


def test_a_retrieval_is_recorded_whole_or_not_at_all(store: LabelStore) -> None:
    record(store, retrieval(["a"]))
    twice = retrieval(["b"])
    with pytest.raises(LabelStoreError, match="UNIQUE constraint failed"):
        record(store, replace(twice, candidates=twice.candidates * 2))
    assert [outcome.injected for outcome in store.outcomes()] == [("a",)]
    assert rows(store, "SELECT memory_id FROM memory_version") == [("a",)]


def test_half_a_character_in_a_prompt_does_not_stop_recording(store: LabelStore) -> None:
    record(store, retrieval(["a"], text="broken \ud83d emoji"))
    say(store, "p1 a")
    record(store, retrieval(["a"], text="broken \ud83d emoji"))
    assert rows(store, "SELECT text FROM prompt") == [("broken ? emoji",)]


# Outcomes as the store reads them back, for any stored retrievals


def expected(dataset: Dataset, retrieved: Row) -> Outcome:
    asked = {event.memory_id for event in dataset.events if event.prompt_id == retrieved["prompt_id"]}
    ranked = [found for found in retrieved["results"] if found["injected"] or found["memory_id"] in asked]
    injected = [found for found in ranked if found["injected"]]
    probabilities = {found["memory_id"]: found["probability"] for found in ranked}
    return Outcome(
        retrieved["prompt_id"],
        next(run["system"] for run in dataset.runs if run["run_id"] == retrieved["run_id"]),
        injected=tuple(found["memory_id"] for found in injected),
        candidates=tuple(found["memory_id"] for found in ranked),
        decisions=tuple(found["verdict"] and found["verdict"]["decision"] for found in ranked),
        fallback=retrieved["fallback"],
        elapsed_ms=retrieved["elapsed_ms"],
        run_id=retrieved["run_id"],
        kind=next(prompt.kind for prompt in dataset.prompts if prompt.id == retrieved["prompt_id"]),
        is_asked=any(found["verdict"] for found in retrieved["results"]),
        confidences=tuple(found["confidence"] for found in injected),
        matched=tuple(len(found["matched"]) or None for found in injected),
        scores=tuple(found["score"] for found in injected),
        probabilities={name: value for name, value in probabilities.items() if value is not None},
        digests={found["memory_id"]: found["digest"] for found in ranked},
    )


@store_test
@given(stored_datasets)
def test_outcomes_are_what_was_stored(dataset: Dataset) -> None:
    with opened(dataset) as (db,), LabelStore.open(db.path) as store:
        found = {(each.prompt_id, each.run_id): each for each in store.outcomes()}
    assert found == {(row["prompt_id"], row["run_id"]): expected(dataset, row) for row in dataset.retrievals}
