"""What each format gives back of the store that it was given."""

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import given

from labels import exchange
from labels.exchange.exporting import JudgedPair, events_in, judged_pairs, one_text_each, system_results
from labels.exchange.files import Dataset, FileText
from labels.exchange.merge import rows_of
from labels.exchange.registry import FORMATS, READABLE, recognise
from labels.records import ADJUDICATE, NOT_RELEVANT, RELEVANT, SKIP, Event
from tests.labels.exchange.datasets import extract, property_test, read, stored_datasets
from tests.labels.exchange.schemas import check_label_studio


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


def verdicts(read: Dataset) -> dict[tuple[str, str], str | None]:
    return {(event.prompt_id, event.memory_id): event.verdict for event in read.events}


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
    found = verdicts(written.back("qrels"))
    assert found == {(pair.prompt.id, pair.memory.id): pair.verdict for pair in written.agreed}
    settled = {(event.prompt_id, event.memory_id): event.verdict for event in written.adjudications}
    assert all(found.get(pair) == verdict for pair, verdict in settled.items() if verdict in (RELEVANT, NOT_RELEVANT))
    graded = {(pair.prompt.id, pair.memory.id): pair.grade for pair in written.agreed if pair.grade is not None}
    back = {(event.prompt_id, event.memory_id): event.grade for event in written.back("qrels-graded").events}
    assert {pair: back[pair] for pair in graded} == graded
    injected: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for result in system_results(written.store):
        if result["injected"]:
            shown = injected.setdefault((result["system"], result["prompt_id"]), [])
            shown.append((result["memory_id"], result["score"]))
    assert injected == {
        (row["run_id"], row["prompt_id"]): [(result["memory_id"], result["score"]) for result in row["results"]]
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
