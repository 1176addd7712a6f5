"""What each format gives back of the store that it was given."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import given

from labels import exchange
from labels.exchange.exporting import JudgedPair, events_in, judged_pairs, one_text_each, system_results
from labels.exchange.files import FileText
from labels.exchange.merge import rows_of
from labels.exchange.registry import FORMATS, READABLE, recognise
from labels.exchange.rows import Dataset
from labels.records import ADJUDICATE, NOT_RELEVANT, RELEVANT, SKIP, Event
from tests.labels.exchange.datasets import extract, property_test, read, stored_datasets


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

stores = stored_datasets.map(Written)


@property_test
@given(stores)
def test_jsonl_gives_back_everything(written: Written) -> None:
    assert written.back("jsonl") == written.rows


@property_test
@given(stores)
def test_csv_gives_back_labels_grades_reasons_and_notes(written: Written) -> None:
    fields = ("annotator", "verdict", "grade", "reason", "note")
    assert columns(written.back("csv").events, *fields) == columns(written.labels, *fields)


@property_test
@given(stores)
def test_label_studio_gives_back_labels_adjudications_and_texts(written: Written) -> None:
    back = written.back("label-studio")
    labels = [event for event in back.events if event.action != SKIP]
    assert columns(labels, *SAID) == columns([*written.labels, *written.adjudications], *SAID)
    known = {prompt.id: (prompt.text, prompt.turns) for prompt in written.rows.prompts}
    assert all(known[prompt.id] == (prompt.text, prompt.turns) for prompt in back.prompts)
    texts = {(memory.id, memory.digest): (memory.title, memory.body or "", memory.tags) for memory in back.memories}
    assert (
        texts.items()
        <= {
            (memory.id, memory.digest): (memory.title, memory.body or "", memory.tags)
            for memory in written.rows.memories
        }.items()
    )


@property_test
@given(stores)
def test_prodigy_gives_back_labels_adjudications_skips_and_texts(written: Written) -> None:
    back = written.back("prodigy")
    skips = [skip for pair in written.pairs for skip in pair.skips]
    assert columns(back.events, *SAID) == columns([*written.labels, *written.adjudications, *skips], *SAID)
    texts = {(memory.id, memory.digest): (memory.title, memory.body) for memory in written.rows.memories}
    assert all(texts[memory.id, memory.digest] == (memory.title, memory.body) for memory in back.memories)


@property_test
@given(stores)
def test_qrels_give_back_gold_and_an_adjudication_decides(written: Written) -> None:
    found = verdicts(written.back("qrels"))
    assert found == {(pair.prompt.id, pair.memory.id): pair.verdict for pair in written.agreed}
    settled = {(event.prompt_id, event.memory_id): event.verdict for event in written.adjudications}
    assert all(found.get(pair) == verdict for pair, verdict in settled.items() if verdict in (RELEVANT, NOT_RELEVANT))
    assert all(event.action != ADJUDICATE for event in written.back("csv").events)


@property_test
@given(stores)
def test_graded_qrels_give_back_grades(written: Written) -> None:
    graded = {(pair.prompt.id, pair.memory.id): pair.grade for pair in written.agreed if pair.grade is not None}
    back = {(event.prompt_id, event.memory_id): event.grade for event in written.back("qrels-graded").events}
    assert {pair: back[pair] for pair in graded} == graded


@property_test
@given(stores)
def test_runs_give_back_what_each_system_injects_in_its_order(written: Written) -> None:
    injected: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for result in system_results(written.store):
        if result["injected"]:
            shown = injected.setdefault((result["system"], result["prompt_id"]), [])
            shown.append((result["memory_id"], result["score"]))
    found = {
        (row["run_id"], row["prompt_id"]): [(result["memory_id"], result["score"]) for result in row["results"]]
        for row in written.back("run").retrievals
    }
    assert found == injected


@property_test
@given(stores)
def test_a_file_is_recognised_by_how_it_begins(written: Written) -> None:
    if not any(pair.labels for pair in written.pairs):
        return  # nothing to go by
    for name in set(READABLE) - {"qrels-graded"}:  # grades look like verdicts
        if (text := FORMATS[name].write(written.store)).strip():
            assert recognise(FileText(Path("file"), text)) is FORMATS[name], name


def test_the_readme_of_the_folder_names_every_format_and_file() -> None:
    folder = Path(exchange.__file__).parent
    readme = (folder / "README.md").read_text(encoding="utf-8")
    modules = [file.name for file in folder.glob("*.py") if file.stem != "__init__"]
    assert [name for name in [*FORMATS, *modules] if f"`{name}`" not in readme] == []
