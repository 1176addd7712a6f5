import pytest

from labels.measure.agreement import people, person
from labels.records import Label, Repeat


def label(who: str, verdict: str, *, blind: bool = True, source: str = "") -> Label:
    return Label(1, "t", who, "p1", "m", "d", verdict, None, "", "", blind, source=source)


def repeat(who: str, first: str, again: str) -> Repeat:
    return Repeat(who, "p1", "m", "d", first, again)


def test_each_persons_labels_are_counted_by_verdict_blindness_and_origin() -> None:
    said = [label("bob", "not"), label("ann", "relevant"), label("ann", "relevant", blind=False)]
    ann, bob = people([*said, label("ann", "unsure", source="old.csv")], [])
    assert (ann.annotator, ann.labels, ann.blind, ann.imported) == ("ann", 3, 2, 1)
    assert ann.verdicts == {"relevant": 2, "not": 0, "unsure": 1, "unrateable": 0}
    assert (bob.annotator, bob.labels, bob.repeated, bob.kappa) == ("bob", 1, 0, None)


def test_agreement_with_oneself_counts_every_verdict_and_only_ones_own() -> None:
    repeats = [repeat("ann", "not", "not"), repeat("ann", "unsure", "not"), repeat("bob", "not", "relevant")]
    ann = person("ann", [label("ann", "not")], repeats)
    assert (ann.repeated, ann.same) == (2, 1)


def test_kappa_is_that_of_the_first_against_the_second_time() -> None:
    """20 both relevant, 5 and 10 changed, 15 both not: (.70 - .50) / (1 - .50)."""
    times = {("relevant", "relevant"): 20, ("relevant", "not"): 5, ("not", "relevant"): 10, ("not", "not"): 15}
    again = [repeat("ann", *both) for both, number in times.items() for _ in range(number)]
    assert kappa(again) == pytest.approx(0.4)
    assert kappa([*again, repeat("ann", "unsure", "not")]) == pytest.approx(0.4)
    assert kappa([repeat("ann", "not", "not")]) is None
    assert kappa([]) is None


def kappa(repeats: list[Repeat]) -> float | None:
    return person("ann", [label("ann", "not")], repeats).kappa
