"""Pools: the order of prompts and cards, hidden repeats; list cards, their answers, and the prompts that count."""

from collections.abc import Iterable
from statistics import fmean

import pytest

from labels.measure.evidence import evidence_from_qrels, evidence_from_store
from labels.measure.gate import PASS, UNDECIDED, Gate, GateReport, gate_report
from labels.measure.intervals import Interval
from labels.measure.metrics import Ratio
from labels.measure.report import SystemReport, report_from_store
from labels.pooling import (
    LIST_LENGTH,
    MIN_REPEAT_GAP,
    REPEAT_GAP_SPREAD,
    REPEAT_SHARE,
    SURELY_LISTED,
    draw,
    due_repeats,
    labelling_order,
    pace,
    pool,
)
from labels.records import NOT_RELEVANT, RELEVANT, Event, Pool
from labels.report.gate_text import gate_lines, gate_text
from labels.store import LabelStore
from tests.benchmarks.lists import asked, drawn_often, held, measure, truth
from tests.benchmarks.served import corpus_roots
from tests.labels.samples import ROOT, judged, known, memory, outcome, record, retrieval, say


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


# List cards


OTHERS = [f"m{number}" for number in range(14)]
EASY = Gate(0.2, Interval(0.2, 0.2))
HOW = {"seed": 1, "blind": True, "elapsed_ms": 4_000}


def listed(made: Pool) -> list[str]:
    return [card.memory.id for card in made.listed]


def pooled(store: LabelStore, injected: list[str], others: Iterable[str], prompt_id: str = "p1") -> Pool:
    """The recorded pool of a prompt that was drawn for a list card."""
    found = retrieval(injected, dict.fromkeys(others, "floor"), prompt_id=prompt_id)
    record(store, found)
    made = pool([found], seed=1, drawn=1.0)
    store.record_pool(made)
    return made


def answer(store: LabelStore, made: Pool, *helped: str, who: str = "ann") -> None:
    pairs = [card.pair for card in made.listed if card.memory.id in helped]
    store.answer_list(who, made.prompt.id, made.listed, pairs, **HOW)


def measured(store: LabelStore, *present: str, **edited: str) -> SystemReport:
    digests = {name: memory(name, edited.get(name, "")).digest for name in present}
    (system,) = report_from_store(store, ROOT, digests or None).systems
    return system


# Which prompts, and which titles


def test_the_first_prompts_are_all_drawn_then_half_and_nothing_but_id_and_seed_decides() -> None:
    drawn: dict[str, float] = {}
    for number in range(2_045):
        if share := draw(f"p{number}", 1, drawn):
            drawn[f"p{number}"] = share
    assert list(drawn)[:SURELY_LISTED] == [f"p{number}" for number in range(SURELY_LISTED)]
    assert set(list(drawn.values())[:SURELY_LISTED]) == {1.0}
    assert set(list(drawn.values())[SURELY_LISTED:]) == {0.5}
    assert abs((len(drawn) - SURELY_LISTED) / 2_000 - 0.5) < 0.04
    assert [draw(name, 1, drawn) for name in drawn] == list(drawn.values()), "a drawn prompt stays drawn"
    assert {draw(f"p{number}", 2, drawn) > 0 for number in range(45, 2_045) if f"p{number}" not in drawn} == {
        True,
        False,
    }


def test_a_list_holds_the_ten_best_candidates_that_no_system_injects_in_an_order_that_tells_nothing() -> None:
    plain = retrieval(["a", "b"], {"gone": "status", **dict.fromkeys(OTHERS, "floor")})
    other = judged(["m0"], ["a", "own"])
    made = pool([plain, other], seed=1, drawn=0.5)
    assert sorted(card.memory.id for card in made.cards) == ["a", "b", "m0"]
    assert set(listed(made)) == {"own", *OTHERS[1:LIST_LENGTH]}
    assert [card.position for card in made.listed] == list(range(4, 4 + LIST_LENGTH))
    backwards = retrieval(["a", "b"], dict.fromkeys(OTHERS[9::-1], "floor"))
    assert listed(pool([backwards], 1, 0.5)) == listed(
        pool([retrieval(["a", "b"], dict.fromkeys(OTHERS[:10], "floor"))], 1, 0.5)
    )
    places = [listed(pool([plain], seed, 0.5)).index("m0") for seed in range(600)]
    assert all(places.count(place) > 30 for place in range(LIST_LENGTH))
    assert (pool([plain], 1).listed, pool([plain], 1).titles, made.titles) == ((), None, None)
    assert pool([retrieval(["a"])], 1, 0.5).titles == 0, "drawn, with nothing to list"


# The answer in the store


def test_one_key_answers_a_list_and_one_undo_takes_the_answer_back(store: LabelStore) -> None:
    made = pooled(store, ["a"], ["b", "c", "d"])
    assert store.drawn(1) == {"p1": 1.0}
    say(store, "p1 a")
    answer(store, made, "c")
    labels = {label.memory_id: (label.verdict, label.titles) for label in store.labels("ann")}
    assert labels == {"a": (RELEVANT, None), "b": (NOT_RELEVANT, 3), "c": (RELEVANT, 3), "d": (NOT_RELEVANT, 3)}
    assert evidence_from_store(store, ROOT, None).listed == {"p1"}
    assert [label.memory_id for label in store.recent("ann")] == ["a"], "a title never comes again as a card"
    assert due_repeats(store.recent("ann", 200), seed=1) == ()
    assert pace(store.events()) == 0.001, "a list card takes longer than a card"
    assert [gold.memory_id for gold in store.gold() if gold.is_title] == ["b", "c", "d"]
    taken = known(store.undo("ann"))
    assert taken.prompt_id == "p1"
    assert [label.memory_id for label in store.labels()] == ["a"]
    assert store.undo("ann", root=ROOT) is not None
    assert store.labels() == ()
    assert len(store.events()) == 8, "nothing is deleted"


def test_another_label_of_a_title_leaves_the_list_answered(store: LabelStore) -> None:
    made = pooled(store, [], ["b"])
    answer(store, made)
    say(store, "p1 b", RELEVANT, blind=False)
    (label,) = store.labels()
    assert (label.verdict, label.titles) == (RELEVANT, 1)
    assert measured(store).served.relevant == Ratio(0, 1)


# The prompts that count


def test_served_false_fires_and_losses_are_of_prompts_with_an_answered_list_alone(store: LabelStore) -> None:
    needed, wrong, silent = (
        pooled(store, own, ["x", "y"], prompt_id) for prompt_id, own in (("p1", ["a"]), ("p2", ["b"]), ("p3", []))
    )
    record(store, retrieval(["c"], prompt_id="p4"))
    for said in ("p1 a", "p2 b", "p4 c"):
        say(store, said, NOT_RELEVANT if "b" in said else RELEVANT)
    before = measured(store)
    assert before.served.estimate is None
    assert before.false_fire_rate == before.lost_per_prompt == Ratio(0, 0)
    answer(store, wrong)
    answer(store, silent)
    assert measured(store).false_fire_rate == Ratio(1, 2), "a silent prompt counts, too"
    answer(store, needed, "x", "y")
    store.undo("ann")
    answer(store, needed, "y")
    after = measured(store)
    assert (after.served.relevant, after.false_fire_rate) == (Ratio(1, 1), Ratio(1, 2))
    assert after.lost_per_prompt == Ratio(1, 3)
    assert after.precision == Ratio(2, 3)
    evidence = report_from_store(store, ROOT).evidence
    assert set(known(evidence.listed)) == {"p1", "p2", "p3"}
    assert len(evidence.labels) == 3, "titles are not counted as labels"


def test_a_need_is_not_forgotten_because_other_memories_push_it_out_of_the_candidates(store: LabelStore) -> None:
    """As in a store that imported the labels without the runs: only the present replay is known."""
    found = retrieval([], {"x": "floor", "y": "floor"})
    record(store, found, root="/of/somebody/else")
    answer(store, pool([found], seed=1, drawn=1.0), "y")
    record(store, retrieval(["junk"]))
    say(store, "p1 junk", NOT_RELEVANT)
    assert measured(store, "junk", "x", "y").served.relevant == Ratio(0, 1)
    assert measured(store, "junk", "x", "y", y="edited").served.relevant == Ratio(0, 0)
    assert measured(store, "junk").false_fire_rate == Ratio(0, 0), "another project's labels of the same prompt"


def test_an_edited_title_opens_its_prompt_again_and_a_removed_or_disputed_one_does_not_count(store: LabelStore) -> None:
    made = pooled(store, [], ["x", "y"])
    answer(store, made)
    assert measured(store, "x", "y").false_fire_rate.whole == 1
    assert measured(store, "x", "y", y="edited").false_fire_rate.whole == 0
    assert measured(store, "x").false_fire_rate.whole == 1, "what is gone is needed by nobody"
    answer(store, made, "x", who="bob")
    assert evidence_from_store(store, ROOT, None).listed == set()
    store.adjudicate("eve", "p1", made.listed[listed(made).index("x")], NOT_RELEVANT, seed=1, elapsed_ms=1)
    assert measured(store, "x", "y").false_fire_rate.whole == 1


def test_the_served_share_waits_for_30_prompts_in_need_and_says_how_many_are_missing() -> None:
    def asked(prompts: int) -> GateReport:
        names = [f"p{number}" for number in range(prompts)]
        rows = [outcome(["a"], prompt_id=name) for name in names]
        people = {name: {"a": True} for name in names}
        return gate_report(evidence_from_qrels(rows, people), "bm25", EASY, least_served=0.3)

    few, enough = asked(24), asked(30)
    assert (few.decision.verdict, few.verdict, few.missing_in_need) == (PASS, UNDECIDED, 6)
    assert gate_lines(few)[0].endswith("and it may or may not serve 30 %: 6 prompts in need missing.")
    assert "--min-served needs 30 prompts in need with a list card: 6 more are missing." in " ".join(
        gate_text(few, is_full=True).split()
    )
    assert "Next: add about 6 prompts to the run and the qrels." in gate_text(few)
    assert (enough.verdict, enough.missing_in_need) == (PASS, 0)


# Whether it holds


@pytest.mark.slow
def test_over_many_draws_served_and_false_fires_are_near_the_truth_and_the_interval_holds_the_full_lists() -> None:
    """On the corpus, of which every memory is labelled. `python -m tests.benchmarks.lists` does it on real roots."""
    prompts = asked(corpus_roots())
    served, vain = truth(prompts.values())
    alone, full = (measure(prompts.values(), 0, lists=share) for share in (0, 1))
    assert (alone.served.value or 0) - served > 0.1, "the pool of the systems alone flatters"
    found = drawn_often(prompts, 200, 150)
    assert abs(fmean(one.served.value or 0 for one in found) - served) < 0.08
    assert abs(fmean(one.false_fires.value or 0 for one in found) - vain) < 0.08
    assert held([one.live for one in found], full.served.value or 0) >= 0.93
    assert held([one.once for one in found], full.false_fires.value or 0) >= 0.93
