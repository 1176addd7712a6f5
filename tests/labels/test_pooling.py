import pytest

from labels.pooling import MIN_REPEAT_GAP, REPEAT_GAP_SPREAD, REPEAT_SHARE, due_repeats, labelling_order, pool
from labels.records import RELEVANT, Event, Pool
from tests.labels.samples import judged, retrieval


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


def test_the_pool_is_the_union_of_what_systems_inject_for_one_prompt_with_two_cards_for_an_edited_memory() -> None:
    cards = pool([retrieval(["a", "b", "c"], {"d": "cap"}), judged(["c", "e"], [])], seed=1)
    assert sorted(ids(cards)) == ["a", "b", "c", "e"]
    edited = pool([retrieval(["a"]), retrieval(["a"], system="other", digests={"a": "edited"})], seed=1)
    assert sorted(card.memory.digest for card in edited.cards) == ["digest-of-a", "edited"]
    assert pool([retrieval([])], seed=1).cards == ()
    with pytest.raises(ValueError, match="of one prompt, not of 2"):
        pool([retrieval(["a"]), retrieval(["a"], prompt_id="p2")], seed=1)
    with pytest.raises(ValueError, match="of one prompt, not of 0"):
        pool([], seed=1)


def test_the_order_follows_from_prompt_and_seed_and_not_from_rank() -> None:
    forwards, backwards = pool([retrieval(MANY)], seed=1), pool([retrieval(MANY[::-1])], seed=1)
    assert ids(forwards) == ids(backwards) == ids(pool([retrieval(MANY)], seed=1))
    assert ids(forwards) != MANY
    assert ids(pool([retrieval(MANY)], seed=2)) != ids(forwards)
    assert ids(pool([retrieval(MANY, prompt_id="p2")], seed=1)) != ids(forwards)
    assert [card.position for card in forwards.cards] == list(range(1, 11))
    after = ids(pool([retrieval([*MANY, "new"])], seed=1))
    assert [name for name in after if name != "new"] == ids(forwards), "a new memory does not disturb the others"


# Hidden repeats


def given_labels(number: int) -> list[Event]:
    """Labels of as many cards, newest first."""
    return [
        Event("ann", f"p{n // 4}", f"m{n}", f"d{n}", verdict=RELEVANT, blind=True, event_id=n)
        for n in range(number, 0, -1)
    ]


def test_about_one_card_in_ten_comes_back_and_always_the_same_ones() -> None:
    labels = given_labels(10_000)
    chosen = due_repeats(labels, seed=1)
    assert abs(len(chosen) / len(labels) - REPEAT_SHARE) < 0.01
    assert due_repeats(labels, seed=1) == chosen != due_repeats(labels, seed=2)
    assert [label.event_id for label in chosen] == sorted(label.event_id for label in chosen), (
        "the longest waiting first"
    )


def test_a_card_comes_back_after_a_number_of_others_and_not_at_a_fixed_distance() -> None:
    labels = given_labels(300)
    assert due_repeats(labels[: MIN_REPEAT_GAP - 1], seed=1) == ()
    turns = set()
    for wanted in [label for label in due_repeats(labels, seed=1) if labels.index(label) >= 100]:
        at = labels.index(wanted)
        turns.add(next(wait for wait in range(60) if wanted in due_repeats(labels[at - wait :], seed=1)))
    assert len(turns) > 5
    assert min(turns) >= MIN_REPEAT_GAP
    assert max(turns) < MIN_REPEAT_GAP + REPEAT_GAP_SPREAD


def test_what_was_labelled_beside_its_ranks_or_imported_does_not_come_back() -> None:
    labels = given_labels(500)
    assert due_repeats([label._replace(blind=False) for label in labels], seed=1) == ()
    assert due_repeats([label._replace(source="labels.jsonl") for label in labels], seed=1) == ()
