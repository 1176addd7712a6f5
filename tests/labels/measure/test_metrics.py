from labels.measure import metrics
from labels.measure.intervals import Interval
from labels.measure.judgements import assuming_not_relevant, consensus, needed_in, pools, prompts_without_relevant
from labels.measure.metrics import Ratio, Tally
from labels.records import NOT_RELEVANT, RELEVANT, UNRATEABLE, UNSURE, Label
from tests.labels.samples import Found, outcome, tally

PEOPLE = {
    "p1": {"a": True, "b": False},
    "p2": {"a": False, "b": False},
    "p3": {"a": True},
}
BM25 = [
    outcome(["a", "b", "c"]),
    outcome(["a", "b"], prompt_id="p2"),
    outcome([], prompt_id="p3"),
    outcome([], prompt_id="p4"),
]
JUDGE = [
    outcome(["a"], system="judge"),
    outcome([], prompt_id="p2", system="judge"),
    outcome(["a"], prompt_id="p3", system="judge"),
    outcome([], prompt_id="p4", system="judge"),
]
TALLIES = [tally(each, PEOPLE) for each in BM25]
POOLS = pools([*BM25, *JUDGE], PEOPLE)
IN_POOLS = metrics.relevant_in(POOLS, PEOPLE)
MEASURED = {"p1", "p2", "p3"}


def label(memory_id: str, verdict: str, who: str = "ann", prompt_id: str = "p1") -> Label:
    return Label(1, "t", who, prompt_id, memory_id, "d", verdict, None, "", "", True)


def test_a_tally_counts_the_injected_memories_by_judgement() -> None:
    assert TALLIES[0] == Tally("p1", injected=3, judged=2, relevant=1, judgements=(True, False, None))
    assert (TALLIES[0].irrelevant, TALLIES[0].unjudged) == (1, 1)


def test_precision_is_of_the_judged_memories_of_all_prompts_together() -> None:
    assert metrics.precision(TALLIES) == Ratio(1, 4)
    assert metrics.precision(TALLIES).value == 0.25


def test_precision_is_unknown_and_not_zero_when_nothing_was_judged() -> None:
    assert metrics.precision([tally(outcome(["x"]), {})]).value is None
    assert metrics.precision([]).value is None


def test_holding_back_is_not_punished() -> None:
    one_of_one = [tally(outcome(["a"]), PEOPLE), tally(outcome([], prompt_id="p2"), PEOPLE)]
    assert metrics.precision(one_of_one).value == 1.0


def test_unjudged_memories_give_bounds() -> None:
    assert metrics.precision_bounds(TALLIES) == Interval(1 / 5, 2 / 5)
    assert metrics.unjudged_share(TALLIES) == Ratio(1, 5)
    assert metrics.precision_bounds([Tally("p1", 0, 0, 0)]) is None


def test_a_silent_system_serves_nobody_and_a_prompt_without_a_needed_memory_does_not_count() -> None:
    needed = needed_in(
        {"p1": {"a": True, "b": True}, "p2": {"c": True}, "p3": {"d": False}, "p4": {"e": True}}, {("p4", "e")}
    )
    assert needed == {"p1": {"a", "b"}, "p2": {"c"}}
    silent = metrics.served([(name, ()) for name in ("p1", "p2", "p3", "p4")], needed)
    loud = metrics.served([("p1", "xb"), ("p2", "x"), ("p3", "d"), ("p4", "e")], needed)
    assert [metrics.precision(found) for found in (silent, loud)] == [Ratio(0, 2), Ratio(1, 2)]


def test_fire_and_false_fire_rate_are_over_prompts() -> None:
    assert metrics.fire_rate(TALLIES) == Ratio(2, 4)
    assert metrics.false_fire_rate(TALLIES, {"p2", "p4"}) == Ratio(1, 2)


def test_irrelevant_and_lost_memories_are_per_measured_prompt() -> None:
    assert metrics.irrelevant_per_prompt(TALLIES, MEASURED) == Ratio(3, 3)
    assert metrics.lost_per_prompt(TALLIES, IN_POOLS, MEASURED) == Ratio(1, 3)


def found_by(*matched: int | None) -> tuple[Found, ...]:
    return tuple(Found(-1.0, "high", number) for number in matched)


def test_a_prompt_is_polluted_by_an_irrelevant_memory_with_one_matched_word() -> None:
    rows = [
        outcome(["a", "b"], found=found_by(1, 1)),
        outcome(["a", "b"], prompt_id="p2", found=found_by(2, 3)),
        outcome(["a"], prompt_id="p3", found=found_by(1)),
    ]
    assert metrics.polluted_rate(rows, [tally(row, PEOPLE) for row in rows], MEASURED) == Ratio(1, 3)


def test_pollution_needs_the_number_of_matched_words() -> None:
    rows = [
        outcome(["a"], found=found_by(None)),
        outcome(["a", "b"], prompt_id="p2"),
        outcome([], prompt_id="p3"),
        outcome(["a"], prompt_id="not labelled", found=found_by(1)),
    ]
    assert metrics.polluted_rate(rows, [tally(row, PEOPLE) for row in rows], MEASURED) == Ratio(0, 1)


def test_recall_is_within_the_pool_of_all_systems() -> None:
    assert metrics.recall_in_pool(TALLIES, IN_POOLS) == Ratio(1, 2)
    assert metrics.recall_in_pool([tally(each, PEOPLE) for each in JUDGE], IN_POOLS) == Ratio(2, 2)


def test_recall_of_all_known_counts_memories_outside_of_the_pool() -> None:
    people = {**PEOPLE, "p1": {"a": True, "b": False, "never found": True}}
    assert metrics.recall_of_known(TALLIES, people) == Ratio(1, 3)
    assert metrics.recall_in_pool(TALLIES, metrics.relevant_in(pools(BM25, people), people)) == Ratio(1, 1)


def test_the_pool_holds_injected_memories_and_judged_candidates() -> None:
    rows = [outcome(["a"], decisions={"a": None, "b": None, "c": None}), outcome(["d"], system="other")]
    assert pools(rows, {"p1": {"b": True, "elsewhere": True}}) == {"p1": {"a", "b", "d"}}


def test_a_prompt_has_nothing_relevant_only_if_its_whole_pool_is_judged() -> None:
    assert prompts_without_relevant(POOLS, PEOPLE) == {"p2"}
    assert prompts_without_relevant({"p2": frozenset({"a", "unjudged"})}, PEOPLE) == frozenset()
    assert prompts_without_relevant({"p4": frozenset()}, PEOPLE) == frozenset()


def test_the_majority_of_people_decides_and_a_tie_is_no_judgement() -> None:
    judgements, disputed = consensus(
        [
            *(label("a", verdict) for verdict in (RELEVANT, RELEVANT, NOT_RELEVANT)),
            *(label("b", verdict) for verdict in (RELEVANT, NOT_RELEVANT)),
            *(label("c", verdict) for verdict in (NOT_RELEVANT, UNSURE)),
            *(label("d", verdict) for verdict in (UNSURE, UNRATEABLE)),
        ]
    )
    assert judgements == {"p1": {"a": True, "c": False}}
    assert disputed == 1


def test_assumed_judgements_do_not_replace_given_ones() -> None:
    rows = [outcome(["a"], decisions={"a": None, "x": None}), outcome(["y"], prompt_id="p9")]
    complete = assuming_not_relevant(rows, {"p1": {"a": True, "elsewhere": True}})
    assert complete == {"p1": {"a": True, "elsewhere": True, "x": False}, "p9": {"y": False}}
