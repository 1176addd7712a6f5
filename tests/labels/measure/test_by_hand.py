"""Prompts that a person typed in Replay are no random sample: no number counts them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.lean import record as records
from engine.prompt import TYPED
from engine.retrieval import Retrieval
from labels.measure.evidence import evidence_from_store
from labels.measure.gate import Gate, gate_report
from labels.measure.intervals import Interval
from labels.measure.report import report_from_store
from labels.records import NOT_RELEVANT, RELEVANT
from labels.report.gate_text import gate_text
from labels.report.notes import notes
from labels.store import LabelStore
from tests.labels.samples import ROOT, card, judged, record, retrieval

DIGESTS = {memory_id: f"digest-of-{memory_id}" for memory_id in "ab"}
GATE = Gate(0.5, Interval(0.5, 0.5))
NOTE = "2 prompts chosen by hand are left out: prompts that somebody typed or picked are no random sample."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    """Six prompts of a file, each with two memories, of which the first is relevant."""
    with LabelStore.open(tmp_path / "labels.db") as store:
        for number in range(6):
            record(store, retrieval(["a", "b"], prompt_id=f"p{number}"), judged(["a"], ["b"], prompt_id=f"p{number}"))
            say(store, f"p{number}", RELEVANT, NOT_RELEVANT)
        yield store


def typed(made: Retrieval) -> Retrieval:
    return records.replace(made, prompt=records.replace(made.prompt, source=TYPED))


def say(store: LabelStore, prompt_id: str, *verdicts: str) -> None:
    for memory_id, verdict in zip("ab", verdicts, strict=True):
        store.label("ann", prompt_id, card(memory_id), verdict, seed=1, blind=True, elapsed_ms=1)


def add_typed(store: LabelStore) -> None:
    for name in ("t1", "t2", "unlabelled"):
        record(store, typed(retrieval(["a", "b"], prompt_id=name)), typed(judged(["a"], ["b"], prompt_id=name)))
    say(store, "t1", NOT_RELEVANT, NOT_RELEVANT)
    say(store, "t2", NOT_RELEVANT, NOT_RELEVANT)


def test_no_number_of_the_report_counts_them(store: LabelStore) -> None:
    before = report_from_store(store, ROOT)
    add_typed(store)
    after = report_from_store(store, ROOT)
    assert after.systems == before.systems
    assert after.systems[0].precision.value == 0.5
    assert (after.prompts, after.labelled_prompts, after.labels) == (6, 6, before.labels)
    assert after.worst_prompts == before.worst_prompts
    assert NOTE in notes(after)
    assert NOTE not in notes(before)


def test_the_gate_decides_without_them(store: LabelStore) -> None:
    before = gate_report(evidence_from_store(store, ROOT, DIGESTS), "bm25", GATE)
    add_typed(store)
    after = gate_report(evidence_from_store(store, ROOT, DIGESTS), "bm25", GATE)
    assert after.decision == before.decision
    assert replace(after, evidence=before.evidence) == before
    assert NOTE in " ".join(gate_text(after, is_full=True).split())


def test_a_prompt_that_comes_in_a_file_later_counts(store: LabelStore) -> None:
    add_typed(store)
    record(store, retrieval(["a", "b"], prompt_id="t1"))
    assert report_from_store(store, ROOT).labelled_prompts == 7
