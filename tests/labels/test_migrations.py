"""Stores of older versions: every one opens, with its labels and retrievals."""

import hashlib
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from engine.errors import LabelStoreError
from labels.store import LabelStore
from labels.tables import STEPS, migrations
from tests.labels.samples import say

COLUMNS = """event_id, ts, annotator, prompt_id, memory_id, digest, action, verdict, grade, reason, note, blind,
    position, seed, elapsed_ms, guideline, app_version, supersedes"""

SAID = [
    ("ann", "a", "label", "relevant", 2, "", "first", 1, None),
    ("ann", "a", "label", "not", None, "stale", "second [b]", 0, 1),
    ("ann", "b", "skip", None, None, "", "", 1, None),
    ("bob", "a", "label", "unsure", None, "", "half ? of it", 1, None),
    ("ann", "a", "retract", None, None, "", "", 0, 2),
    ("bob", "b", "label", "relevant", None, "", "", 1, None),
]
"""annotator, memory, action, verdict, grade, reason, note, blind, supersedes."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store with the first three steps and SAID in it."""
    path = tmp_path / "labels.db"
    with closing(Database(path, execute_plugins=False)) as db:
        migrations().apply(db, stop_before="m004_people")
        with db.conn:
            db.execute("INSERT INTO prompt VALUES ('p1', 'how do tokens expire?', '[]', 'human', '', '', '', '')")
            for name in ("a", "b"):
                db.execute(
                    "INSERT INTO memory_version VALUES (?, ?, 'decision', '', '[]', NULL, '')", [name, f"d{name}"]
                )
            for number, (who, name, action, verdict, grade, reason, note, blind, supersedes) in enumerate(
                SAID, start=1
            ):
                row = [number, f"2025-06-0{number}", who, "p1", name, f"d{name}", action, verdict, grade, reason, note]
                row += [blind, number, 7, 1200, "g1", "0.1.0", supersedes]
                db.execute(f"INSERT INTO label_event VALUES ({', '.join('?' * len(row))})", row)
    return path


def events(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT {COLUMNS} FROM label_event ORDER BY event_id").fetchall()


def test_no_event_is_lost_or_changed_and_the_store_becomes_its_owners_alone(old: Path) -> None:
    old.chmod(0o644)
    before = events(old)
    with LabelStore.open(old) as store:
        assert events(old) == before
        assert stat.S_IMODE(old.stat().st_mode) == 0o600
        assert {(event.session, event.source, event.repeat) for event in store.events()} == {("", "", False)}
        said = {(label.annotator, label.memory_id): label.verdict for label in store.labels()}
        assert said == {("ann", "a"): "relevant", ("bob", "a"): "unsure", ("bob", "b"): "relevant"}
        assert store.skips("ann", "p1") == {"p1": {("b", "db"): 1}}
        assert (store.seen_prompts("ann"), store.seen_prompts("bob")) == ({"p1"}, frozenset()), (
            "not blind: beside ranks"
        )


def test_labelling_goes_on_and_the_past_stays_protected(old: Path) -> None:
    with LabelStore.open(old) as store:
        undone = store.undo("ann", ["p1"])
        assert undone is not None
        assert undone.event_id == 3
        event = say(store, "p1 a", digest="da")
        assert (event.event_id, event.supersedes) == (8, 1)
    with closing(sqlite3.connect(old)) as other, pytest.raises(sqlite3.IntegrityError, match="never changed"):
        other.execute("UPDATE label_event SET note = 'x' WHERE event_id = 1")


def test_an_upgrade_that_fails_leaves_the_older_store_as_it_was(old: Path) -> None:
    with closing(sqlite3.connect(old)) as other:
        other.execute("CREATE TABLE plan (mine)")
    before = events(old)
    with pytest.raises(LabelStoreError, match="plan already exists"):
        LabelStore.open(old)
    assert events(old) == before
    with closing(sqlite3.connect(old)) as other:
        assert "uid" not in {row[1] for row in other.execute("PRAGMA table_info(label_event)")}
        other.execute("DROP TABLE plan")
    with LabelStore.open(old) as store:
        assert len(store.events()) == len(SAID)


# Every earlier version

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


def store_of(path: Path, steps: int) -> Path:
    """A store that a memsift with only the first *steps* made."""
    with closing(Database(path, execute_plugins=False)) as db:
        migrations().apply(db, stop_before=STEPS[steps] if steps < len(STEPS) else None)
    return path


def schema(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT sql FROM sqlite_master WHERE tbl_name <> '_sqlite_migrations' ORDER BY name")
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
        call = {
            "ts": "",
            "provider": "scripted",
            "model": "none",
            "template_hash": "0",
            "status": "ok",
            "elapsed_ms": 1,
        }
        insert(other, "judge_call", call_id=1, **at, **call, input_tokens=0, output_tokens=0, detail="")
        insert(other, "judge_verdict", call_id=1, **about, decision="approved", status="ok", reasoning="")
        if steps > 1:
            insert(other, "label_event", **EVENT, **(NAMES if steps > 3 else {}))


@pytest.mark.parametrize("steps", range(1, len(STEPS) + 1))
def test_a_store_of_every_earlier_version_opens_with_its_labels_and_retrievals(tmp_path: Path, steps: int) -> None:
    path = store_of(tmp_path / "older.db", steps)
    found = hashlib.sha256("\n".join(schema(path)).encode()).hexdigest()[:16]
    assert found == SCHEMAS[STEPS[steps - 1]], "a step that was released is never edited"
    fill(path, steps)
    with LabelStore.open(path) as store:
        (outcome,) = store.outcomes("/root")
        assert (outcome.prompt_id, outcome.injected, outcome.elapsed_ms) == ("p1", ("a",), 2.5)
        assert (outcome.decisions, outcome.is_asked, outcome.matched) == (("approved",), True, (None,))
        assert [call.cost_usd for call in store.judge_calls()] == [None]
        given = [(each.annotator, each.pair, each.verdict, each.note) for each in store.labels(root="/root")]
        assert given == ([("ann", ("a", "da"), "relevant", "kept")] if steps > 1 else [])
        assert say(store, "p1 a", who="bob", digest="da").blind
        assert [each.labels for each in store.gold("/root")] == [1 + len(given)]
    LabelStore.open(tmp_path / "new.db").close()
    assert schema(path) == schema(tmp_path / "new.db")


def test_labels_from_files_that_say_nothing_of_blindness_are_neither_blind_nor_not(tmp_path: Path) -> None:
    path = store_of(tmp_path / "older.db", 7)
    fill(path, 7)
    sources = {"t.qrels (qrels)": None, "t.csv (csv)": None, "t.json (label-studio)": False, "": False}
    with closing(sqlite3.connect(path)) as other, other:
        for number, source in enumerate(sources):
            names = {"uid": f"{number:032}", "source": source, "annotator": f"a{number}", "event_id": 10 + number}
            insert(other, "label_event", **{**EVENT, **NAMES, **names, "blind": 0})
    with LabelStore.open(path) as store:
        found = {one.source: one.blind for one in store.labels(root="/root") if one.annotator != "ann"}
    assert found == sources
