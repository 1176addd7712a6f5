"""Stores of older versions: every one opens, with its labels and retrievals."""

import hashlib
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.errors import LabelStoreError
from labels.records import JudgeCall
from labels.store import LabelStore
from labels.tables import STEPS
from tests.labels.samples import STEPS_OF_1_0, make_store, query, say

SCHEMAS = {
    "m001_retrievals": "c538dab2aa01c2ca",
    "m002_labels": "73983cbc981d3617",
    "m003_judgements": "c499ab3c859ce29f",
    "m004_people": "be0bff807366f5b9",
    "m005_merged": "af7cb5cb922b3e68",
    "m006_sightings": "d53cd0a21cf4a95e",
    "m007_injected": "5ae5782afdf02667",
    "m008_blindness": "5ae5782afdf02667",
    "m009_same_memories": "fe9814f4ef7336d4",
    "m010_one_order": "fe9814f4ef7336d4",
    "m011_list_cards": "53e2d5aef8bb38f7",
}
"""The first 16 hex digits of a hash of the schema after each step."""

EVENT = {"event_id": 1, "ts": "2025-06-01", "annotator": "ann", "prompt_id": "p1", "memory_id": "a", "digest": "da"}
EVENT |= {"action": "label", "verdict": "relevant", "reason": "", "note": "kept", "blind": 1, "position": 1, "seed": 7}
EVENT |= {"elapsed_ms": 1200, "guideline": "g1", "app_version": "0.1.0"}
NAMES = {"uid": "f" * 32, "session": "s", "source": "", "repeat": 0}
"""The columns that `m004_people` added."""


def schema(path: Path) -> list[str]:
    rows = query(path, "SELECT sql FROM sqlite_master WHERE tbl_name <> '_sqlite_migrations' ORDER BY name")
    return [sql for (sql,) in rows if sql]


def insert(connection: sqlite3.Connection, table: str, **row: Any) -> None:
    places = ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", row)


def fill(path: Path, steps: int) -> None:
    """One retrieval, and one label where the version had labels."""
    with closing(sqlite3.connect(path)) as other, other:
        empty = dict.fromkeys(("context_json", "kind", "source", "session_id", "cwd", "ts"), "")
        insert(other, "prompt", prompt_id="p1", text="how do tokens expire?", **{**empty, "context_json": "[]"})
        about = {"memory_id": "a", "digest": "da"}
        insert(other, "memory_version", **about, category="decision", title="A", tags="[]", path="a.json")
        made = dict.fromkeys(("config_hash", "corpus_hash", "engine_version", "sqlite_version", "ts"), "")
        insert(other, "run", run_id="r", root="/root", system="bm25", config_json="{}", **made)
        at = {"run_id": "r", "prompt_id": "p1"}
        insert(other, "retrieval", **at, ts="", fallback="", elapsed_ms=2.5)
        ranked = {"rank": 1, "bm25": -1.0, "body_bonus": 0, "score": -1.0, "confidence": "high", "injected": 1}
        insert(other, "result", **at, **about, **ranked)
        call = {"ts": "", "provider": "scripted", "model": "none", "template_hash": "0", "status": "ok", "detail": ""}
        insert(other, "judge_call", call_id=1, **at, **call, elapsed_ms=1, input_tokens=0, output_tokens=0)
        insert(other, "judge_verdict", call_id=1, **about, decision="approved", status="ok", reasoning="")
        if steps > 1:
            insert(other, "label_event", **EVENT, **(NAMES if steps > 3 else {}))


@pytest.mark.parametrize("steps", range(1, len(STEPS) + 1))
def test_a_store_of_every_earlier_version_opens_with_its_labels_and_retrievals(tmp_path: Path, steps: int) -> None:
    path = make_store(tmp_path / "older.db", steps)
    path.chmod(0o644)
    found = hashlib.sha256("\n".join(schema(path)).encode()).hexdigest()[:16]
    assert found == SCHEMAS[STEPS[steps - 1]], "a step that was released is never edited"
    fill(path, steps)
    with LabelStore.open(path) as store:
        (outcome,) = store.outcomes("/root")
        assert (outcome.prompt_id, outcome.injected, outcome.elapsed_ms) == ("p1", ("a",), 2.5)
        assert (outcome.decisions, outcome.is_asked, outcome.matched) == (("approved",), True, (None,))
        assert outcome.call == JudgeCall(1.0, None, 1, is_live=True)
        given = [(each.annotator, each.pair, each.verdict, each.note) for each in store.labels(root="/root")]
        assert given == ([("ann", ("a", "da"), "relevant", "kept")] if steps > 1 else [])
        assert say(store, "p1 a", who="bob", digest="da").blind
        assert [each.labels for each in store.gold("/root")] == [1 + len(given)]
        assert store.undo("bob") is not None
    LabelStore.open(tmp_path / "new.db").close()
    assert schema(path) == schema(tmp_path / "new.db")
    assert stat.S_IMODE(path.stat().st_mode) == (0o600 if steps < len(STEPS) else 0o644), "it was everybody's to read"


def test_an_upgrade_that_fails_leaves_the_older_store_as_it_was(tmp_path: Path) -> None:
    path = make_store(tmp_path / "older.db", STEPS_OF_1_0)
    fill(path, STEPS_OF_1_0)
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE same_memories (mine)")
    before = schema(path)
    with pytest.raises(LabelStoreError, match="same_memories already exists"):
        LabelStore.open(path)
    assert schema(path) == before
    with closing(sqlite3.connect(path)) as other:
        other.execute("DROP TABLE same_memories")
    with LabelStore.open(path) as store:
        assert [event.note for event in store.events()] == ["kept"]


def test_labels_from_files_that_say_nothing_of_blindness_are_neither_blind_nor_not(tmp_path: Path) -> None:
    path = make_store(tmp_path / "older.db", 7)
    fill(path, 7)
    sources = {"t.qrels (qrels)": None, "t.csv (csv)": None, "t.json (label-studio)": False, "": False}
    with closing(sqlite3.connect(path)) as other, other:
        for number, source in enumerate(sources):
            names = {"uid": f"{number:032}", "source": source, "annotator": f"a{number}", "event_id": 10 + number}
            insert(other, "label_event", **{**EVENT, **NAMES, **names, "blind": 0})
    with LabelStore.open(path) as store:
        found = {one.source: one.blind for one in store.labels(root="/root") if one.annotator != "ann"}
    assert found == sources
