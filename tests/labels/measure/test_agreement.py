import pytest
from sklearn.metrics import cohen_kappa_score, recall_score

from engine.judge.verdict import APPROVED, FLAGGED, REJECTED, TIMEOUT
from labels.measure.agreement import Confusion, Graded, cohens_kappa, judge_agreement, people_agreement
from labels.measure.intervals import headline_interval
from labels.measure.metrics import Ratio
from labels.measure.strata import PairWeights
from labels.records import NOT_RELEVANT, RELEVANT, UNSURE, Label, Repeat
from tests.labels.samples import outcome

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
    found = judge_agreement(outcomes, people)
    assert found is not None
    assert found.confusion == Confusion(kept_relevant=2, kept_irrelevant=1, dropped_relevant=1, dropped_irrelevant=2)
    assert (found.sensitivity, found.specificity, found.raw) == (Ratio(2, 3), Ratio(2, 3), Ratio(4, 6))
    assert found.disagreements == (Graded("p1", "b", False, True), Graded("p1", "c", True, False))
    assert found.kappa == pytest.approx(1 / 3)
    assert found.sensitivity_interval == headline_interval([(1, 2), (1, 1)])
    assert found.deployed == 0


def test_where_the_judge_failed_it_is_graded_on_the_fallback_that_was_injected() -> None:
    outcomes = [
        outcome(["a"], decisions={"a": APPROVED, "b": REJECTED}),
        outcome(["a", "b"], prompt_id="p2", decisions={"a": FLAGGED, "b": FLAGGED, "c": FLAGGED}, fallback=TIMEOUT),
    ]
    found = judge_agreement(outcomes, {"p1": {"a": True, "b": False}, "p2": {"a": True, "b": False, "c": True}})
    assert found is not None
    assert found.confusion == Confusion(kept_relevant=2, kept_irrelevant=1, dropped_relevant=1, dropped_irrelevant=1)
    assert (found.sensitivity, found.deployed) == (Ratio(2, 3), 3)
    assert Graded("p2", "b", person=False, judge=True, is_deployed=True) in found.disagreements


def test_a_memory_on_which_the_judge_is_unsure_counts_as_dropped() -> None:
    found = judge_agreement([outcome(["a"], decisions={"a": APPROVED, "b": FLAGGED})], {"p1": {"a": True, "b": False}})
    assert found is not None
    assert (found.specificity, found.deployed) == (Ratio(1, 1), 1)


def test_without_a_judge_or_without_labels_there_is_no_agreement() -> None:
    assert judge_agreement([outcome(["a"])], {"p1": {"a": True}}) is None
    assert judge_agreement([outcome(["a"], decisions={"a": APPROVED})], {}) is None


def test_a_memory_of_a_sample_counts_with_its_weight() -> None:
    """One of four memories that the judge dropped was labelled; it stands for all four."""
    outcomes = [
        outcome(["a", "b"], decisions={"a": APPROVED, "b": APPROVED, "c": REJECTED}),
        outcome(["a"], prompt_id="p2", decisions={"a": APPROVED, "d": REJECTED}),
    ]
    people = {"p1": {"a": True, "b": False, "c": True}, "p2": {"a": True, "d": False}}
    found = judge_agreement(outcomes, people, PairWeights(pairs={"p1": {"c": 4.0}}))
    assert found is not None
    assert found.confusion == Confusion(2, 1, 1, 1)
    person, judge, weights = [1, 0, 1, 1, 0], [1, 1, 0, 1, 0], [1, 1, 4, 1, 1]
    assert found.sensitivity.value == pytest.approx(recall_score(person, judge, sample_weight=weights), abs=1e-9)
    assert (found.sensitivity.part, found.sensitivity.whole) == (2, 3)
    assert found.specificity == Ratio(1, 2)
    assert found.kappa == pytest.approx(cohen_kappa_score(person, judge, sample_weight=weights), abs=1e-9)
    assert found.sensitivity_interval is not None
    assert found.sensitivity_interval.low <= 1 / 3 <= found.sensitivity_interval.high


# People


def label(who: str, memory_id: str, verdict: str, *, prompt_id: str = "p1", digest: str = "d") -> Label:
    return Label(1, "t", who, prompt_id, memory_id, digest, verdict, None, "", "", True)


def said(who: str, **verdicts: str) -> list[Label]:
    return [label(who, memory_id, verdict) for memory_id, verdict in verdicts.items()]


Y, N = RELEVANT, NOT_RELEVANT


def test_two_people_are_compared_on_the_memories_that_both_labelled() -> None:
    labels = [*said("ann", a=Y, b=Y, c=N, d=N, e=Y), *said("bob", a=Y, b=N, c=N, d=UNSURE, f=Y)]
    found = people_agreement(labels, [])
    assert found is not None
    (pair,) = found.others
    assert (pair.first, pair.second, pair.table) == ("ann", "bob", (1, 1, 0, 1))
    assert pair.same == Ratio(2, 3)
    assert (pair.if_relevant, pair.if_not) == (2 / 3, 2 / 3)
    assert (pair.kappa, pair.kappa_se) == cohens_kappa((1, 1, 0, 1))
    assert found.selves == ()
    assert found.alpha is None


def test_labels_on_different_texts_are_no_disagreement() -> None:
    assert people_agreement([label("ann", "a", Y), label("bob", "a", N, digest="edited")], []) is None


def test_a_person_is_compared_with_himself_on_repeated_cards() -> None:
    repeats = [
        Repeat("ann", "p1", "a", "d", Y, Y),
        Repeat("ann", "p1", "b", "d", Y, N),
        Repeat("ann", *"12d", N, UNSURE),
    ]
    found = people_agreement([], repeats)
    assert found is not None
    (ann,) = found.selves
    assert (ann.first, ann.second, ann.same) == ("ann", "ann", Ratio(1, 2))


def test_three_people_have_an_alpha_and_each_pair_has_a_kappa() -> None:
    labels = [*said("ann", a=Y, b=N, c=Y), *said("bob", a=Y, b=N, c=N), *said("cyd", a=Y, b=Y)]
    found = people_agreement(labels, [])
    assert found is not None
    assert [(each.first, each.second) for each in found.others] == [("ann", "bob"), ("ann", "cyd"), ("bob", "cyd")]
    assert found.alpha is not None
    assert found.alpha.memories == 3


def test_without_double_labels_there_is_no_agreement_of_people() -> None:
    assert people_agreement(said("ann", a=Y), []) is None
