from __future__ import annotations

from labels.measure.kappa import cohens_kappa
from labels.measure.metrics import Ratio
from labels.measure.people import people_of
from labels.records import NOT_RELEVANT, RELEVANT, UNSURE, Label, Repeat


def label(who: str, memory_id: str, verdict: str, *, prompt_id: str = "p1", digest: str = "d") -> Label:
    return Label(1, "t", who, prompt_id, memory_id, digest, verdict, None, "", "", True)


def said(who: str, **verdicts: str) -> list[Label]:
    return [label(who, memory_id, verdict) for memory_id, verdict in verdicts.items()]


Y, N = RELEVANT, NOT_RELEVANT


def test_two_people_are_compared_on_what_both_labelled() -> None:
    labels = [*said("ann", a=Y, b=Y, c=N, d=N, e=Y), *said("bob", a=Y, b=N, c=N, d=UNSURE, f=Y)]
    found = people_of(labels, [])
    assert found is not None
    (pair,) = found.others
    assert (pair.first, pair.second, pair.table) == ("ann", "bob", (1, 1, 0, 1))
    assert pair.same == Ratio(2, 3)
    assert (pair.if_relevant, pair.if_not) == (2 / 3, 2 / 3)
    assert (pair.kappa, pair.kappa_se) == cohens_kappa((1, 1, 0, 1))
    assert found.selves == ()
    assert found.alpha is None


def test_what_two_people_said_of_different_texts_is_no_disagreement() -> None:
    assert people_of([label("ann", "a", Y), label("bob", "a", N, digest="edited")], []) is None


def test_a_person_is_compared_with_himself_by_the_cards_that_came_twice() -> None:
    repeats = [
        Repeat("ann", "p1", "a", "d", Y, Y),
        Repeat("ann", "p1", "b", "d", Y, N),
        Repeat("ann", *"12d", N, UNSURE),
    ]
    found = people_of([], repeats)
    assert found is not None
    (ann,) = found.selves
    assert (ann.first, ann.second, ann.same) == ("ann", "ann", Ratio(1, 2))


def test_more_than_two_people_have_an_alpha_and_every_two_a_kappa() -> None:
    labels = [*said("ann", a=Y, b=N, c=Y), *said("bob", a=Y, b=N, c=N), *said("cyd", a=Y, b=Y)]
    found = people_of(labels, [])
    assert found is not None
    assert [(each.first, each.second) for each in found.others] == [("ann", "bob"), ("ann", "cyd"), ("bob", "cyd")]
    assert found.alpha is not None
    assert found.alpha.memories == 3


def test_without_anything_labelled_twice_nothing_is_known() -> None:
    assert people_of(said("ann", a=Y), []) is None
