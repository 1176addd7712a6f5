from __future__ import annotations

from labels.records import RELEVANT, Label
from labels.repeats import GAP_SPREAD, LEAST_GAP, SHARE, due, is_chosen


def given_labels(number: int) -> list[Label]:
    """Labels of as many cards, newest first."""
    return [
        Label(n, "t", "ann", f"p{n // 4}", f"m{n}", f"d{n}", RELEVANT, None, "", "", True) for n in range(number, 0, -1)
    ]


def test_about_one_card_in_ten_comes_back_and_always_the_same_ones() -> None:
    labels = given_labels(10_000)
    chosen = [label for label in labels if is_chosen(label, seed=1)]
    assert abs(len(chosen) / len(labels) - SHARE) < 0.01
    assert chosen == [label for label in labels if is_chosen(label, seed=1)]
    assert chosen != [label for label in labels if is_chosen(label, seed=2)]


def test_a_card_comes_back_only_after_a_number_of_others() -> None:
    labels = given_labels(2_000)
    waits = {label.event_id: later for later, label in enumerate(labels)}
    found = due(labels, seed=1)
    assert found
    assert min(waits[label.event_id] for label in found) >= LEAST_GAP
    chosen = {label.event_id for label in labels[LEAST_GAP + GAP_SPREAD :] if is_chosen(label, seed=1)}
    assert chosen <= {label.event_id for label in found}
    assert due(labels[: LEAST_GAP - 1], seed=1) == ()


def test_turns_do_not_come_at_a_fixed_distance() -> None:
    labels = given_labels(600)
    turns = set()
    for wanted in [label for label in labels[100:] if is_chosen(label, seed=1)]:
        at = labels.index(wanted)
        turns.add(next(wait for wait in range(60) if wanted in due(labels[at - wait :], seed=1)))
    assert len(turns) > 5
    assert min(turns) >= LEAST_GAP
    assert max(turns) < LEAST_GAP + GAP_SPREAD


def test_the_longest_waiting_comes_first() -> None:
    found = [label.event_id for label in due(given_labels(500), seed=1)]
    assert found == sorted(found)


def test_what_was_labelled_beside_its_ranks_or_imported_does_not_come_back() -> None:
    labels = given_labels(500)
    assert due([label._replace(blind=False) for label in labels], seed=1) == ()
    assert due([label._replace(source="labels.jsonl") for label in labels], seed=1) == ()
