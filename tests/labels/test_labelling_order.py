from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labels.labelling_order import (
    AGREE,
    ALL,
    DIFFER,
    DISAGREEMENT_FIRST,
    FAR,
    NEAR,
    ORDERS,
    RANDOM,
    STRATIFIED,
    UNCERTAIN_FIRST,
    LabellingOrder,
    crossed,
    disagreement,
    first_share,
    has_facet,
    interleaved,
    offered,
    randomly,
    uncertainty,
)
from labels.pooling import (
    MIN_REPEAT_GAP,
    REPEAT_GAP_SPREAD,
    REPEAT_SHARE,
    due_repeats,
    is_repeated,
    open_cards,
    pace,
    pool,
)
from labels.records import INJECTED, JUDGE_DROPPED, LABEL, RELEVANT, RETRACT, SKIP, Event, Label, Pair, Pool
from labels.store import LabelStore
from tests.labels.samples import judged, pool_of, retrieval


def strata(differ: int, agree: int) -> dict[str, str]:
    return {f"d{n}": DIFFER for n in range(differ)} | {f"a{n}": AGREE for n in range(agree)}


def counts(order: tuple[str, ...], first: int) -> tuple[int, int]:
    """How many of the *first* prompts are of those on which systems differ, and how many of the others."""
    names = [prompt_id[0] for prompt_id in order[:first]]
    return names.count("d"), names.count("a")


def test_prompts_come_in_a_seeded_random_order_whatever_order_they_are_given_in() -> None:
    prompts = [f"p{number}" for number in range(20)]
    order = randomly(prompts, seed=1)
    assert sorted(order) == sorted(prompts)
    assert list(order) != prompts
    assert randomly([*reversed(prompts), "p3"], seed=1) == order
    assert randomly(prompts, seed=2) != order


def test_disagreements_come_sooner_than_by_chance_until_they_are_used_up() -> None:
    order = offered(LabellingOrder(DISAGREEMENT_FIRST, 1, strata(40, 60)))
    assert [counts(order, first) for first in (10, 40, 80)] == [(5, 5), (19, 21), (38, 42)]
    assert counts(order, 100) == (40, 60)


def test_disagreements_are_four_of_five_where_they_are_many() -> None:
    order = offered(LabellingOrder(DISAGREEMENT_FIRST, 1, strata(75, 25)))
    assert [counts(order, first) for first in (5, 10, 50)] == [(4, 1), (8, 2), (40, 10)]
    assert counts(offered(LabellingOrder(DISAGREEMENT_FIRST, 1, strata(90, 10))), 50) == (45, 5)


@pytest.mark.parametrize("part", [0.01, 0.1, 0.2, 0.35, 0.5, 0.7, 0.8, 0.95])
def test_what_comes_first_gets_no_more_than_costs_a_fiftieth_of_the_variance(part: float) -> None:
    share = first_share(part)
    variance = part**2 / share + (1 - part) ** 2 / (1 - share)
    assert part <= share
    assert variance == pytest.approx(1.02) or (share == max(0.8, part) and variance < 1.02)


def test_there_is_an_order_where_all_systems_differ_or_none_do() -> None:
    assert (first_share(0.0), first_share(1.0)) == (pytest.approx(0.02 / 1.02), 1.0)
    for known in (strata(3, 0), strata(0, 3), {}):
        assert sorted(offered(LabellingOrder(DISAGREEMENT_FIRST, 1, known))) == sorted(known)


def test_the_stratified_order_keeps_the_proportions_at_every_moment() -> None:
    order = offered(LabellingOrder(STRATIFIED, 1, strata(25, 75)))
    for first in range(101):
        differ, _ = counts(order, first)
        assert abs(differ - first / 4) <= 1


def test_uncertain_prompts_come_first_in_theirs() -> None:
    near = {f"n{n}": NEAR for n in range(10)} | {f"f{n}": FAR for n in range(90)}
    order = offered(LabellingOrder(UNCERTAIN_FIRST, 1, near))
    assert sum(prompt_id[0] == "n" for prompt_id in order[:40]) == 6


def test_the_random_order_knows_no_strata() -> None:
    known = strata(10, 10)
    assert (
        offered(LabellingOrder(RANDOM, 1, known))
        == randomly(known, 1)
        == offered(LabellingOrder(RANDOM, 1, dict.fromkeys(known, ALL)))
    )


@given(
    cells=st.lists(st.sampled_from([crossed(one, other) for one in (DIFFER, AGREE) for other in (NEAR, FAR)])),
    legs=st.lists(st.tuples(st.sampled_from(ORDERS), st.integers(0, 10)), max_size=4),
    seed=st.integers(0, 1000),
)
def test_what_is_labelled_is_the_beginning_of_each_stratums_random_order(
    cells: list[str], legs: list[tuple[str, int]], seed: int
) -> None:
    """Whenever a person stops, and after any changes of order: a simple random sample of each cell."""
    known = {f"p{number}": cell for number, cell in enumerate(cells)}
    labelled: set[str] = set()
    for order, prompts in legs:
        left = [prompt_id for prompt_id in offered(LabellingOrder(order, seed, known)) if prompt_id not in labelled]
        labelled |= set(left[:prompts])
    for cell in set(cells):
        members = randomly([prompt_id for prompt_id in known if known[prompt_id] == cell], seed)
        done = [prompt_id in labelled for prompt_id in members]
        assert done == sorted(done, reverse=True)


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0.01, 100)), max_size=4))
def test_interleaving_loses_none_and_keeps_each_groups_order(sizes: list[tuple[int, float]]) -> None:
    groups = [([f"{g}-{n}" for n in range(size)], weight) for g, (size, weight) in enumerate(sizes)]
    order = interleaved(groups)
    assert sorted(order) == sorted(one for members, _ in groups for one in members)
    for g, (members, _) in enumerate(groups):
        assert [one for one in order if one.startswith(f"{g}-")] == members


def test_systems_agree_when_they_inject_the_same_whatever_the_order() -> None:
    assert disagreement([("a", "b"), ("b", "a")]) == AGREE
    assert disagreement([("a", "b"), ("a",)]) == DIFFER
    assert disagreement([(), ()]) == AGREE
    assert disagreement([("a",), ("a",), ("c",)]) == DIFFER


def test_a_prompt_is_uncertain_when_one_candidate_is_near_the_threshold() -> None:
    assert uncertainty([0.9, 0.45], 0.5) == NEAR
    assert uncertainty([0.9, 0.1], 0.5) == FAR
    assert uncertainty([], 0.5) == FAR


def test_strata_are_crossed_when_the_order_changes() -> None:
    cell = crossed(crossed(ALL, DIFFER), NEAR)
    assert cell == crossed(crossed(ALL, NEAR), DIFFER)
    assert cell not in (DIFFER, NEAR)
    assert crossed(DIFFER, ALL) == crossed(DIFFER, DIFFER) == DIFFER
    assert has_facet(cell, DISAGREEMENT_FIRST)
    assert has_facet(cell, UNCERTAIN_FIRST)
    assert not has_facet(DIFFER, UNCERTAIN_FIRST)
    assert has_facet(ALL, RANDOM)


def test_a_plan_is_kept_by_root_and_annotator(tmp_path: Path) -> None:
    with LabelStore.open(tmp_path / "labels.db") as store:
        assert store.plan("/one", "ann") is None
        plan = LabellingOrder(DISAGREEMENT_FIRST, 7, strata(2, 1))
        store.save_plan("/one", "ann", plan)
        assert store.plan("/one", "ann") == plan
        assert store.plan("/one", "bob") is None
        assert store.plan("/two", "ann") is None


def test_a_later_plan_replaces_what_it_says_and_the_order_of_all(tmp_path: Path) -> None:
    with LabelStore.open(tmp_path / "labels.db") as store:
        store.save_plan("/one", "ann", LabellingOrder(RANDOM, 7, {"p1": ALL, "p2": ALL}))
        store.save_plan("/one", "ann", LabellingOrder(STRATIFIED, 7, {"p2": DIFFER, "p3": AGREE}))
        assert store.plan("/one", "ann") == LabellingOrder(STRATIFIED, 7, {"p1": ALL, "p2": DIFFER, "p3": AGREE})


@pytest.mark.parametrize("second", ["ann", "bob"])
def test_the_newest_plan_says_the_strata_whoever_made_it(tmp_path: Path, second: str) -> None:
    with LabelStore.open(tmp_path / "labels.db") as store:
        assert store.strata("/one") == {}
        store.save_plan("/one", "bob", LabellingOrder(RANDOM, 7, {"p1": ALL, "p2": ALL}))
        store.save_plan("/one", second, LabellingOrder(STRATIFIED, 7, {"p1": DIFFER}))
        assert store.strata("/one") == {"p1": DIFFER, "p2": ALL}
        assert store.strata("/two") == {}


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
