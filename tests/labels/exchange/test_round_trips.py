"""What each format gives back of the dataset that it was given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given

from engine.lean.json_text import without_lone_surrogates
from labels import exchange
from labels.exchange.files import FileText
from labels.exchange.pairs import adjudications, current_labels, judged_pairs, newest_retrievals, one_text_each
from labels.exchange.registry import FORMATS, READABLE, recognise
from labels.records import ADJUDICATE, NOT_RELEVANT, RELEVANT, SKIP
from tests.labels.exchange.datasets import datasets, property_test, read_back

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labels.exchange.records import Dataset, LabelEvent


def columns(events: Iterable[LabelEvent], *names: str) -> set[tuple[Any, ...]]:
    return {(*event.pair, *(getattr(event, name) for name in names)) for event in events}


def labels(dataset: Dataset) -> list[LabelEvent]:
    return list(current_labels(dataset.events).values())


def gold(dataset: Dataset) -> dict[tuple[str, str], str]:
    """(prompt id, memory id) -> relevant or not, for the text that was labelled last."""
    pairs = one_text_each([pair for pair in judged_pairs(dataset) if pair.gold])
    found = {(pair.prompt.id, pair.memory.id): pair.gold.verdict for pair in pairs if pair.gold}
    return {pair: verdict for pair, verdict in found.items() if verdict in (RELEVANT, NOT_RELEVANT)}


def verdicts(read: Dataset) -> dict[tuple[str, str], str | None]:
    return {(event.prompt_id, event.memory_id): event.verdict for event in read.events}


@property_test
@given(datasets())
def test_jsonl_gives_back_everything(dataset: Dataset) -> None:
    assert read_back("jsonl", dataset) == dataset


@property_test
@given(datasets())
def test_csv_gives_back_labels_grades_reasons_and_notes(dataset: Dataset) -> None:
    fields = ("annotator", "verdict", "grade", "reason", "note")
    written = {tuple(map(plain, row)) for row in columns(labels(dataset), *fields)}
    assert columns(read_back("csv", dataset).events, *fields) == written


def plain(value: Any) -> Any:
    return without_lone_surrogates(value) if isinstance(value, str) else value


@property_test
@given(datasets())
def test_label_studio_gives_back_labels_adjudications_and_texts(dataset: Dataset) -> None:
    read = read_back("label-studio", dataset)
    fields = ("annotator", "action", "verdict", "grade", "reason", "note", "ts", "blind", "elapsed_ms")
    said = [*labels(dataset), *adjudications(dataset.events).values()]
    assert columns([event for event in read.events if event.action != SKIP], *fields) == columns(said, *fields)
    known = {prompt.id: prompt for prompt in dataset.prompts}
    assert all((known[each.id].text, known[each.id].turns) == (each.text, each.turns) for each in read.prompts)
    texts = {(each.id, each.digest): (each.title, each.body or "", each.tags) for each in dataset.memories}
    assert all(texts[each.id, each.digest] == (each.title, each.body or "", each.tags) for each in read.memories)


@property_test
@given(datasets())
def test_prodigy_gives_back_labels_adjudications_skips_and_texts(dataset: Dataset) -> None:
    read = read_back("prodigy", dataset)
    fields = ("annotator", "action", "verdict", "grade", "reason", "note", "ts", "blind", "elapsed_ms")
    pairs = judged_pairs(dataset)
    said = [*labels(dataset), *adjudications(dataset.events).values(), *(skip for pair in pairs for skip in pair.skips)]
    assert columns(read.events, *fields) == columns(said, *fields)
    texts = {(each.id, each.digest): (each.title, each.body) for each in dataset.memories}
    assert all(texts[each.id, each.digest] == (each.title, each.body) for each in read.memories)


@property_test
@given(datasets())
def test_qrels_give_back_gold(dataset: Dataset) -> None:
    assert verdicts(read_back("qrels", dataset)) == gold(dataset)


@property_test
@given(datasets())
def test_graded_qrels_give_back_grades(dataset: Dataset) -> None:
    pairs = one_text_each([pair for pair in judged_pairs(dataset) if pair.gold])
    graded = {
        (pair.prompt.id, pair.memory.id): pair.gold.grade
        for pair in pairs
        if pair.gold and pair.gold.grade is not None and pair.gold.verdict in (RELEVANT, NOT_RELEVANT)
    }
    read = {(event.prompt_id, event.memory_id): event.grade for event in read_back("qrels-graded", dataset).events}
    assert {pair: read[pair] for pair in graded} == graded


@property_test
@given(datasets())
def test_runs_give_back_what_each_system_injects_in_its_order(dataset: Dataset) -> None:
    injected = {
        (system, each.prompt_id): [(result.memory_id, result.score) for result in each.results if result.injected]
        for system, each in newest_retrievals(dataset)
    }
    read = read_back("run", dataset)
    found = {
        (each.run_id, each.prompt_id): [(result.memory_id, result.score) for result in each.results]
        for each in read.retrievals
    }
    assert found == {key: results for key, results in injected.items() if results}


@property_test
@given(datasets())
def test_a_file_is_recognised_by_how_it_begins(dataset: Dataset) -> None:
    if not any(pair.labels for pair in judged_pairs(dataset)):
        return  # nothing to go by
    for name in set(READABLE) - {"qrels-graded"}:  # grades look like verdicts
        if (text := FORMATS[name].write(dataset)).strip():
            assert recognise(FileText(Path("file"), text)) is FORMATS[name], name


@property_test
@given(datasets())
def test_adjudications_decide_what_single_verdict_formats_say(dataset: Dataset) -> None:
    settled = {pair[:2]: event.verdict for pair, event in adjudications(dataset.events).items()}
    found = verdicts(read_back("qrels", dataset))
    assert all(found.get(pair) == verdict for pair, verdict in settled.items() if verdict in (RELEVANT, NOT_RELEVANT))
    assert all(event.action != ADJUDICATE for event in read_back("csv", dataset).events)


def test_the_readme_of_the_folder_names_every_format_and_file() -> None:
    folder = Path(exchange.__file__).parent
    readme = (folder / "README.md").read_text(encoding="utf-8")
    modules = [file.name for file in folder.glob("*.py") if file.stem != "__init__"]
    assert [name for name in [*FORMATS, *modules] if f"`{name}`" not in readme] == []
