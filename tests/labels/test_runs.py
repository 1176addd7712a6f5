"""Recorded retrievals, the outcomes that are read back, and the settings of runs."""

import json

import pytest
from hypothesis import given

from engine import default_model
from engine.config import SYSTEMS, Config, JudgeConfig, config_json
from engine.cutoff import Cutoff, default_cutoff
from engine.errors import LabelStoreError
from engine.judge.verdict import APPROVED
from engine.lean.record import replace
from engine.prompt import Prompt, Turn
from labels.exchange.files import Dataset, Row
from labels.records import JudgeCall, Outcome, RunSettings
from labels.run_settings import changed_settings, changes, differences, settings_json
from labels.runs import run_id
from labels.store import LabelStore
from tests.engine.models import cutoff
from tests.labels.exchange.datasets import opened, store_test, stored_datasets
from tests.labels.samples import ROOT, judged, known, outcome, pool_of, query, record, retrieval, say


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
    kept = query(store.path, "SELECT text, context_json, kind, source, session_id, cwd, ts FROM prompt")
    context = json.dumps([{"role": "user", "text": "hi"}, {"role": "assistant", "text": "hello"}])
    assert kept == [("fix that", context, "context", "f.jsonl", "s", "/w", "t")]
    assert query(
        store.path, "SELECT memory_id, title, tags, body, category FROM memory_version ORDER BY memory_id"
    ) == [
        ("a", "Title of a", '["auth", "tokens"]', "Body of a", "decision"),
        ("b", "Title of b", '["auth", "tokens"]', "Body of b", "decision"),
    ]
    assert query(store.path, "SELECT memory_id, rank, score, injected, dropped_by FROM result ORDER BY rank") == [
        ("a", 1, -9.0, 1, None),
        ("b", 2, -8.0, 0, "floor"),
    ]
    assert query(store.path, "SELECT root, system, corpus_hash FROM run") == [(ROOT, "bm25", "c1")]


def test_what_a_verdict_is_drawn_from_and_what_it_cost_is_kept(store: LabelStore) -> None:
    retrieval = judged(["a"], ["b"])
    assert retrieval.judgement
    sure = [
        replace(one, confidence=0.9, samples=3, agreement=2 / 3, source="cache") for one in retrieval.judgement.verdicts
    ]
    judgement = replace(retrieval.judgement, verdicts=tuple(sure), depth="explained", cost_usd=0.0005)
    record(store, replace(retrieval, judgement=judgement))
    assert query(store.path, "SELECT depth, cost_usd, template_hash FROM judge_call") == [
        ("explained", 0.0005, "0123456789abcdef")
    ]
    assert (
        query(store.path, "SELECT confidence, samples, agreement, source FROM judge_verdict")
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
    counts = [query(store.path, f"SELECT count(*) FROM {table}") for table in ("retrieval", "result", "judge_verdict")]
    assert counts == [[(1,)], [(2,)], [(2,)]]


def test_a_pool_keeps_strata_and_probabilities_and_no_body_is_lost(store: LabelStore) -> None:
    record(store, retrieval(["a"]))
    store.record_pool(pool_of("a", "b"))
    store.record_pool(pool_of("a", "b"))
    assert query(store.path, "SELECT memory_id, stratum, inclusion_probability, seed FROM frame") == [
        ("a", "injected", 1.0, 1),
        ("b", "injected", 1.0, 1),
    ]
    assert query(store.path, "SELECT memory_id, body FROM memory_version") == [("a", "Body of a"), ("b", None)]


def test_a_labelled_prompt_cannot_become_another_text(store: LabelStore) -> None:
    record(store, retrieval(["a"], text="first"))
    record(store, retrieval(["a"], text="second"))
    say(store, "p1 a")
    record(store, retrieval(["b"], text="second"))
    with pytest.raises(LabelStoreError, match=r"'p1' was labelled .* with another text"):
        record(store, retrieval(["c"], text="third"))
    assert query(store.path, "SELECT text FROM prompt") == [("second",)]
    assert [outcome.injected for outcome in store.outcomes()] == [("b",)]


def test_a_retrieval_is_recorded_whole_or_not_at_all(store: LabelStore) -> None:
    record(store, retrieval(["a"]))
    twice = retrieval(["b"])
    with pytest.raises(LabelStoreError, match="UNIQUE constraint failed"):
        record(store, replace(twice, candidates=twice.candidates * 2))
    assert [outcome.injected for outcome in store.outcomes()] == [("a",)]
    assert query(store.path, "SELECT memory_id FROM memory_version") == [("a",)]


def test_half_a_character_in_a_prompt_does_not_stop_recording(store: LabelStore) -> None:
    record(store, retrieval(["a"], text="broken \ud83d emoji"))
    say(store, "p1 a")
    record(store, retrieval(["a"], text="broken \ud83d emoji"))
    assert query(store.path, "SELECT text FROM prompt") == [("broken ? emoji",)]


# Outcomes as the store reads them back, for any stored retrievals


def expected(dataset: Dataset, retrieved: Row) -> Outcome:
    asked = {event.memory_id for event in dataset.events if event.prompt_id == retrieved["prompt_id"]}
    ranked = [found for found in retrieved["results"] if found["injected"] or found["memory_id"] in asked]
    injected = [found for found in ranked if found["injected"]]
    probabilities = {found["memory_id"]: found["probability"] for found in ranked}
    is_asked = any(found["verdict"] for found in retrieved["results"])
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
        is_asked=is_asked,
        call=retrieved["call"] and JudgeCall(2.5, None, answers=int(is_asked), is_live=True),
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


# Settings


JUDGED, CUT, DEFAULT = "memsift+judge", "memsift+cutoff", "memsift+default"
FIRST, ASKED = SYSTEMS["memsift"], SYSTEMS[JUDGED]
ONCE, THRICE = settings_json(Config(), samples=1), settings_json(Config(), samples=3)


def made(settings: str = "{}", corpus_hash: str = "c") -> RunSettings:
    return RunSettings(ROOT, settings, corpus_hash)


def test_replays_with_other_samples_or_another_cutoff_are_other_runs_and_else_are_called_as_before() -> None:
    config = Config()
    ways = [{}, {"samples": 1}, {"samples": 3}, {"cutoff": cutoff()}, {"cutoff": cutoff(threshold=0.6)}]
    assert len({run_id(ROOT, "s", settings_json(config, **way), "c") for way in ways}) == len(ways)  # type: ignore[arg-type]
    assert settings_json(config, cutoff=cutoff()) == settings_json(config, cutoff=cutoff())
    assert json.loads(settings_json(config, samples=3))["judge"]["samples"] == 3
    older = json.loads(config_json(Config(max_inject=2)))
    del older["cutoff"], older["cutoff_threshold"]
    for config in (Config(max_inject=2), Config(max_inject=2, cutoff="off", cutoff_threshold=0.3)):
        assert json.loads(settings_json(config)) == older


def test_only_settings_that_bear_on_what_is_injected_count_and_the_judges_where_it_is_configured() -> None:
    then, idle = config_json(Config()), Config(judge=JudgeConfig(model="other"))
    asked = replace(idle, judge=replace(idle.judge, enabled=True))
    thrice = settings_json(asked, samples=3)
    for recorded, system, now, told in (
        (then, FIRST, Config(output_mode="tiered", deadline=5.0, hints=True), ()),
        (then, FIRST, Config(noise_floor=0.5), ("noise_floor was null, is 0.5",)),
        (then, ASKED, idle, ()),
        (then, FIRST, asked, ()),
        (then, ASKED, asked, ('judge.model was "claude-haiku-4-5", is "other"',)),
        (thrice, ASKED, asked, ()),  # a replay may take more samples than the hook
    ):
        assert changed_settings(recorded, system, now) == told
    assert changed_settings(then, ASKED, asked, has_judge=False) == ()


def test_what_another_cutoff_left_out_is_told() -> None:
    config, tuned, anew = Config(), cutoff(), cutoff(threshold=0.6)
    runs = {"r": made(settings_json(config, cutoff=tuned)), "plain": made(settings_json(config))}
    rows = [outcome(["a"], system=CUT, run_id="r"), outcome(["a"], system="memsift", run_id="plain")]
    assert changes(rows, runs, config, tuned) == {}
    assert changes(rows, runs, config) == {}
    assert changes(rows, runs, config, anew) == {"r": ("the cutoff was tuned anew",)}


def shipped(**changes: float) -> Cutoff:
    """The default cutoff, or that of another version of memsift."""
    made = known(default_cutoff(Config()))
    return Cutoff(replace(made.model, **changes), made.kind)


def test_what_the_default_cutoff_of_another_version_left_out_is_told_and_its_settings_by_name() -> None:
    config, other = Config(), shipped(intercept=default_model.INTERCEPT + 1)
    runs = {"now": made(settings_json(config, cutoff=shipped())), "then": made(settings_json(config, cutoff=other))}
    rows = [outcome(["a"], system=DEFAULT, run_id=name) for name in runs]
    for in_use in (shipped(), cutoff(), None):
        assert changes(rows, runs, config, in_use) == {"then": ("the default cutoff is of another version of memsift",)}
    assert differences(DEFAULT, [*runs.values()]) == ("the default cutoff is of another version of memsift",)
    run = {"r": made(settings_json(Config(), cutoff=shipped()))}
    rows = [outcome(["a"], system=DEFAULT, run_id="r")]
    assert changes(rows, run, Config(cutoff="off")) == {}
    assert changes(rows, run, Config(max_inject=2)) == {"r": ("max_inject was 3, is 2",)}
    assert changes(rows, run, Config(cutoff_threshold=0.7)) == {"r": ("cutoff_threshold was null, is 0.7",)}
    plain = {"r": made(settings_json(Config()))}
    assert changes([outcome(["a"], system="memsift", run_id="r")], plain, Config(cutoff_threshold=0.7)) == {}


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (made(ONCE), made(THRICE), "judge.samples was 1 or 3"),
        (made(config_json(Config())), made(THRICE), None),  # of an older memsift
        (made(corpus_hash="one"), made(corpus_hash="two"), "the memories changed in between"),
        (
            made(settings_json(Config(), cutoff=cutoff())),
            made(settings_json(Config(), cutoff=cutoff(doubt=0.2))),
            "the cutoff was tuned anew",
        ),
        (made(""), made(config_json(Config())), None),
        (
            made(f'{{"seed": "{"x" * 50}1"}}'),
            made(f'{{"seed": "{"x" * 50}2"}}'),
            f'seed was "{"x" * 39} or "{"x" * 39}',
        ),
    ],
)
def test_runs_differ_in_what_both_recorded(first: RunSettings, second: RunSettings, told: str | None) -> None:
    assert differences(JUDGED, [first, second]) == ((told,) if told else ())
    assert differences(JUDGED, [first]) == differences(JUDGED, []) == ()
