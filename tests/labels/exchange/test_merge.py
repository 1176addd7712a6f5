import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from engine.errors import ExchangeError, LabelStoreError, NewerStoreError
from engine.prompt import Prompt
from labels.database import LabelDatabase
from labels.exchange.files import Dataset
from labels.exchange.merge import merge, read_events
from labels.records import NOT_RELEVANT, RELEVANT
from labels.store import LabelStore
from tests.labels.exchange.datasets import (
    content,
    dataset,
    event,
    moment,
    opened,
    sighting,
    store_test,
    stored_datasets,
)
from tests.labels.samples import record, retrieval, say


@st.composite
def halves(draw: st.DrawFn) -> tuple[Dataset, Dataset]:
    """Two people's stores: each has some of the events, with what these supersede, and some of the retrievals."""
    whole = draw(stored_datasets)
    return draw(part(whole)), draw(part(whole))


@st.composite
def part(draw: st.DrawFn, whole: Dataset) -> Dataset:
    chosen = {event.uid for event in whole.events if draw(st.booleans())}
    for each in reversed(whole.events):
        if each.uid in chosen and each.supersedes:
            chosen.add(each.supersedes)
    hours = draw(st.integers(0, 2)) * 60
    return replace(
        whole,
        prompts=tuple(Prompt(each.id, each.text, kind=draw(st.sampled_from(["", "a", "b"]))) for each in whole.prompts),
        memories=tuple(each._replace(body=draw(st.sampled_from([each.body, None]))) for each in whole.memories),
        events=tuple(each for each in whole.events if each.uid in chosen),
        retrievals=tuple(
            {**each, "ts": moment(hours), "elapsed_ms": draw(st.sampled_from([1.0, 2.0]))}
            for each in whole.retrievals
            if draw(st.booleans())
        ),
        pool=tuple({**each, "ts": moment(hours)} for each in whole.pool),
        plan=tuple({**each, "stratum": draw(st.sampled_from(["x", "y"]))} for each in whole.plan),
        sightings=tuple({**each, "ts": moment(hours)} for each in whole.sightings if draw(st.booleans())),
    )


@store_test
@given(halves())
def test_it_does_not_matter_which_store_is_merged_into_which_and_twice_is_once(stores: tuple[Dataset, Dataset]) -> None:
    with opened(*stores, *stores) as (ours, theirs, ours_too, theirs_too):
        merge(ours, theirs.path)
        merge(theirs_too, ours_too.path)
        once = content(ours)
        assert once == content(theirs_too)
        uids = {each.uid for store in stores for each in store.events}
        assert sorted(each.uid for each in read_events(ours)) == sorted(uids)
        added = merge(ours, theirs.path)
        assert content(ours) == once
        assert (added.events, added.prompts, added.memories, added.retrievals) == ((), 0, 0, 0)


@settings(store_test, max_examples=5)
@given(halves(), st.data())
def test_three_stores_merge_in_any_order(stores: tuple[Dataset, Dataset], data: DataObject) -> None:
    third = data.draw(part(stores[0]))
    empty = dataset(prompts=(), memories=())
    with opened(*stores, third, empty, empty) as (*parts, forwards, backwards):
        for each in parts:
            merge(forwards, each.path)
        for each in reversed(parts):
            merge(backwards, each.path)
        assert content(forwards) == content(backwards)


def test_a_key_press_counts_though_the_clock_was_set_back(tmp_path: Path) -> None:
    for hour, verdict in ((9, RELEVANT), (7, NOT_RELEVANT)):
        with LabelStore.open(tmp_path / "l.db", now=lambda hour=hour: datetime(2026, 1, 1, hour, tzinfo=UTC)) as store:
            record(store, retrieval(["a"]))
            say(store, "p1 a", verdict)
            assert [label.verdict for label in store.labels()] == [verdict]


def test_a_prompt_of_one_id_with_two_texts_or_a_changed_event_is_refused_and_nothing_is_merged() -> None:
    other = dataset(event("a" * 32), prompts=(Prompt("p1", "something else"),))
    changed = dataset(event("b" * 32, verdict=NOT_RELEVANT))
    with opened(dataset(event("b" * 32)), other, changed) as (ours, theirs, edited):
        before = content(ours)
        with pytest.raises(ExchangeError, match=r"The prompt 'p1' has another text in .*0\.db, .*Nothing was added"):
            merge(ours, theirs.path)
        with pytest.raises(ExchangeError, match=r"b{32} comes twice with different contents"):
            merge(ours, edited.path)
        assert content(ours) == before


def test_a_store_that_is_in_use_is_merged_as_it_stands_and_left_as_it_is(tmp_path: Path) -> None:
    with closing(LabelDatabase(tmp_path / "ours.db")) as ours:
        with LabelStore.open(tmp_path / "theirs.db") as store:
            record(store, retrieval(["a"]))
            for verdict in (RELEVANT, NOT_RELEVANT):
                say(store, "p1 a", verdict)
                assert len(merge(ours, tmp_path / "theirs.db").events) == 1
        before = (tmp_path / "theirs.db").read_bytes()
        assert merge(ours, tmp_path / "theirs.db").known == 2
    assert (tmp_path / "theirs.db").read_bytes() == before
    assert sorted(path.name for path in tmp_path.glob("theirs*")) == ["theirs.db"]


def test_what_a_killed_program_had_saved_is_merged(tmp_path: Path) -> None:
    with LabelStore.open(tmp_path / "live.db") as store:
        record(store, retrieval(["a"]))
        say(store, "p1 a")
        for ending in ("", "-wal"):
            shutil.copyfile(tmp_path / f"live.db{ending}", tmp_path / f"theirs.db{ending}")
    with closing(LabelDatabase(tmp_path / "ours.db")) as ours:
        assert len(merge(ours, tmp_path / "theirs.db").events) == 1


def test_what_is_no_label_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, but long enough")
    with closing(sqlite3.connect(tmp_path / "newer.db")) as db:
        db.execute("CREATE TABLE _sqlite_migrations (migration_set TEXT, name TEXT, applied_at TEXT)")
        db.execute("INSERT INTO _sqlite_migrations VALUES ('memsift.labels', 'm999_later', '')")
        db.commit()
    with closing(LabelDatabase(tmp_path / "ours.db")) as ours:
        with pytest.raises(LabelStoreError, match=rf"Label store {tmp_path}/text\.db: it is not an SQLite database"):
            merge(ours, tmp_path / "text.db")
        with pytest.raises(NewerStoreError, match=rf"Label store {tmp_path}/newer\.db: a newer memsift made it"):
            merge(ours, tmp_path / "newer.db")


def test_what_was_seen_in_either_store_has_been_seen() -> None:
    ours, theirs = (dataset(sightings=(sighting("ann", "p1", at),)) for at in (0, 1))
    more = dataset(sightings=(sighting("ann", "p2", 2), sighting("bob", "p1", 2)))
    with opened(ours, theirs, more) as (into, *others):
        for other in others:
            merge(into, other.path)
        with LabelStore.open(into.path) as store:
            seen = [store.seen_prompts(who) for who in ("ann", "bob", "cat")]
        assert seen == [{"p1", "p2"}, {"p1"}, frozenset()]


def test_retrievals_that_are_merged_in_are_as_new_as_they_were(tmp_path: Path) -> None:
    for name, hour, injected in (("ours", 12, "a"), ("theirs", 9, "b")):
        made = datetime(2026, 1, 1, hour, tzinfo=UTC)
        with LabelStore.open(tmp_path / f"{name}.db", now=lambda made=made: made) as store:
            record(store, retrieval([injected]), corpus_hash=name)
    with closing(LabelDatabase(tmp_path / "ours.db")) as ours:
        assert merge(ours, tmp_path / "theirs.db").retrievals == 1
    with LabelStore.open(tmp_path / "ours.db") as store:
        assert [outcome.injected for outcome in store.outcomes()] == [("a",)]
