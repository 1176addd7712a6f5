from collections.abc import Mapping

from labels.labelling_order import (
    MIN_REPEAT_GAP,
    REPEAT_GAP_SPREAD,
    REPEAT_SHARE,
    due_repeats,
    is_repeated,
    open_cards,
    pace,
)
from labels.records import LABEL, RELEVANT, RETRACT, SKIP, Event, Label, Pair
from tests.labels.samples import pool_of


def pair(memory_id: str) -> Pair:
    return memory_id, f"digest-of-{memory_id}"


def shown(labelled: set[str], skips: Mapping[str, int]) -> list[str]:
    skipped = {pair(memory_id): times for memory_id, times in skips.items()}
    cards = open_cards(pool_of("a", "b", "c", "d"), {pair(memory_id) for memory_id in labelled}, skipped)
    return [card.memory.id for card in cards]


def event(action: str, elapsed_ms: int) -> Event:
    return Event("ann", "p1", "a", action=action, elapsed_ms=elapsed_ms)


def test_cards_come_in_the_pools_order_without_the_labelled() -> None:
    assert shown(set(), {}) == ["a", "b", "c", "d"]
    assert shown({"a", "c"}, {}) == ["b", "d"]


def test_a_skipped_card_comes_back_at_the_end_and_is_passed_after_a_second_skip() -> None:
    assert shown(set(), {"a": 1}) == ["b", "c", "d", "a"]
    assert shown({"b"}, {"a": 1, "c": 2}) == ["d", "a"]
    assert shown(set(), {"a": 3, "b": 2, "c": 2, "d": 2}) == []


def test_a_label_for_another_text_leaves_the_card_open() -> None:
    assert [card.memory.id for card in open_cards(pool_of("a"), {("a", "edited")}, {})] == ["a"]


def test_nothing_is_open_when_every_card_is_labelled_or_passed() -> None:
    pool = pool_of("a", "b")
    assert [card.memory.id for card in open_cards(pool, {pair("a")}, {pair("b"): 1})] == ["b"]
    assert open_cards(pool, {pair("a")}, {pair("b"): 2}) == ()
    assert open_cards(pool_of(), set(), {}) == ()


def test_pace_is_the_median_time_of_a_label_in_seconds() -> None:
    events = [event(LABEL, 1000), event(LABEL, 60_000), event(LABEL, 3000), event(SKIP, 1), event(RETRACT, 0)]
    assert pace(events) == 3.0
    assert pace(events[3:]) is None


# Hidden repeats


def given_labels(number: int) -> list[Label]:
    """Labels of as many cards, newest first."""
    return [
        Label(n, "t", "ann", f"p{n // 4}", f"m{n}", f"d{n}", RELEVANT, None, "", "", True) for n in range(number, 0, -1)
    ]


def test_about_one_card_in_ten_comes_back_and_always_the_same_ones() -> None:
    labels = given_labels(10_000)
    chosen = [label for label in labels if is_repeated(label, seed=1)]
    assert abs(len(chosen) / len(labels) - REPEAT_SHARE) < 0.01
    assert chosen == [label for label in labels if is_repeated(label, seed=1)]
    assert chosen != [label for label in labels if is_repeated(label, seed=2)]


def test_a_card_comes_back_only_after_a_number_of_others() -> None:
    labels = given_labels(2_000)
    waits = {label.event_id: later for later, label in enumerate(labels)}
    found = due_repeats(labels, seed=1)
    assert found
    assert min(waits[label.event_id] for label in found) >= MIN_REPEAT_GAP
    chosen = {label.event_id for label in labels[MIN_REPEAT_GAP + REPEAT_GAP_SPREAD :] if is_repeated(label, seed=1)}
    assert chosen <= {label.event_id for label in found}
    assert due_repeats(labels[: MIN_REPEAT_GAP - 1], seed=1) == ()


def test_turns_do_not_come_at_a_fixed_distance() -> None:
    labels = given_labels(600)
    turns = set()
    for wanted in [label for label in labels[100:] if is_repeated(label, seed=1)]:
        at = labels.index(wanted)
        turns.add(next(wait for wait in range(60) if wanted in due_repeats(labels[at - wait :], seed=1)))
    assert len(turns) > 5
    assert min(turns) >= MIN_REPEAT_GAP
    assert max(turns) < MIN_REPEAT_GAP + REPEAT_GAP_SPREAD


def test_the_longest_waiting_comes_first() -> None:
    found = [label.event_id for label in due_repeats(given_labels(500), seed=1)]
    assert found == sorted(found)


def test_what_was_labelled_beside_its_ranks_or_imported_does_not_come_back() -> None:
    labels = given_labels(500)
    assert due_repeats([label._replace(blind=False) for label in labels], seed=1) == ()
    assert due_repeats([label._replace(source="labels.jsonl") for label in labels], seed=1) == ()
