import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.config import Config, JudgeConfig, config_json
from engine.lean import record as records
from engine.prompt import TYPED
from engine.retrieval import Retrieval
from labels.exchange.replay_file import read_outcomes, run_row
from labels.exchange.trec import read_qrels
from labels.measure.evidence import EXCLUDE, Evidence, evidence_from_qrels
from labels.measure.gate import Gate, GateReport, gate_report
from labels.measure.intervals import Interval, wilson
from labels.measure.metrics import Ratio
from labels.measure.report import Report, SystemReport, build_report, report_from_store
from labels.records import NOT_RELEVANT, RELEVANT, UNSURE, Judgements, Outcome
from labels.report.gate_text import gate_text
from labels.report.notes import notes
from labels.store import LabelStore
from tests.labels.samples import ROOT, judged, known, outcome, record, retrieval, say, write

DIGESTS = {memory_id: f"digest-of-{memory_id}" for memory_id in "abcdef"}


def system(report: Report, name: str) -> SystemReport:
    return next(each for each in report.systems if each.system == name)


def replayed(store: LabelStore) -> None:
    record(store, retrieval(["a", "b", "c"]), judged(["a"], ["b", "c", "d"]))
    record(store, retrieval(["a", "b"], prompt_id="p2"), judged([], ["a", "b"], prompt_id="p2"))


def labelled(store: LabelStore) -> None:
    replayed(store)
    said = {"p1 a": RELEVANT, "p1 b": RELEVANT, "p1 c": UNSURE, "p2 a": NOT_RELEVANT, "p2 b": NOT_RELEVANT}
    for pair, verdict in said.items():
        say(store, pair, verdict, titles=0)


def test_served_counts_prompts_in_need_also_of_a_silent_system_and_grades_below_2_are_no_need(
    store: LabelStore,
) -> None:
    replayed(store)
    for said, grade in (("p1 a", 1), ("p1 b", 2), ("p1 c", 0), ("p1 d", None), ("p2 a", 3), ("p2 b", None)):
        say(store, said, RELEVANT if grade else NOT_RELEVANT, grade=grade, titles=0)
    bm25, judge = report_from_store(store, ROOT, DIGESTS).systems
    assert (bm25.served.relevant, judge.served.relevant) == (Ratio(2, 2), Ratio(0, 2))
    assert judge.precision == Ratio(1, 1)  # silence and a small help look perfect


def test_the_report_measures_every_system_on_the_labels_grades_the_judge_and_counts_the_labels(
    store: LabelStore,
) -> None:
    labelled(store)
    report = report_from_store(store, ROOT, DIGESTS)
    bm25, judge = report.systems
    assert (bm25.system, bm25.prompts, bm25.precision) == ("bm25", 2, Ratio(2, 4))
    assert bm25.interval == wilson(0.5, 1.0)  # the design effect of 2/2 and 0/2 is 4
    assert (bm25.bounds, bm25.unjudged) == (Interval(2 / 5, 3 / 5), Ratio(1, 5))
    assert (bm25.fire_rate, bm25.false_fire_rate, bm25.silent) == (Ratio(2, 2), Ratio(1, 1), 0)
    assert (bm25.irrelevant_per_prompt, bm25.lost_per_prompt) == (Ratio(2, 2), Ratio(0, 2))
    assert bm25.recall_in_pool == Ratio(2, 2)
    assert (bm25.served.relevant, judge.served.relevant) == (Ratio(1, 1), Ratio(1, 1))
    assert bm25.agreement is None
    assert (judge.system, judge.precision, judge.silent) == ("bm25+judge", Ratio(1, 1), 1)
    assert (judge.fire_rate, judge.false_fire_rate) == (Ratio(1, 2), Ratio(0, 1))
    assert (judge.lost_per_prompt, judge.recall_in_pool) == (Ratio(1, 2), Ratio(1, 2))
    assert (judge.median_ms, judge.fallbacks) == (211.5, Ratio(0, 2))
    agreement = known(judge.agreement)
    assert (agreement.sensitivity, agreement.specificity) == (Ratio(1, 2), Ratio(2, 2))
    assert [each.memory_id for each in agreement.disagreements] == ["b"]
    assert report.labels == {"relevant": 2, "not": 2, "unsure": 1, "unrateable": 0}
    assert (report.prompts, report.labelled_prompts, report.annotators) == (2, 2, ("ann",))
    assert (report.stale, report.blind) == (0, Ratio(5, 5))
    assert not any("edited or removed since:" in note for note in notes(report))


def test_stale_and_retracted_labels_do_not_count(store: LabelStore) -> None:
    labelled(store)
    report = report_from_store(store, ROOT, {**DIGESTS, "a": "edited"})
    assert system(report, "bm25").precision == Ratio(1, 2)
    assert report.stale == 2
    assert "2 labels are stale: the memory was edited or removed since. Stale labels do not count." in notes(report)
    edited = "1 of the 4 memories that the replays brought up was edited or removed since"
    assert any(edited in note for note in notes(report))
    store.undo("ann")
    assert system(report_from_store(store, ROOT, DIGESTS), "bm25").precision == Ratio(2, 3)


def test_a_label_on_another_text_than_the_replayed_one_waits(store: LabelStore) -> None:
    record(store, retrieval(["a"]))
    say(store, "p1 a", RELEVANT, digest="edited")
    report = report_from_store(store, ROOT, {"a": "edited"})
    assert system(report, "bm25").precision.value is None
    assert any("1 label is about a newer or older text than the one replayed" in note for note in notes(report))
    record(store, retrieval(["a"], digests={"a": "edited"}), corpus_hash="c2")
    assert system(report_from_store(store, ROOT, {"a": "edited"}), "bm25").precision == Ratio(1, 1)
    record(store, retrieval(["a"], digests={"a": "edited again"}), corpus_hash="c3")
    assert system(report_from_store(store, ROOT), "bm25").precision.value is None, "an old label does not count"


def test_the_notes_say_what_is_not_known(store: LabelStore) -> None:
    replayed(store)
    assert notes(report_from_store(store, ROOT, DIGESTS)) == (
        "None of these prompts has a label: precision cannot be known.",
    )
    say(store, "p1 a", RELEVANT)
    text = "\n".join(notes(report_from_store(store, ROOT)))
    assert "not compared with the memories as they are now" in text
    assert "not measured: no prompt with a list card yet. The labels are of what some system found" in text


def test_mixed_runs_and_different_prompts_are_noted(store: LabelStore) -> None:
    record(store, retrieval(["a"]), judged(["a"], []))
    record(store, retrieval(["a"], prompt_id="p2"), corpus_hash="c2")
    text = "\n".join(notes(report_from_store(store, ROOT, DIGESTS)))
    assert "bm25: results of 2 runs that were not made alike: the memories changed in between." in text
    assert "bm25+judge: results" not in text
    assert "The systems were not replayed on the same prompts" in text


def replay(store: LabelStore, prompt_id: str, config: Config, root: str = ROOT) -> None:
    """One prompt through bm25 and the judge, as *config* says."""
    both = retrieval(["a"], prompt_id=prompt_id), judged(["a"], [], prompt_id=prompt_id)
    record(store, *both, root=root, config_json=config_json(config), corpus_hash=f"of {root}")


def test_runs_with_another_configuration_than_the_present_one_are_noted(store: LabelStore) -> None:
    replay(store, "p1", Config(max_inject=2))
    replay(store, "p2", Config(max_inject=3))
    note = (
        "bm25: 1 of 2 prompts were replayed with another configuration than the present one (max_inject was 2, is 3). "
        "Replay them again with memsift replay --save; the labels stay."
    )
    assert note in notes(report_from_store(store, ROOT, DIGESTS, config=Config(max_inject=3)))
    assert not any("present one" in each for each in notes(report_from_store(store, ROOT, DIGESTS)))
    replay(store, "p1", Config(max_inject=3))
    assert not any("present one" in each for each in notes(report_from_store(store, ROOT, config=Config(max_inject=3))))


def test_only_settings_of_their_system_make_runs_differ(store: LabelStore) -> None:
    asked, other = JudgeConfig(model="one"), JudgeConfig(model="two")
    replay(store, "p1", Config(judge=asked))
    replay(store, "p2", Config(judge=other, deadline=5.0))
    replay(store, "p3", Config(judge=other), root="/elsewhere")
    found = [each for each in notes(report_from_store(store)) if "made alike" in each]
    assert found == ['bm25+judge: results of 2 runs that were not made alike: judge.model was "one" or "two".']


def test_runs_without_a_configuration_are_no_difference_and_imported_ones_are(store: LabelStore) -> None:
    made = ["", config_json(Config()), '{"imported": "0123"}']
    for number, each in enumerate(made):
        record(store, retrieval(["a"], prompt_id=f"p{number}"), config_json=each)
        mixed = [note for note in notes(report_from_store(store, ROOT, config=Config())) if "made alike" in note]
        assert bool(mixed) == (number == 2)
    assert mixed[0].endswith("made alike: not all were made here, and a file does not say how they were.")


def test_the_time_of_a_system_is_the_median_of_its_prompts() -> None:
    rows = [outcome(["a"], prompt_id=f"p{ms}")._replace(elapsed_ms=ms) for ms in (9.0, 1.0, 2.0)]
    assert build_report(Evidence(rows, {})).systems[0].median_ms == 2.0


def run_and_qrels(tmp_path: Path, *qrels: str) -> tuple[Sequence[Outcome], Judgements]:
    first, second = retrieval(["a", "b", "c"]), retrieval(["d", "e"], prompt_id="p2")
    replayed = (first, judged(["a"], ["b", "c"]), second, judged([], ["d", "e"], prompt_id="p2"))
    run = write(tmp_path / "run.jsonl", *(json.dumps(run_row(each)) for each in replayed))
    return read_outcomes(run), read_qrels(write(tmp_path / "qrels.txt", *qrels))


def test_a_pair_that_is_not_in_the_qrels_counts_as_not_relevant(tmp_path: Path) -> None:
    report = build_report(evidence_from_qrels(*run_and_qrels(tmp_path, "p1 0 a 1", "p1 0 b 0", "p1 0 never-found 1")))
    bm25, judge = report.systems
    assert (bm25.precision, bm25.unjudged) == (Ratio(1, 5), Ratio(3, 5))
    assert (bm25.fire_rate, bm25.false_fire_rate, judge.false_fire_rate) == (Ratio(2, 2), Ratio(1, 1), Ratio(0, 1))
    assert (bm25.irrelevant_per_prompt, judge.irrelevant_per_prompt) == (Ratio(4, 2), Ratio(0, 2))
    assert (bm25.recall_in_pool, bm25.recall_of_known) == (Ratio(1, 1), Ratio(1, 2))
    agreement = known(judge.agreement)
    assert (agreement.sensitivity, agreement.specificity) == (Ratio(1, 1), Ratio(4, 4))
    assert any(
        note == "bm25: 3 of 5 injected memories (60 %) are not in the qrels and count as not relevant, "
        "by TREC's convention."
        for note in notes(report)
    )
    assert (bm25.assumed, judge.assumed) == (0, 3)
    assert (
        "bm25+judge: 3 of the 5 memories that its judge is graded on are not in the qrels and count as not relevant."
        in notes(report)
    )


def test_pairs_that_are_not_in_the_qrels_can_be_left_out(tmp_path: Path) -> None:
    report = build_report(evidence_from_qrels(*run_and_qrels(tmp_path, "p1 0 a 1", "p1 0 b 0"), EXCLUDE))
    bm25 = system(report, "bm25")
    assert (bm25.precision, bm25.unjudged, bm25.bounds) == (Ratio(1, 2), Ratio(3, 5), Interval(1 / 5, 4 / 5))
    assert bm25.false_fire_rate == Ratio(1, 1)
    assert [each.assumed for each in report.systems] == [0, 0]
    assert any(
        "3 of 5 injected memories (60 %) are not in the qrels and are left out." in note for note in notes(report)
    )


def test_an_unknown_way_to_count_unjudged_pairs_is_refused() -> None:
    with pytest.raises(ValueError, match="perhaps"):
        evidence_from_qrels((), {}, "perhaps")


def test_a_memory_edited_between_two_replays_counts_as_edited(store: LabelStore) -> None:
    record(store, retrieval(["a"]), retrieval(["a"], {"b": "cap"}, system="bm25+cutoff", digests={"a": "edited"}))
    found = notes(report_from_store(store, ROOT, {**DIGESTS, "a": "edited"}))
    assert any("1 of the 2 memories that the replays brought up was edited or removed since" in note for note in found)


def test_one_reading_of_the_store_gives_the_report_and_the_gate(store: LabelStore) -> None:
    """A screen that reads the store again for each number waits for it, and mixes two states of it."""
    labelled(store)
    asked: list[str] = []
    store._db._db.conn.set_trace_callback(asked.append)
    report = report_from_store(store, ROOT, DIGESTS, config=Config())
    gate = gate_report(report.evidence, "bm25", Gate(0.5, Interval(0.5, 0.5)))
    assert (report.labelled_prompts, gate.labels) == (2, 5)
    assert sum(statement.lstrip().startswith(("SELECT", "WITH")) for statement in asked) <= 15


# Prompts that a person typed in Replay are no random sample


def typed(made: Retrieval) -> Retrieval:
    return records.replace(made, prompt=records.replace(made.prompt, source=TYPED))


def test_no_number_of_report_and_gate_counts_typed_prompts_until_a_file_has_them(store: LabelStore) -> None:
    def both() -> tuple[Report, GateReport]:
        report = report_from_store(store, ROOT, DIGESTS)
        return report, gate_report(report.evidence, "bm25", Gate(0.5, Interval(0.5, 0.5)))

    def replayed(name: str) -> tuple[Retrieval, Retrieval]:
        return retrieval(["a", "b"], prompt_id=name), judged(["a"], ["b"], prompt_id=name)

    for name in (f"p{number}" for number in range(6)):
        record(store, *replayed(name))
        say(store, f"{name} a")
        say(store, f"{name} b", NOT_RELEVANT)
    (before, decided), note = both(), "2 prompts chosen by hand are left out: prompts that somebody typed or picked are"
    for name in ("t1", "t2", "unlabelled"):
        record(store, *map(typed, replayed(name)))
    for said in ("t1 a", "t1 b", "t2 a", "t2 b"):
        say(store, said, NOT_RELEVANT)
    after, still = both()
    assert (after.systems, after.labels, after.worst_prompts) == (before.systems, before.labels, before.worst_prompts)
    assert (after.systems[0].precision.value, after.prompts, after.labelled_prompts) == (0.5, 6, 6)
    assert replace(still, evidence=decided.evidence) == decided
    assert [any(one.startswith(note) for one in notes(report)) for report in (before, after)] == [False, True]
    assert note in " ".join(gate_text(still, is_full=True).split())
    record(store, retrieval(["a", "b"], prompt_id="t1"))
    assert report_from_store(store, ROOT).labelled_prompts == 7
