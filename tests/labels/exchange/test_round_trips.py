from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lean.json_text import without_lone_surrogates
from labels.exchange.argilla import ARGILLA
from labels.exchange.formats import ALL, recognised
from labels.exchange.jsonl import JSONL
from labels.exchange.label_studio import LABEL_STUDIO
from labels.exchange.memo import MEMO
from labels.exchange.memtomem import MEMTOMEM
from labels.exchange.pairs import judged_pairs, judged_prompts, newest_retrievals, one_text_each
from labels.exchange.people import person
from labels.exchange.prodigy import PRODIGY
from labels.exchange.qmd import QMD
from labels.exchange.qrels import GRADED_QRELS, QRELS
from labels.exchange.quepid import QUEPID
from labels.exchange.source import Source
from labels.exchange.spike1292 import SPIKE1292
from labels.exchange.standing import adjudications, current
from labels.exchange.table import CSV
from labels.exchange.trec_run import RUN
from labels.records import ADJUDICATE, LABEL, NOT_RELEVANT, RELEVANT, SKIP, UNRATEABLE, UNSURE
from tests.labels.exchange.datasets import datasets, property_test, read_back

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from labels.exchange.format import Format
    from labels.exchange.records import Dataset, LabelEvent

PLAIN_NAMES = st.sampled_from(["jan", "kim", "ann@example.org"])


def columns(events: Iterable[LabelEvent], *names: str) -> set[tuple[Any, ...]]:
    return {(*event.pair, *(getattr(event, name) for name in names)) for event in events}


def labels(dataset: Dataset) -> list[LabelEvent]:
    return list(current(dataset.events).values())


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
    assert read_back(JSONL, dataset) == dataset


@property_test
@given(datasets())
def test_csv_gives_back_labels_grades_reasons_and_notes(dataset: Dataset) -> None:
    fields = ("annotator", "verdict", "grade", "reason", "note")
    written = {tuple(map(plain, row)) for row in columns(labels(dataset), *fields)}
    assert columns(read_back(CSV, dataset).events, *fields) == written


def plain(value: Any) -> Any:
    return without_lone_surrogates(value) if isinstance(value, str) else value


@property_test
@given(datasets())
def test_label_studio_gives_back_labels_adjudications_and_texts(dataset: Dataset) -> None:
    read = read_back(LABEL_STUDIO, dataset)
    fields = ("annotator", "action", "verdict", "grade", "reason", "note", "ts", "blind", "elapsed_ms")
    said = [*labels(dataset), *adjudications(dataset.events).values()]
    assert columns([event for event in read.events if event.action != SKIP], *fields) == columns(said, *fields)
    known = {prompt.id: prompt for prompt in dataset.prompts}
    assert all((known[each.id].text, known[each.id].turns) == (each.text, each.turns) for each in read.prompts)
    texts = {(each.id, each.digest): (each.title, each.body or "", each.tags) for each in dataset.memories}
    assert all(texts[each.id, each.digest] == (each.title, each.body or "", each.tags) for each in read.memories)


@property_test
@given(datasets())
def test_argilla_gives_back_labels_grades_and_notes(dataset: Dataset) -> None:
    fields = ("annotator", "verdict", "grade", "note")
    assert columns(read_back(ARGILLA, dataset).events, *fields) == columns(labels(dataset), *fields)


@property_test
@given(datasets())
def test_prodigy_gives_back_labels_adjudications_skips_and_texts(dataset: Dataset) -> None:
    read = read_back(PRODIGY, dataset)
    fields = ("annotator", "action", "verdict", "grade", "reason", "note", "ts", "blind", "elapsed_ms")
    pairs = judged_pairs(dataset)
    said = [*labels(dataset), *adjudications(dataset.events).values(), *(skip for pair in pairs for skip in pair.skips)]
    assert columns(read.events, *fields) == columns(said, *fields)
    texts = {(each.id, each.digest): (each.title, each.body) for each in dataset.memories}
    assert all(texts[each.id, each.digest] == (each.title, each.body) for each in read.memories)


@property_test
@given(datasets(annotators=PLAIN_NAMES))
def test_quepid_gives_back_verdicts_notes_and_skips_by_hashed_names(dataset: Dataset) -> None:
    skips = [skip for pair in judged_pairs(dataset) for skip in pair.skips]
    written = {
        (*event.pair, person(event.annotator), event.action, UNRATEABLE if event.verdict == UNSURE else event.verdict)
        for event in (*labels(dataset), *skips)
    }
    read = read_back(QUEPID, dataset)
    assert columns(read.events, "annotator", "action", "verdict") == written
    assert {event.note for event in read.events if event.action == LABEL} == {label.note for label in labels(dataset)}


@property_test
@given(datasets())
def test_qrels_give_back_gold(dataset: Dataset) -> None:
    assert verdicts(read_back(QRELS, dataset)) == gold(dataset)


@property_test
@given(datasets())
def test_graded_qrels_give_back_grades(dataset: Dataset) -> None:
    pairs = one_text_each([pair for pair in judged_pairs(dataset) if pair.gold])
    graded = {
        (pair.prompt.id, pair.memory.id): pair.gold.grade
        for pair in pairs
        if pair.gold and pair.gold.grade is not None and pair.gold.verdict in (RELEVANT, NOT_RELEVANT)
    }
    read = {(event.prompt_id, event.memory_id): event.grade for event in read_back(GRADED_QRELS, dataset).events}
    assert {pair: read[pair] for pair in graded} == graded


@property_test
@given(datasets())
def test_runs_give_back_what_each_system_injects_in_its_order(dataset: Dataset) -> None:
    injected = {
        (system, each.prompt_id): [(result.memory_id, result.score) for result in each.results if result.injected]
        for system, each in newest_retrievals(dataset)
    }
    read = read_back(RUN, dataset)
    found = {
        (each.run_id, each.prompt_id): [(result.memory_id, result.score) for result in each.results]
        for each in read.retrievals
    }
    assert found == {key: results for key, results in injected.items() if results}


@property_test
@given(datasets())
def test_memtomem_gives_back_gold_by_digest(dataset: Dataset) -> None:
    digests = {(memory.id, memory.digest) for memory in dataset.memories}
    if len({digest for _, digest in digests}) < len(digests):
        return  # memories of one text share a judgement
    texts = {memory.id: memory.digest for memory in dataset.memories}
    found = {(event.prompt_id, event.digest): event.verdict for event in read_back(MEMTOMEM, dataset).events}
    assert found == {
        (prompt_id, texts[memory_id]): verdict for (prompt_id, memory_id), verdict in gold(dataset).items()
    }


@property_test
@given(datasets())
def test_memo_gives_back_gold_by_the_prompts_text(dataset: Dataset) -> None:
    read = read_back(MEMO, dataset)
    asked = {prompt.id: prompt.text for prompt in read.prompts}
    known = {prompt.id: prompt.text for prompt in dataset.prompts}
    found = {(asked[prompt_id], memory_id): verdict for (prompt_id, memory_id), verdict in verdicts(read).items()}
    assert found == {
        (known[prompt_id], memory_id): verdict for (prompt_id, memory_id), verdict in gold(dataset).items()
    }


@pytest.mark.parametrize("form", [QMD, SPIKE1292], ids=lambda form: form.name)
@property_test
@given(dataset=datasets())
def test_fixtures_give_back_what_is_relevant(form: Format, dataset: Dataset) -> None:
    read = read_back(form, dataset)
    found = {
        prompt.text: {event.memory_id for event in read.events if event.prompt_id == prompt.id}
        for prompt in read.prompts
    }
    name = {QMD: lambda memory: memory.path or memory.id, SPIKE1292: lambda memory: memory.id}[form]
    written = {each.prompt.text: {name(memory) for memory in each.relevant} for each in judged_prompts(dataset)}
    assert found == {text: memories for text, memories in written.items() if memories}


@pytest.mark.parametrize("form", [each for each in ALL if each.read], ids=lambda form: form.name)
@property_test
@given(dataset=datasets())
def test_a_file_is_recognised_by_how_it_begins(form: Format, dataset: Dataset, tmp_path_factory: Any) -> None:
    text = form.write(dataset)
    pairs = [pair for pair in judged_pairs(dataset) if pair.labels]
    if not pairs or not text.strip() or form is GRADED_QRELS:
        return  # nothing to go by; and grades look like verdicts
    if form in (ARGILLA, LABEL_STUDIO) and text.strip() == "[]":
        return
    path: Path = tmp_path_factory.getbasetemp() / "file"
    assert recognised(Source(path, text)) is form


@property_test
@given(datasets())
def test_adjudications_decide_what_single_verdict_formats_say(dataset: Dataset) -> None:
    settled = {pair[:2]: event.verdict for pair, event in adjudications(dataset.events).items()}
    found = verdicts(read_back(QRELS, dataset))
    assert all(found.get(pair) == verdict for pair, verdict in settled.items() if verdict in (RELEVANT, NOT_RELEVANT))
    assert all(event.action != ADJUDICATE for event in read_back(CSV, dataset).events)
