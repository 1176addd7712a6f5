from collections import Counter

import pytest

from labels.labelling_order import pool
from labels.records import INJECTED, JUDGE_DROPPED, Pool
from tests.labels.samples import judged, retrieval

MANY = [f"m{number}" for number in range(10)]


def ids(of: Pool, stratum: str | None = None) -> list[str]:
    return [card.memory.id for card in of.cards if stratum in (None, card.stratum)]


def test_the_pool_is_the_union_of_what_systems_inject() -> None:
    cards = pool([retrieval(["a", "b", "c"], {"d": "cap"}), judged(["c", "e"], [])], seed=1)
    assert sorted(ids(cards)) == ["a", "b", "c", "e"]
    assert {(card.stratum, card.inclusion_probability) for card in cards.cards} == {(INJECTED, 1.0)}


def test_what_the_judge_dropped_is_sampled_with_its_probability() -> None:
    drawn = pool([retrieval(["a"]), judged(["a"], MANY)], seed=1, judge_dropped_sample=4)
    assert ids(drawn, INJECTED) == ["a"]
    assert len(ids(drawn, JUDGE_DROPPED)) == 4
    assert {card.inclusion_probability for card in drawn.cards if card.stratum == JUDGE_DROPPED} == {0.4}


def test_what_another_system_injects_is_not_sampled_again() -> None:
    drawn = pool([retrieval(["a", "b"]), judged(["a"], ["b", "c"])], seed=1)
    assert ids(drawn, JUDGE_DROPPED) == ["c"]
    assert sorted(ids(drawn, INJECTED)) == ["a", "b"]
    assert [card.inclusion_probability for card in drawn.cards] == [1.0, 1.0, 1.0]


def test_no_sample_is_drawn_when_none_is_wanted() -> None:
    assert ids(pool([judged(["a"], MANY)], seed=1, judge_dropped_sample=0)) == ["a"]


def test_every_dropped_memory_is_drawn_as_often_as_its_probability_says() -> None:
    drawn: Counter[str] = Counter()
    for seed in range(2000):
        drawn.update(ids(pool([judged([], MANY)], seed=seed, judge_dropped_sample=3)))
    assert set(drawn) == set(MANY)
    assert all(abs(times / 2000 - 0.3) < 0.05 for times in drawn.values())


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


def test_the_position_of_a_card_does_not_tell_that_the_judge_dropped_it() -> None:
    positions = Counter(
        card.position
        for seed in range(2000)
        for card in pool([retrieval(["a", "b"]), judged([], MANY)], seed=seed).cards
        if card.stratum == JUDGE_DROPPED
    )
    assert sorted(positions) == [1, 2, 3, 4]
    assert all(abs(times / 4000 - 0.25) < 0.03 for times in positions.values())


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
