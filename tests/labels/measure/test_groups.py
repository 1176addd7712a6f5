from dataclasses import replace

import pytest

from labels.measure.evidence import Evidence
from labels.measure.groups import (
    Worst,
    by_agent,
    by_confidence,
    by_kind,
    estimate,
    headline,
    injected_pairs,
    worst_memories,
    worst_prompts,
)
from labels.measure.intervals import headline_interval
from labels.measure.live_interval import NOTHING_KNOWN, betting_intervals
from labels.measure.metrics import Ratio, Tally, tally
from labels.measure.strata import LabelledSample, PairWeights, prompt_weights, stratified_estimate
from tests.labels.samples import Found, outcome

# Estimates


TALLIES = [Tally(f"p{number}", 3, 3, number % 4) for number in range(12)]
STRATA = {f"p{number}": "differ" if number < 6 else "same" for number in range(12)} | {
    f"q{number}": "same" for number in range(20)
}
WEIGHTS = PairWeights(STRATA, prompt_weights(STRATA, {each.prompt_id for each in TALLIES}))


def test_a_random_draw_has_the_headline_interval() -> None:
    found = estimate(TALLIES)
    assert found.ratio == Ratio(18, 36)
    assert found.interval == headline_interval([(each.relevant, each.judged) for each in TALLIES])


def test_prompts_labelled_by_strata_give_the_stratified_estimate() -> None:
    found = estimate(TALLIES, WEIGHTS)
    oracle = stratified_estimate({each.prompt_id: (each.relevant, each.judged) for each in TALLIES}, STRATA)
    assert oracle is not None
    assert found.ratio.value == pytest.approx(oracle.value)
    assert found.interval == oracle.interval


def test_a_part_of_the_memories_is_estimated_over_the_same_strata() -> None:
    """The part is a domain: prompts outside of it add nothing, but belong to the sample."""
    found = estimate(TALLIES[:8], WEIGHTS)
    judged = {each.prompt_id: (each.relevant, each.judged) if each in TALLIES[:8] else (0, 0) for each in TALLIES}
    oracle = stratified_estimate(judged, STRATA)
    assert oracle is not None
    assert found.ratio.value == pytest.approx(oracle.value)
    assert found.interval is not None
    assert vars(found.interval) == pytest.approx(vars(oracle.interval))


def test_the_live_interval_takes_the_prompts_as_they_were_labelled() -> None:
    sample = LabelledSample(
        judged={"p3": (3, 3), "p1": (1, 3), "p2": (2, 3)}, injected={"p1": 3, "p2": 3, "p3": 3, "p4": 1}
    )
    found = headline(sample).live
    assert vars(found) == pytest.approx(vars(betting_intervals([(3, 3), (1, 3), (2, 3)], 3, [3])[0]))
    assert headline(replace(sample, judged={})).live == NOTHING_KNOWN


# Groups


PEOPLE = {"p1": {"a": True, "b": False}, "p2": {"a": False}}


def test_precision_is_counted_for_each_confidence() -> None:
    rows = [
        outcome(["a", "b"], found=(Found(-2.0, "high"), Found(-1.0, "low"))),
        outcome(["a", "unlabelled"], prompt_id="p2", found=(Found(-2.0, "high"), Found(-1.0, "high"))),
    ]
    high, low = by_confidence(rows, [tally(row, PEOPLE) for row in rows])
    assert (high.name, high.prompts, high.injected, high.precision.ratio) == ("high", 2, 3, Ratio(1, 2))
    assert high.precision.interval == headline_interval([(1, 1), (0, 1)])
    assert (low.name, low.prompts, low.injected, low.precision.ratio) == ("low", 1, 1, Ratio(0, 1))


def test_a_memory_of_unknown_confidence_is_in_no_group() -> None:
    rows = [outcome(["a"])]
    assert by_confidence(rows, [tally(row, PEOPLE) for row in rows]) == ()


def test_kinds_have_precision_served_and_false_fires() -> None:
    rows = [
        outcome(["a", "b"], kind="specific"),
        outcome(["a"], prompt_id="p2"),
        outcome(["b"], prompt_id="p3", kind="specific"),
        outcome([], prompt_id="p4", kind="vague"),
    ]
    evidence = Evidence(rows, PEOPLE | {"p3": {"a": True, "b": False}, "p4": {"a": True}})
    unnamed, specific, vague = by_kind("bm25", evidence, {})
    assert (unnamed.name, unnamed.precision.ratio) == ("(no kind)", Ratio(0, 1))
    assert (unnamed.served, unnamed.false_fires) == (Ratio(0, 0), Ratio(1, 1))
    assert (specific.name, specific.precision.ratio) == ("specific", Ratio(1, 3))
    assert (specific.served, specific.false_fires) == (Ratio(1, 2), Ratio(0, 0))
    assert [group.name for group in by_kind("bm25", evidence, {"p2": "ambiguous"})] == [
        "ambiguous",
        "specific",
        "vague",
    ]
    assert vague.is_known, "silence is no precision, but a prompt that is not served"
    assert (vague.precision.ratio, vague.served) == (Ratio(0, 0), Ratio(0, 1))


def test_without_kinds_or_a_second_agent_there_are_no_groups() -> None:
    evidence = Evidence([outcome(["a", "b"]), outcome(["a"], prompt_id="p2")], PEOPLE)
    assert by_kind("bm25", evidence, {}) == by_agent("bm25", evidence, {"p1": "Codex"}) == ()
    first, second = by_agent("bm25", evidence, {"p1": "Codex", "p2": "Claude Code"})
    assert (first.name, first.precision.ratio, first.false_fires) == ("Claude Code", Ratio(0, 1), Ratio(1, 1))
    assert (second.name, second.precision.ratio, second.false_fires) == ("Codex", Ratio(1, 2), Ratio(0, 0))


# The worst


JUDGED = {
    "p1": {"a": True, "b": False, "c": False},
    "p2": {"b": False, "c": True},
    "p3": {"b": False, "d": False, "never injected": False},
}
ROWS = [
    outcome(["a", "b"]),
    outcome(["b", "c"], system="other"),
    outcome(["b", "c", "unlabelled"], prompt_id="p2"),
    outcome(["b", "d"], prompt_id="p3"),
    outcome(["z"], prompt_id="p4"),
]


def test_the_worst_memories_are_irrelevant_for_most_prompts() -> None:
    """Two systems that inject the same for one prompt count once. A single irrelevant pair is not listed."""
    found = worst_memories(injected_pairs(ROWS, JUDGED), {"b": "Use B"})
    assert found == (Worst("b", "Use B", irrelevant=3, relevant=0),)


def test_the_worst_prompts_get_most_irrelevant_memories() -> None:
    found = worst_prompts(injected_pairs(ROWS, JUDGED), {"p1": "one"})
    assert [(each.id, each.text, each.irrelevant, each.relevant) for each in found] == [
        ("p3", "", 2, 0),
        ("p1", "one", 2, 1),
    ]


def test_the_list_of_the_worst_is_short() -> None:
    rows = [outcome(["m", "n"], prompt_id=f"p{number:02}") for number in range(30)]
    people = {f"p{number:02}": {"m": False, "n": False} for number in range(30)}
    found = worst_prompts(injected_pairs(rows, people), {})
    assert [each.id for each in found] == [f"p{number:02}" for number in range(10)]
