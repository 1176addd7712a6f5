"""What each format gives back of the store that it was given, and what it reads of files from elsewhere."""

import csv
import io
import json
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from engine.errors import ExchangeError
from labels import exchange
from labels.exchange.exporting import JudgedPair, events_in, judged_pairs, one_text_each, system_results
from labels.exchange.files import Dataset, FileText
from labels.exchange.merge import rows_of
from labels.exchange.registry import FORMATS, READABLE, recognise
from labels.exchange.replay_file import read_outcomes
from labels.exchange.trec import read_qrels
from labels.records import ADJUDICATE, NOT_RELEVANT, RELEVANT, SKIP, Event
from labels.tables import storable
from tests.labels.exchange.datasets import (
    MEMORY,
    RETRIEVED,
    check_label_studio,
    dataset,
    event,
    extract,
    made_run,
    moment,
    property_test,
    read,
    result,
    stored_datasets,
    texts,
    write,
)
from tests.labels.samples import write as write_lines


class Written:
    """A dataset in a store, and what formats give back of it."""

    def __init__(self, dataset: Dataset) -> None:
        self.store = extract(dataset)
        self.rows = rows_of(self.store)
        self.labels = events_in(self.store, "label_current")
        self.adjudications = events_in(self.store, "adjudication_current")
        self.pairs = judged_pairs(self.store)

    def back(self, name: str) -> Dataset:
        return read(name, FORMATS[name].write(self.store).encode("utf-8").decode("utf-8"))

    @property
    def agreed(self) -> list[JudgedPair]:
        """The pairs that people found relevant or not, with the text that was labelled last."""
        return [pair for pair in one_text_each(self.pairs) if pair.verdict in (RELEVANT, NOT_RELEVANT)]


def columns(events: Iterable[Event], *names: str) -> set[tuple[Any, ...]]:
    return {(event.prompt_id, *event.pair, *(getattr(event, name) for name in names)) for event in events}


SAID = ("annotator", "action", "verdict", "grade", "reason", "note", "ts", "blind", "elapsed_ms")


@property_test
@given(stored_datasets.map(Written))
def test_each_format_gives_back_what_it_holds(written: Written) -> None:
    assert written.back("jsonl") == written.rows
    fields = ("annotator", "verdict", "grade", "reason", "note")
    table = written.back("csv").events
    assert columns(table, *fields) == columns(written.labels, *fields)
    assert all(event.action != ADJUDICATE for event in table)
    given = [*written.labels, *written.adjudications]
    tasks, answers = written.back("label-studio"), written.back("prodigy")
    assert columns([event for event in tasks.events if event.action != SKIP], *SAID) == columns(given, *SAID)
    known = {prompt.id: (prompt.text, prompt.turns) for prompt in written.rows.prompts}
    assert all(known[prompt.id] == (prompt.text, prompt.turns) for prompt in tasks.prompts)
    texts = {(memory.id, memory.digest): memory for memory in written.rows.memories}
    for memory in tasks.memories:
        kept = texts[memory.id, memory.digest]
        assert (memory.title, memory.body or "", memory.tags) == (kept.title, kept.body or "", kept.tags)
    skips = [skip for pair in written.pairs for skip in pair.skips]
    assert columns(answers.events, *SAID) == columns([*given, *skips], *SAID)
    for memory in answers.memories:
        kept = texts[memory.id, memory.digest]
        assert (memory.title, memory.body) == (kept.title, kept.body)


@property_test
@given(stored_datasets.map(Written))
def test_trecs_files_give_back_gold_grades_and_what_each_system_injects_in_its_order(written: Written) -> None:
    found = {(event.prompt_id, event.memory_id): event.verdict for event in written.back("qrels").events}
    assert found == {(pair.prompt.id, pair.memory.id): pair.verdict for pair in written.agreed}
    settled = {(event.prompt_id, event.memory_id): event.verdict for event in written.adjudications}
    assert all(found.get(pair) == verdict for pair, verdict in settled.items() if verdict in (RELEVANT, NOT_RELEVANT))
    graded = {(pair.prompt.id, pair.memory.id): pair.grade for pair in written.agreed if pair.grade is not None}
    back = {(event.prompt_id, event.memory_id): event.grade for event in written.back("qrels-graded").events}
    assert {pair: back[pair] for pair in graded} == graded
    injected: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for row in system_results(written.store):
        if row["injected"]:
            injected.setdefault((row["system"], row["prompt_id"]), []).append((row["memory_id"], row["score"]))
    assert injected == {
        (row["run_id"], row["prompt_id"]): [(each["memory_id"], each["score"]) for each in row["results"]]
        for row in written.back("run").retrievals
    }


@property_test
@given(stored_datasets.map(Written))
def test_a_file_is_recognised_by_how_it_begins_and_no_cell_of_a_table_begins_a_formula(written: Written) -> None:
    made = {name: FORMATS[name].write(written.store) for name in READABLE}
    check_label_studio(json.loads(made["label-studio"]), FORMATS["label-studio"].interface)
    cells = [cell for row in csv.reader(io.StringIO(made["csv"], newline="")) for cell in row]
    assert not [cell for cell in cells if cell.startswith(tuple("=+-@\t\r\n＝＋－＠"))], (
        "a formula (OWASP, CSV injection)"
    )
    for name in set(READABLE) - {"qrels-graded"}:  # grades look like verdicts
        if made[name].strip() and any(pair.labels for pair in written.pairs):  # else there is nothing to go by
            assert recognise(FileText(Path("file"), made[name])) is FORMATS[name], name


def test_the_readme_of_the_folder_names_every_format_and_file() -> None:
    folder = Path(exchange.__file__).parent
    readme = (folder / "README.md").read_text(encoding="utf-8")
    modules = [file.name for file in folder.glob("*.py") if file.stem != "__init__"]
    assert [name for name in [*FORMATS, *modules] if f"`{name}`" not in readme] == []


# CSV for spreadsheets


def test_an_apostrophe_of_the_text_is_left_alone_and_a_table_may_have_another_countrys_separator() -> None:
    for note in ("'tis", "'", "it's", ""):
        for delimiter in (",", ";", "\t"):
            text = f"prompt_id,memory_id,label:jan,note:jan\r\np1,m1,not,{note}\r\n".replace(",", delimiter)
            (label,) = read("csv", text).events
            assert (label.annotator, label.verdict, label.note) == ("jan", NOT_RELEVANT, note)


@property_test
@given(texts)
def test_every_cell_comes_back(note: str) -> None:
    (label,) = read("csv", write("csv", dataset(event("a", note=note)))).events
    assert label.note == storable(note)


def test_a_table_that_was_cut_off_gives_whole_labels_or_an_error() -> None:
    notes = ("plain", 'two\nlines, "quoted"', "")
    labels = [event(str(number), memory_id=f"m{number}", note=note) for number, note in enumerate(notes)]
    run = dataset(*labels, runs=(made_run("r"),), retrievals=(RETRIEVED,))
    whole, accepted = write("csv", run), 0
    everything = read("csv", whole).events
    for size in range(len(whole.split("\n")[0]), len(whole)):
        with suppress(ExchangeError):
            found = read("csv", whole[:size]).events
            assert found == everything[: len(found)]
            accepted += 1
    assert 0 < accepted < len(whole) / 4


def test_a_table_shows_systems_and_judges_beside_people() -> None:
    run = dataset(event("a", grade=3), runs=(made_run("r"),), retrievals=(RETRIEVED,))
    rows = list(csv.DictReader(io.StringIO(write("csv", run), newline="")))
    assert [(row["memory_id"], row["label:jan"], row["grade:jan"], row["system:bm25"]) for row in rows] == [
        ("m 3", "", "", "injected"),
        ("m1", "relevant", "3", "injected"),
    ]


# Label Studio and Prodigy


def tasks_of(given_dataset: Dataset) -> Any:
    return json.loads(write("label-studio", given_dataset))


def test_a_task_holds_everybodys_annotation_and_a_skip_is_cancelled() -> None:
    skip = event("c", "lou", None, action=SKIP, elapsed_ms=1500, ts=moment(1))
    (task,) = tasks_of(dataset(event("a"), event("b", "kim", NOT_RELEVANT), skip))
    given_by = [(each["annotator"], each["was_cancelled"], each["lead_time"]) for each in task["annotations"]]
    assert given_by == [("jan", False, 0.0), ("kim", False, 0.0), ("lou", True, 1.5)]


def annotators_of(*users: Any) -> list[str]:
    """The annotators of annotations that these users of Label Studio made."""
    result = [{"from_name": "relevance", "to_name": "memory", "type": "choices", "value": {"choices": ["not"]}}]
    annotations = [{"completed_by": user, "result": result} for user in users]
    task = {"data": {"prompt": "q", "memory_id": "m"}, "annotations": annotations}
    return [label.annotator for label in read("label-studio", json.dumps([task])).events]


def test_label_studios_users_are_told_apart_without_their_addresses() -> None:
    users = {"id": 3, "email": "Jan@Example.org "}, {"id": 4, "email": "jan@example.org"}, {"email": "kim@example.org"}
    same, jan, kim = annotators_of(*users)
    assert same == jan != kim
    assert jan.startswith("person-")
    assert annotators_of({"email": jan}) == [jan]
    assert annotators_of(7, {"id": 3}, None) == ["user-7", "user-3", "label-studio"]


def test_what_prodigy_accepts_is_relevant_whatever_was_said_before() -> None:
    row = json.loads(write("prodigy", dataset(event("a", verdict=NOT_RELEVANT))))
    (label,) = read("prodigy", json.dumps({**row, "answer": "accept"})).events
    assert label.verdict == RELEVANT


def test_an_answer_without_a_choice_is_left_out_and_named() -> None:
    (task,) = tasks_of(dataset(event("a", ts=moment(1))))
    task["annotations"].insert(0, {"result": [], "created_at": moment(2)})
    found = read("label-studio", json.dumps([task, task]))
    assert [label.verdict for label in found.events] == [RELEVANT, RELEVANT]
    assert found.unanswered == ("$[0].annotations[0]", "$[1].annotations[0]")
    row = json.loads(write("prodigy", dataset(event("a"))))
    found = read("prodigy", "\n".join(json.dumps({**row, "answer": answer}) for answer in (None, "accept")))
    assert ([label.verdict for label in found.events], found.unanswered) == ([RELEVANT], ("line 1",))


def test_an_annotation_is_as_new_as_its_last_change() -> None:
    (task,) = tasks_of(dataset(event("a", ts=moment(1))))
    task["annotations"][0]["updated_at"] = moment(5)
    (label,) = read("label-studio", json.dumps([task])).events
    assert label.ts == moment(5)


# Qrels and runs


def test_an_id_that_is_not_escaped_is_what_it_is_and_an_empty_one_is_refused() -> None:
    for name in ("50%", "%41", "%zz", "%ff", "a+b", "%", "plain"):
        (label,) = read("qrels", f"{name} 0 {name} 1").events
        assert (label.prompt_id, label.memory_id) == (name, name)
    nameless = dataset(event("a", memory_id=""), memories=(MEMORY._replace(id=""),))
    with pytest.raises(ExchangeError, match=r"empty id, which TREC's files cannot hold\. Use another format"):
        write("qrels", nameless)


def test_qrels_are_of_verdicts_or_of_grades_and_of_two_texts_of_the_one_labelled_last(tmp_path: Path) -> None:
    labels = [
        event("a", grade=1, verdict=NOT_RELEVANT),
        event("b", memory_id="m2"),
        event("c", memory_id="m3", grade=3),
    ]
    assert write("qrels", dataset(*labels)).split("\n") == ["p1 0 m1 0", "p1 0 m2 1", "p1 0 m3 1", ""]
    assert write("qrels-graded", dataset(*labels)).split("\n") == ["p1 0 m1 1", "p1 0 m2 2", "p1 0 m3 3", ""]
    (tmp_path / "q").write_text(write("qrels", dataset(*labels)))
    assert read_qrels(tmp_path / "q") == {"p1": {"m1": False, "m2": True, "m3": True}}
    labels = [event("a", ts=moment(1)), event("b", verdict=NOT_RELEVANT, digest="d0", ts=moment(0))]
    assert write("qrels", dataset(*labels)) == "p1 0 m1 1\n"


def test_a_run_has_the_newest_retrieval_with_higher_scores_for_better_and_is_read_by_its_scores() -> None:
    run = dataset(runs=(made_run("r", "bm25 judge"),), retrievals=(RETRIEVED,))
    assert write("run", run) == "p1 Q0 m1 1 9.5 bm25%20judge\np1 Q0 m%203 2 7.25 bm25%20judge\n"
    assert [row.split()[2:5] for row in write("run-candidates", run).splitlines()] == [
        ["m1", "1", "9.5"],
        ["m2", "2", "8.0"],
        ["m%203", "3", "7.25"],
    ]
    newer = {**RETRIEVED, "run_id": "s", "ts": moment(2), "results": RETRIEVED["results"][:1]}
    run = dataset(runs=(made_run("r"), made_run("s")), retrievals=(newer, RETRIEVED))
    assert write("run", run) == "p1 Q0 m1 1 9.5 bm25\n"
    (retrieved,) = read("run", "p1 Q0 a 1 1.0 x\np1 Q0 b 2 3.0 x\n").retrievals
    assert [(found["memory_id"], found["rank"]) for found in retrieved["results"]] == [("b", 1), ("a", 2)]


def test_equal_scores_of_a_run_fall_with_the_rank_in_single_precision() -> None:
    scores = (-9.5, -9.5, -9.5 + 1e-12, -8.0, -8.5, 0.0, 0.0)
    results = [result(f"m{rank}", "d", rank, score, injected=True) for rank, score in enumerate(scores, start=1)]
    run = dataset(runs=(made_run("r"),), retrievals=({**RETRIEVED, "results": results},))
    written = [float(row.split()[4]) for row in write("run", run).splitlines()]
    assert written == pytest.approx([9.5, 9.5, 9.5, 8.0, 8.0, 0.0, 0.0], abs=1e-5)
    singles = [np.float32(score) for score in written]
    assert all(second < first for first, second in pairwise(singles))
    (back,) = read("run", write("run", run)).retrievals
    assert [found["memory_id"] for found in back["results"]] == [found["memory_id"] for found in results]


def test_qrels_are_read_by_prompt_and_memory_and_negative_grades_say_that_nobody_judged(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "q", "p1 0 a 1", "p1\t0\tb\t0", "", "  p2 Q0 c 3  ", "p1 0 d -1", "p1 0 e -2")
    assert read_qrels(path) == {"p1": {"a": True, "b": False}, "p2": {"c": True}}
    path.write_bytes(b"\xef\xbb\xbfp1 0 a 1\r\np1 0 b 0\r\n")  # Windows
    assert read_qrels(path) == {"p1": {"a": True, "b": False}}


def test_names_in_qrels_and_runs_are_compared_however_an_accent_is_written(tmp_path: Path) -> None:
    name = unicodedata.normalize("NFD", "café")
    path = write_lines(tmp_path / "q", f"{name} 0 {name} 1")
    assert read_qrels(path) == {"café": {"café": True}}
    row = {"prompt_id": name, "system": "bm25", "injected": [{"id": name}], "candidates": []}
    (outcome,) = read_outcomes(write_lines(tmp_path / "r", json.dumps(row)))
    assert (outcome.prompt_id, outcome.injected) == ("café", ("café",))
