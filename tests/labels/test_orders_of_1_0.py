"""Labels that memsift 1.0 asked for in orders that are gone: a store (version_1_0_0/orders.sql), and JSON lines.

For each order the store has a root of six prompts. Ann labelled the first four, with samples of what the judge dropped.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from labels.database import LabelDatabase
from labels.exchange.exporting import Extract
from labels.exchange.files import read_source
from labels.exchange.importing import Context, import_file
from labels.exchange.registry import FORMATS
from labels.measure.evidence import evidence_from_store
from labels.measure.metrics import Ratio
from labels.measure.report import report_from_store
from labels.records import CHOSEN, RELEVANT
from labels.report.notes import notes
from labels.store import LabelStore
from tests.labels.samples import make_store_of_1_0, record, retrieval, say

SAID = "SELECT uid, prompt_id, memory_id, verdict FROM label_event ORDER BY event_id"
LEFT_OUT = (
    "4 labelled prompts are left out: memsift 1.0 put them first because systems differed on them, or because they "
    "were near the cutoff. So they are no random sample."
)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    make_store_of_1_0(path, (Path(__file__).parent / "version_1_0_0" / "orders.sql").read_text("utf-8"))
    return path


def said(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(SAID).fetchall()


def test_no_label_is_lost_and_all_can_be_exported(old: Path) -> None:
    before = said(old)
    with LabelStore.open(old) as store:
        assert len(store.labels()) == len(before) == 60
    assert said(old) == before
    with closing(LabelDatabase(old)) as db, closing(Extract(db)) as extract:
        rows = [json.loads(line) for line in FORMATS["jsonl"].write(extract).splitlines()]
    assert sum(row["record"] == "event" for row in rows) == 60
    assert {row["prompt_id"] for row in rows if row["record"] == "frame"} == {name for _, name, *_ in before}


def test_a_file_to_share_marks_the_prompts_that_an_order_put_first(old: Path) -> None:
    with LabelStore.open(old) as store:
        ((name,), first) = {event.annotator for event in store.events()}, store.preferred_prompts()
        say(store, f"{min(first)} another", who="bea")
    for person, marked in ((name, first), ("bea", {min(first)})):
        with closing(LabelDatabase(old)) as db, closing(Extract(db)) as extract:
            extract.keep_annotator(person)
            rows = [json.loads(line) for line in FORMATS["jsonl"].write(extract).splitlines()]
        assert {row["id"] for row in rows if row["record"] == "prompt" and row.get("source") == CHOSEN} == marked


@pytest.mark.parametrize("root", ["/random", "/stratified"])
def test_orders_that_preferred_no_prompt_count_as_random(old: Path, root: str) -> None:
    with LabelStore.open(old) as store:
        report = report_from_store(store, root)
        plain, judge = report.systems
        assert (plain.headline.relevant, judge.headline.relevant) == (Ratio(3, 8), Ratio(3, 4))
        assert not any("left out" in note for note in notes(report))
        assert (judge.agreement and judge.agreement.confusion.total, plain.recall_in_pool) == (12, Ratio(3, 3))


@pytest.mark.parametrize("root", ["/disagreement", "/uncertain", "/later-random"])
def test_what_an_order_put_first_is_left_out_and_said_and_later_labels_count(old: Path, root: str) -> None:
    with LabelStore.open(old) as store:
        report = report_from_store(store, root)
        assert [system.headline.relevant for system in report.systems] == [Ratio(0, 0)] * 2
        assert LEFT_OUT in notes(report)
        for name in ("a", "b"):
            say(store, f"{root[1:]}-5 {name}")
        evidence = evidence_from_store(store, root, None)
        assert evidence.sample("bm25").judged == {f"{root[1:]}-5": (2, 2)}
        assert evidence.facts.preferred == 4


def test_a_plan_in_json_lines_is_about_the_prompts_that_were_labelled_by_it(tmp_path: Path) -> None:
    about = {"memory_id": "a", "digest": "digest-of-a"}
    lines = [{"record": "prompt", "id": name, "text": f"{name}?"} for name in ("p1", "p2")]
    lines += [{"record": "memory", "id": "a", "digest": "digest-of-a", "title": "A"}]
    lines += [{"record": "event", "annotator": "ann", "prompt_id": "p1", "verdict": RELEVANT, **about}]
    plan = {"record": "plan", "root": "/root", "annotator": "ann", "order_name": "uncertain-first", "seed": 1}
    lines += [{**plan, "prompt_id": name, "stratum": "near the cutoff"} for name in ("p1", "p2")]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with closing(LabelDatabase(tmp_path / "labels.db")) as db:
        import_file(db, read_source(path), FORMATS["jsonl"], "", Context(now="2026-06-01T00:00:00.000+00:00"))
    with LabelStore.open(tmp_path / "labels.db") as store:
        record(store, *(retrieval(["a"], prompt_id=name, text=f"{name}?") for name in ("p1", "p2")), root="/root")
        say(store, "p2 a")
        assert evidence_from_store(store, "/root", None).sample("bm25").judged == {"p2": (1, 1)}
        assert store.preferred_prompts() == {"p1"}
