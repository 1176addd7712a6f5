from __future__ import annotations

from labels.measure.groups import by_confidence, by_kind
from labels.measure.intervals import headline_interval
from labels.measure.metrics import Ratio, tally
from tests.labels.samples import Found, outcome

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


def test_what_was_injected_with_unknown_confidence_is_in_no_group() -> None:
    rows = [outcome(["a"])]
    assert by_confidence(rows, [tally(row, PEOPLE) for row in rows]) == ()


def test_precision_is_counted_for_each_kind_of_prompt() -> None:
    rows = [outcome(["a", "b"], kind="specific"), outcome(["a"], prompt_id="p2")]
    tallies = [tally(row, PEOPLE) for row in rows]
    unnamed, specific = by_kind(rows, tallies, {})
    assert (unnamed.name, unnamed.precision.ratio) == ("(no kind)", Ratio(0, 1))
    assert (specific.name, specific.precision.ratio) == ("specific", Ratio(1, 2))
    assert [group.name for group in by_kind(rows, tallies, {"p2": "ambiguous"})] == ["ambiguous", "specific"]


def test_without_kinds_there_are_no_groups() -> None:
    rows = [outcome(["a"])]
    assert by_kind(rows, [tally(row, PEOPLE) for row in rows], {}) == ()
