from collections import Counter
from collections.abc import Mapping

import pytest

from labels.pooling import (
    MIN_REPEAT_GAP,
    REPEAT_GAP_SPREAD,
    REPEAT_SHARE,
    due_repeats,
    labelling_order,
    open_cards,
    pace,
    pool,
)
from labels.records import LABEL, RELEVANT, RETRACT, SKIP, Event, Label, Pair, Pool
from tests.labels.samples import judged, pool_of, retrieval


def test_prompts_come_in_a_seeded_random_order_whatever_order_they_are_given_in() -> None:
    prompts = [f"p{number}" for number in range(20)]
    order = labelling_order(prompts, seed=1)
    assert sorted(order) == sorted(prompts) != order
    assert labelling_order(reversed(prompts), seed=1) == order
    assert labelling_order(prompts, seed=2) != order
    assert [name for name in labelling_order([*prompts, "new"], seed=1) if name != "new"] == order


MANY = [f"m{number}" for number in range(10)]


def ids(of: Pool) -> list[str]:
    return [card.memory.id for card in of.cards]


def test_the_pool_is_the_union_of_what_systems_inject() -> None:
    cards = pool([retrieval(["a", "b", "c"], {"d": "cap"}), judged(["c", "e"], [])], seed=1)
    assert sorted(ids(cards)) == ["a", "b", "c", "e"]


def test_a_memory_returned_twice_is_one_card_but_an_edited_one_is_two() -> None:
    same = pool([retrieval(["a"]), retrieval(["a"], system="other")], seed=1)
    assert ids(same) == ["a"]
    edited = pool([retrieval(["a"]), retrieval(["a"], system="other", digests={"a": "edited"})], seed=1)
    assert sorted(card.memory.digest for card in edited.cards) == ["digest-of-a", "edited"]


def test_the_order_follows_from_prompt_and_seed_and_not_from_rank() -> None:
    forwards, backwards = pool([retrieval(MANY)], seed=1), pool([retrieval(MANY[::-1])], seed=1)
    assert ids(forwards) == ids(backwards) == ids(pool([retrieval(MANY)], seed=1))
    assert ids(forwards) != MANY
    assert ids(pool([retrieval(MANY)], seed=2)) != ids(forwards)
    assert ids(pool([retrieval(MANY, prompt_id="p2")], seed=1)) != ids(forwards)
    assert [card.position for card in forwards.cards] == list(range(1, 11))


def test_the_best_memory_comes_at_any_position_equally_often() -> None:
    positions = Counter(ids(pool([retrieval(MANY[:4])], seed=seed)).index("m0") for seed in range(2000))
    assert sorted(positions) == [0, 1, 2, 3]
    assert all(abs(times / 2000 - 0.25) < 0.05 for times in positions.values())


def test_a_new_memory_does_not_disturb_the_order_of_the_others() -> None:
    before = ids(pool([retrieval(MANY)], seed=1))
    after = ids(pool([retrieval([*MANY, "new"])], seed=1))
    assert [memory_id for memory_id in after if memory_id != "new"] == before


def test_a_prompt_for_which_nothing_was_found_has_an_empty_pool() -> None:
    assert pool([retrieval([])], seed=1).cards == ()


def test_a_pool_of_two_prompts_is_refused() -> None:
    with pytest.raises(ValueError, match="of one prompt, not of 2"):
        pool([retrieval(["a"]), retrieval(["a"], prompt_id="p2")], seed=1)
    with pytest.raises(ValueError, match="of one prompt, not of 0"):
        pool([], seed=1)


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
    chosen = due_repeats(labels, seed=1)
    assert abs(len(chosen) / len(labels) - REPEAT_SHARE) < 0.01
    assert due_repeats(labels, seed=1) == chosen != due_repeats(labels, seed=2)


def test_a_card_comes_back_only_after_a_number_of_others() -> None:
    labels = given_labels(2_000)
    waits = {label.event_id: later for later, label in enumerate(labels)}
    found = due_repeats(labels, seed=1)
    assert min(waits[label.event_id] for label in found) >= MIN_REPEAT_GAP
    assert due_repeats(labels[: MIN_REPEAT_GAP - 1], seed=1) == ()


def test_turns_do_not_come_at_a_fixed_distance() -> None:
    labels = given_labels(600)
    turns = set()
    for wanted in [label for label in due_repeats(labels, seed=1) if labels.index(label) >= 100]:
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
