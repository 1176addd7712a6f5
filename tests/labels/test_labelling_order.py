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
from labels.store import LabelStore


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
