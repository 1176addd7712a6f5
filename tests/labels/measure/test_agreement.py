import random
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_kappa
from statsmodels.stats.inter_rater import fleiss_kappa

from engine.judge.verdict import APPROVED, FLAGGED, REJECTED, TIMEOUT
from labels.measure.agreement import (
    Confusion,
    Graded,
    Table,
    cohens_kappa,
    gwet_ac1,
    judge_agreement,
    krippendorffs_alpha,
    people,
    people_agreement,
    positive_agreement,
)
from labels.measure.intervals import headline_interval
from labels.measure.metrics import Ratio
from labels.records import NOT_RELEVANT, RELEVANT, UNSURE, Event, Repeat
from tests.labels.samples import known, outcome

# The judge


def test_the_judge_is_compared_with_people_memory_by_memory() -> None:
    outcomes = [
        outcome(["a", "b"], decisions={"a": APPROVED, "b": APPROVED, "c": REJECTED, "d": REJECTED, "x": APPROVED}),
        outcome(["a"], prompt_id="p2", decisions={"a": APPROVED, "b": REJECTED, "seen by no judge": None}),
    ]
    people = {
        "p1": {"a": True, "b": False, "c": True, "d": False},
        "p2": {"a": True, "b": False, "seen by no judge": True},
    }
    found = known(judge_agreement(outcomes, people))
    assert found.confusion == Confusion(kept_relevant=2, kept_irrelevant=1, dropped_relevant=1, dropped_irrelevant=2)
    assert (found.sensitivity, found.specificity, found.raw) == (Ratio(2, 3), Ratio(2, 3), Ratio(4, 6))
    assert found.disagreements == (Graded("p1", "b", False, True), Graded("p1", "c", True, False))
    assert found.kappa == pytest.approx(1 / 3)
    assert found.sensitivity_interval == headline_interval([(1, 2), (1, 1)])
    assert found.deployed == 0


def test_where_the_judge_failed_or_was_unsure_what_was_injected_is_its_decision() -> None:
    outcomes = [
        outcome(["a"], decisions={"a": APPROVED, "b": REJECTED}),
        outcome(["a", "b"], prompt_id="p2", decisions={"a": FLAGGED, "b": FLAGGED, "c": FLAGGED}, fallback=TIMEOUT),
    ]
    found = known(judge_agreement(outcomes, {"p1": {"a": True, "b": False}, "p2": {"a": True, "b": False, "c": True}}))
    assert found.confusion == Confusion(kept_relevant=2, kept_irrelevant=1, dropped_relevant=1, dropped_irrelevant=1)
    assert (found.sensitivity, found.deployed) == (Ratio(2, 3), 3)
    assert Graded("p2", "b", person=False, judge=True, is_deployed=True) in found.disagreements
    found = known(
        judge_agreement([outcome(["a"], decisions={"a": APPROVED, "b": FLAGGED})], {"p1": {"a": True, "b": False}})
    )
    assert (found.specificity, found.deployed) == (Ratio(1, 1), 1)


def test_without_a_judge_or_without_labels_it_has_no_grades() -> None:
    assert judge_agreement([outcome(["a"])], {"p1": {"a": True}}) is None
    assert judge_agreement([outcome(["a"], decisions={"a": APPROVED})], {}) is None


# People


def label(who: str, memory_id: str, verdict: str, digest: str = "d", **how: Any) -> Event:
    return Event(who, "p1", memory_id, digest, verdict=verdict, **{"blind": True, **how})


def said(who: str, **verdicts: str) -> list[Event]:
    return [label(who, memory_id, verdict) for memory_id, verdict in verdicts.items()]


Y, N = RELEVANT, NOT_RELEVANT


def test_two_people_are_compared_on_the_memories_that_both_labelled() -> None:
    labels = [*said("ann", a=Y, b=Y, c=N, d=N, e=Y), *said("bob", a=Y, b=N, c=N, d=UNSURE, f=Y)]
    found = known(people_agreement(labels, []))
    (pair,) = found.others
    assert (pair.first, pair.second, pair.table) == ("ann", "bob", (1, 1, 0, 1))
    assert pair.same == Ratio(2, 3)
    assert (pair.if_relevant, pair.if_not) == (2 / 3, 2 / 3)
    assert (pair.kappa, pair.kappa_se) == cohens_kappa((1, 1, 0, 1))
    assert found.selves == ()
    assert found.alpha is None
    assert people_agreement([label("ann", "a", Y), label("bob", "a", N, digest="edited")], []) is None
    assert people_agreement(said("ann", a=Y), []) is None


def test_a_person_is_compared_with_himself_on_repeated_cards() -> None:
    repeats = [
        Repeat("ann", "p1", "a", "d", Y, Y),
        Repeat("ann", "p1", "b", "d", Y, N),
        Repeat("ann", *"12d", N, UNSURE),
    ]
    found = known(people_agreement([], repeats))
    (ann,) = found.selves
    assert (ann.first, ann.second, ann.same) == ("ann", "ann", Ratio(1, 2))


def test_three_people_have_an_alpha_and_each_pair_has_a_kappa() -> None:
    labels = [*said("ann", a=Y, b=N, c=Y), *said("bob", a=Y, b=N, c=N), *said("cyd", a=Y, b=Y)]
    found = known(people_agreement(labels, []))
    assert [(each.first, each.second) for each in found.others] == [("ann", "bob"), ("ann", "cyd"), ("bob", "cyd")]
    assert known(found.alpha).memories == 3


def test_each_persons_labels_are_counted_by_verdict_blindness_and_origin() -> None:
    """Of the repeats, 20 were relevant both times, 15 not, 5 and 10 changed: kappa is (.70 - .50) / (1 - .50)."""
    given = [*said("bob", a=N), *said("ann", a=Y), label("ann", "b", Y, blind=False)]
    again = [Repeat("ann", *"1ad", *both) for both in [(Y, Y)] * 20 + [(Y, N)] * 5 + [(N, Y)] * 10 + [(N, N)] * 15]
    again += [Repeat("ann", *"1ad", UNSURE, N), Repeat("bob", *"1ad", N, N)]
    ann, bob = people([*given, label("ann", "c", UNSURE, source="old.csv")], again)
    assert (ann.annotator, ann.labels, ann.blind, ann.imported) == ("ann", 3, 2, 1)
    assert ann.verdicts == {"relevant": 2, "not": 0, "unsure": 1, "unrateable": 0}
    assert (ann.repeated, ann.same, ann.kappa) == (51, 35, pytest.approx(0.4))
    assert (bob.annotator, bob.labels, bob.repeated, bob.kappa) == ("bob", 1, 1, None)
    assert people(given, [])[0].kappa is None


TABLES = [(40, 9, 6, 45), (1, 2, 3, 4), (0, 5, 5, 0), (30, 0, 1, 200), (7, 0, 0, 7), (12.5, 3.25, 0.5, 80.0)]


@pytest.mark.parametrize("table", TABLES)
def test_kappa_and_agreement_equal_those_of_statsmodels_and_scikit_learn(table: Table) -> None:
    oracle = statsmodels_kappa(np.array(table).reshape(2, 2))
    assert cohens_kappa(table) == pytest.approx((oracle.kappa, oracle.std_kappa), abs=1e-6)
    first, second = [1, 1, 0, 0], [1, 0, 1, 0]
    assert positive_agreement(table) == pytest.approx(f1_score(first, second, sample_weight=table), abs=1e-6)
    assert positive_agreement(table[::-1]) == pytest.approx(
        f1_score(first, second, pos_label=0, sample_weight=table), abs=1e-6
    )


def test_kappa_is_unknown_when_only_one_answer_was_given_and_no_coefficient_is_known_without_counts() -> None:
    assert [cohens_kappa(table) for table in ((0, 0, 0, 0), (9, 0, 0, 0), (0, 0, 0, 9))] == [(None, None)] * 3
    assert [each((0, 0, 0, 0)) for each in (positive_agreement, gwet_ac1)] == [None] * 2


def test_ac1_does_not_collapse_where_nearly_all_answers_are_alike() -> None:
    """The table that Gwet (2008) gives for the paradox: raw agreement .944, kappa below chance."""
    table = (118, 5, 2, 0)
    kappa, _ = cohens_kappa(table)
    assert kappa == pytest.approx(-0.0234, abs=1e-4)
    assert gwet_ac1(table) == pytest.approx(0.9408, abs=1e-4)


# Krippendorff's alpha


MEG, OWEN = "0100000010", "1110010000"
"""Two observers and ten articles, by K. Krippendorff, Computing Krippendorff's alpha-reliability (2011), section A."""


def test_alpha_equals_the_published_example_and_a_memory_with_one_label_does_not_change_it() -> None:
    counts = [(int(a) + int(b), 2 - int(a) - int(b)) for a, b in zip(MEG, OWEN, strict=True)]
    found = known(krippendorffs_alpha({f"article {number}": [count] for number, count in enumerate(counts)}))
    assert found.value == pytest.approx(0.095, abs=5e-4)
    assert found.memories == 10
    some = {"p1": [(2, 0), (1, 1)], "p2": [(0, 2)]}
    assert krippendorffs_alpha({**some, "p3": [(1, 0), (0, 1)]}) == krippendorffs_alpha(some)


def test_with_complete_data_it_is_fleiss_kappa_less_a_correction_for_small_samples() -> None:
    """1 - alpha = (1 - kappa) (nN - 1) / nN, for n people and N memories."""
    made = random.Random(1)
    counts = [(yes := made.choice((0, 0, 1, 2, 3, 4, 4)), 4 - yes) for _ in range(60)]
    prompts = {f"p{number}": counts[3 * number : 3 * number + 3] for number in range(20)}
    found = known(krippendorffs_alpha(prompts))
    labels = 4 * 60
    expected = 1 - (1 - fleiss_kappa(np.array(counts))) * (labels - 1) / labels
    assert found.value == pytest.approx(expected, abs=1e-9)
    interval = known(found.interval)
    assert interval.low < found.value < interval.high


def test_alpha_is_unknown_where_only_one_answer_was_given() -> None:
    alone: list[dict[str, list[tuple[int, int]]]] = [{}, {"p1": [(1, 0)]}, {"p1": [(2, 0)], "p2": [(3, 0)]}]
    assert list(map(krippendorffs_alpha, alone)) == [None] * 3
