from __future__ import annotations

from typing import TYPE_CHECKING

from labels.queue import open_cards, pace
from labels.records import LABEL, RETRACT, SKIP, Event
from tests.labels.samples import pool_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labels.records import Pair


def pair(memory_id: str) -> Pair:
    return memory_id, f"digest-of-{memory_id}"


def shown(labelled: set[str], skips: Mapping[str, int]) -> list[str]:
    skipped = {pair(memory_id): times for memory_id, times in skips.items()}
    cards = open_cards(pool_of("a", "b", "c", "d"), {pair(memory_id) for memory_id in labelled}, skipped)
    return [card.memory.id for card in cards]


def event(action: str, elapsed_ms: int) -> Event:
    return Event(1, "t", "ann", "p1", "a", "d", action, None, None, "", "", True, 1, 1, elapsed_ms, "", "0.1.0", None)


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
