import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine import __version__
from engine.errors import LabelStoreError
from labels.records import LABEL, NOT_RELEVANT, RELEVANT, RETRACT, SKIP, UNSURE, Event
from labels.store import LabelStore
from tests.labels.samples import card, known, pool_of, say

OTHER_COLUMNS = """uid, ts, session, source, annotator, prompt_id, memory_id, digest, action, verdict, grade, reason,
    note, blind, repeat, position, seed, elapsed_ms, guideline, app_version, supersedes, titles"""
"""All but the first of label_event."""

NOON = datetime(2025, 6, 1, 12, 0, 0, 250_000, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "labels.db"


@pytest.fixture
def store(path: Path) -> Iterator[LabelStore]:
    with LabelStore.open(path, now=lambda: NOON, guideline="g1") as store:
        store.record_pool(pool_of("a", "b", "c"))
        store.record_pool(pool_of("a", "b", prompt_id="p2"))
        yield store


def skip(store: LabelStore, memory_id: str, *, prompt_id: str = "p1", who: str = "ann") -> Event:
    return store.skip(who, prompt_id, card(memory_id), seed=7, blind=True, elapsed_ms=300)


def verdicts(store: LabelStore, who: str = "ann") -> dict[str, str]:
    return {label.memory_id: label.verdict for label in store.labels(who, "p1")}


def test_a_label_keeps_all_that_is_known_of_it(store: LabelStore) -> None:
    said = {"grade": 1, "reason": "stale", "note": "old [api]", "seed": 7, "blind": False, "elapsed_ms": 950}
    event = store.label("ann", "p1", card("b", position=2), NOT_RELEVANT, **said)
    made = {"ts": "2025-06-01T12:00:00.250+00:00", "guideline": "g1", "app_version": __version__, "event_id": 1}
    named = {"session": store.session, "uid": event.uid, "position": 2}
    assert event == Event("ann", "p1", "b", "digest-of-b", LABEL, NOT_RELEVANT, **said, **made, **named)  # type: ignore[arg-type]
    assert store.events() == (event,)


def test_undo_goes_back_to_the_beginning_and_then_says_none_and_leaves_other_people_alone(store: LabelStore) -> None:
    say(store, "p1 a", NOT_RELEVANT, who="bob")
    events = [say(store, "p1 a"), skip(store, "b"), say(store, "p1 b", UNSURE)]
    assert [store.undo("ann") for _ in range(4)] == [*reversed(events), None]
    assert (verdicts(store), verdicts(store, "bob")) == ({}, {"a": NOT_RELEVANT})


def test_undo_works_across_a_restart_and_the_next_label_supersedes_what_stands(store: LabelStore, path: Path) -> None:
    first = say(store, "p1 a")
    say(store, "p1 a", NOT_RELEVANT)
    store.close()
    with LabelStore.open(path) as again:
        taken_back = known(again.undo("ann"))
        assert taken_back.verdict == NOT_RELEVANT
        assert verdicts(again) == {"a": RELEVANT}
        assert say(again, "p1 a", UNSURE).supersedes == first.event_id
        assert verdicts(again) == {"a": UNSURE}


def test_undo_can_be_kept_to_some_prompts(store: LabelStore) -> None:
    first = say(store, "p1 a")
    say(store, "p2 a")
    assert store.undo("ann", ["p1", "p9"]) == first
    assert (store.undo("ann", ["p1"]), store.undo("ann", [])) == (None, None)
    assert [label.prompt_id for label in store.labels()] == ["p2"]


def test_skips_are_counted_until_they_are_taken_back(store: LabelStore) -> None:
    skip(store, "a")
    skip(store, "a")
    skip(store, "b")
    assert store.skips("ann", "p1") == {"p1": {("a", "digest-of-a"): 2, ("b", "digest-of-b"): 1}}
    assert store.skips("ann", "p2") == {}
    taken_back = known(store.undo("ann"))
    assert taken_back.action == SKIP
    assert store.skips("ann", "p1") == {"p1": {("a", "digest-of-a"): 2}}


def test_recent_labels_come_newest_first_and_once_each_and_events_oldest_first(store: LabelStore) -> None:
    say(store, "p1 a")
    say(store, "p1 b")
    say(store, "p1 a", NOT_RELEVANT)
    assert [(label.memory_id, label.verdict) for label in store.recent("ann")] == [("a", NOT_RELEVANT), ("b", RELEVANT)]
    assert [label.memory_id for label in store.recent("ann", limit=1)] == ["a"]
    assert [event.memory_id for event in store.events("ann", limit=2)] == ["b", "a"]
    assert store.events("bob", limit=2) == ()


def test_an_edited_memory_is_labelled_anew_beside_its_old_label(store: LabelStore) -> None:
    say(store, "p1 a")
    again = say(store, "p1 a", NOT_RELEVANT, digest="edited")
    assert again.supersedes is None
    assert {label.digest: label.verdict for label in store.labels()} == {
        "digest-of-a": RELEVANT,
        "edited": NOT_RELEVANT,
    }


def test_what_was_pooled_can_be_asked_for_and_only_the_newest_pool_counts(path: Path) -> None:
    times = (NOON + timedelta(minutes=minute) for minute in range(9))
    with LabelStore.open(path, now=lambda: next(times)) as store:
        assert store.pooled(seed=1) == {}
        store.record_pool(pool_of("a", "b"))
        store.record_pool(pool_of("a", prompt_id="p2"))
        assert pooled(store) == {"p1": {"a", "b"}, "p2": {"a"}}
        store.record_pool(pool_of("b", "c"))
        assert pooled(store) == {"p1": {"b", "c"}, "p2": {"a"}}
        assert store.pooled(seed=2) == {}


def pooled(store: LabelStore) -> dict[str, set[str]]:
    return {prompt_id: set(memory_ids) for prompt_id, memory_ids in store.pooled(seed=1).items()}


def test_a_label_with_no_such_verdict_or_for_an_unknown_prompt_is_refused_and_leaves_nothing(store: LabelStore) -> None:
    with pytest.raises(ValueError, match="maybe"):
        say(store, "p1 a", "maybe")
    with pytest.raises(ValueError, match="4"):
        say(store, "p1 a", grade=4)
    with pytest.raises(LabelStoreError, match=r"does not know the prompt 'nowhere'\. Replay the prompt first"):
        say(store, "nowhere new")
    assert store.events() == ()
    assert say(store, "p1 a").event_id == 1


def test_no_program_can_change_or_delete_an_event(store: LabelStore, path: Path) -> None:
    event = say(store, "p1 a")
    with closing(sqlite3.connect(path)) as other_program:
        for statement in (
            "UPDATE label_event SET note = 'x' WHERE event_id = 1",
            "DELETE FROM label_event",
            f"INSERT OR REPLACE INTO label_event SELECT 2, {OTHER_COLUMNS} FROM label_event WHERE event_id = 1",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="label events are never"):
                other_program.execute(statement)
    assert store.events() == (event,)


def test_an_event_that_was_taken_back_in_two_stores_is_taken_back_once(store: LabelStore, path: Path) -> None:
    say(store, "p1 a")
    store.undo("ann")
    copy = OTHER_COLUMNS.replace("uid", "lower(hex(randomblob(16)))", 1)
    sql = f"INSERT INTO label_event ({OTHER_COLUMNS}) SELECT {copy} FROM label_event WHERE action = 'retract'"
    with closing(sqlite3.connect(path, isolation_level=None)) as other_program:
        other_program.execute(sql)
    assert [event.action for event in store.events()] == [LABEL, RETRACT, RETRACT]
    assert store.labels() == ()


def test_what_was_seen_is_written_down_once_and_for_good(path: Path) -> None:
    with LabelStore.open(path) as store:
        store.record_seen("ann", "p1")
        store.record_seen("ann", "p1")
        store.record_seen("bob", "p2")
        assert (store.seen_prompts("ann"), store.seen_prompts("bob")) == ({"p1"}, {"p2"})
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM sighting").fetchone() == (2,)
        with pytest.raises(sqlite3.IntegrityError, match="cannot be unseen"):
            other.execute("DELETE FROM sighting")
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            other.execute("UPDATE sighting SET annotator = 'cat'")
