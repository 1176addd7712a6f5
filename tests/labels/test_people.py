"""Several people and one person twice: gold labels, adjudications, repeats."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given

from labels.events import by_pair, key_of, shared_verdict
from labels.exchange.files import Dataset
from labels.records import ADJUDICATED, MAJORITY, NOT_RELEVANT, RELEVANT, SINGLE, UNRATEABLE, UNSURE, Event, Repeat
from labels.store import LabelStore
from tests.labels.exchange.datasets import opened, store_test, stored_datasets
from tests.labels.samples import card, pool_of, record, retrieval
from tests.labels.samples import say as press


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    with LabelStore.open(tmp_path / "labels.db") as store:
        store.record_pool(pool_of("a", "b"))
        yield store


def say(store: LabelStore, who: str, verdict: str, memory_id: str = "a", *, repeat: bool = False) -> Event:
    return press(store, f"p1 {memory_id}", verdict, who=who, repeat=repeat)


def settle(store: LabelStore, who: str, verdict: str) -> Event:
    return store.adjudicate(who, "p1", card("a"), verdict, seed=1, elapsed_ms=1)


def gold(store: LabelStore) -> list[tuple[str, str, int]]:
    return [(one.verdict, one.basis, one.labels) for one in store.gold()]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([RELEVANT], [(RELEVANT, SINGLE, 1)]),
        ([UNSURE], [(UNSURE, SINGLE, 1)]),
        ([RELEVANT, RELEVANT, NOT_RELEVANT], [(RELEVANT, MAJORITY, 3)]),
        ([RELEVANT, NOT_RELEVANT, NOT_RELEVANT], [(NOT_RELEVANT, MAJORITY, 3)]),
        ([RELEVANT, UNSURE, UNSURE], [(RELEVANT, MAJORITY, 3)]),
        ([RELEVANT, NOT_RELEVANT], []),
        ([RELEVANT, NOT_RELEVANT, UNSURE], []),
        ([UNSURE, UNSURE], [(UNSURE, MAJORITY, 2)]),
        ([UNSURE, UNRATEABLE], []),
    ],
)
def test_gold_is_the_majority_of_relevant_against_not(
    store: LabelStore, said: list[str], expected: list[tuple[str, str, int]]
) -> None:
    for number, verdict in enumerate(said):
        say(store, f"person {number}", verdict)
    assert gold(store) == expected


@store_test
@given(stored_datasets)
def test_gold_in_sql_is_the_shared_verdict_or_the_adjudication(dataset: Dataset) -> None:
    with opened(dataset) as (db,), LabelStore.open(db.path) as store:
        said = by_pair(store.labels())
        shared = {key: shared_verdict([label.verdict for label in labels]) for key, labels in said.items()}
        shared |= {key_of(label): label.verdict for label in store.adjudications()}
        found = {(gold.prompt_id, *gold.pair): gold.verdict for gold in store.gold()}
    assert found == {key: verdict for key, verdict in shared.items() if verdict}


def test_an_adjudication_settles_a_pair_until_it_is_taken_back(store: LabelStore) -> None:
    say(store, "ann", RELEVANT)
    say(store, "bob", NOT_RELEVANT)
    event = settle(store, "cat", NOT_RELEVANT)
    assert (event.action, event.blind, event.supersedes) == ("adjudicate", False, None)
    assert gold(store) == [(NOT_RELEVANT, ADJUDICATED, 1)]
    settle(store, "ann", RELEVANT)
    assert gold(store) == [(RELEVANT, ADJUDICATED, 1)]
    assert [label.annotator for label in store.adjudications()] == ["ann"]
    store.undo("ann", adjudications=True)
    assert gold(store) == [(NOT_RELEVANT, ADJUDICATED, 1)]
    assert store.undo("cat") is None
    assert store.undo("cat", adjudications=True) is not None
    assert gold(store) == []


def test_disputes_are_the_pairs_on_which_people_differ_until_they_are_settled(store: LabelStore) -> None:
    say(store, "ann", RELEVANT)
    say(store, "bob", UNSURE)
    say(store, "bob", NOT_RELEVANT)
    say(store, "ann", RELEVANT, "b")
    say(store, "bob", RELEVANT, "b")
    say(store, "bob", NOT_RELEVANT, "b", repeat=True)
    (dispute,) = store.disputes()
    assert (dispute.prompt_id, dispute.pair) == ("p1", ("a", "digest-of-a"))
    assert [(label.annotator, label.verdict) for label in dispute.labels] == [("ann", RELEVANT), ("bob", NOT_RELEVANT)]
    assert store.disputes("/nowhere") == ()
    settle(store, "ann", RELEVANT)
    assert store.disputes() == ()


def test_an_adjudication_is_nobodys_own_label_and_needs_a_verdict(store: LabelStore) -> None:
    say(store, "ann", RELEVANT)
    settle(store, "ann", NOT_RELEVANT)
    with pytest.raises(ValueError, match="maybe"):
        settle(store, "ann", "maybe")
    (label,) = store.labels("ann")
    assert label.verdict == RELEVANT
    assert say(store, "ann", UNSURE).supersedes == label.event_id


def test_a_repeat_stands_beside_the_label_before_it_changes_nothing_and_can_be_taken_back(store: LabelStore) -> None:
    say(store, "ann", NOT_RELEVANT)
    first = say(store, "ann", RELEVANT)
    store.skip("ann", "p1", card("b"), seed=1, blind=True, elapsed_ms=1, repeat=True)
    again = say(store, "ann", NOT_RELEVANT, repeat=True)
    assert (again.repeat, again.supersedes, store.skips("ann", "p1")) == (True, None, {})
    assert [(label.verdict, label.event_id) for label in store.labels()] == [(RELEVANT, first.event_id)]
    assert gold(store) == [(RELEVANT, SINGLE, 1)]
    said = (Repeat("ann", "p1", "a", "digest-of-a", RELEVANT, NOT_RELEVANT),)
    assert store.repeats() == said
    assert say(store, "ann", UNSURE).supersedes == first.event_id
    assert store.repeats() == said, "what was said before it counts"
    store.undo("ann")
    assert store.undo("ann") == again
    assert (store.events()[-1].repeat, store.repeats()) == (True, ())
    assert [label.verdict for label in store.labels()] == [RELEVANT]


def test_repeats_and_gold_can_be_asked_for_by_root(store: LabelStore) -> None:
    record(store, retrieval(["a"]), root="/one")
    say(store, "ann", RELEVANT)
    say(store, "ann", RELEVANT, repeat=True)
    settle(store, "ann", RELEVANT)
    for root, there in [("/one", 1), ("/two", 0), (None, 1)]:
        assert [len(store.repeats(root)), len(store.gold(root)), len(store.adjudications(root))] == [there] * 3


def test_events_carry_names_that_no_other_store_gives(tmp_path: Path) -> None:
    def token(length: int) -> str:
        return next(names).rjust(2 * length, "0")

    names = iter("s123")
    with LabelStore.open(tmp_path / "other.db", token=token) as store:
        store.record_pool(pool_of("a"))
        say(store, "ann", RELEVANT)
        store.undo("ann")
        assert [event.uid for event in store.events()] == ["1".rjust(32, "0"), "2".rjust(32, "0")]
        assert {event.session for event in store.events()} == {"s".rjust(16, "0")} == {store.session}
        label = say(store, "ann", RELEVANT)
        assert [(each.event_id, each.source) for each in store.labels()] == [(label.event_id, "")]
