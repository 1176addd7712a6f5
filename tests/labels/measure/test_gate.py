from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.lean.record import replace as changed
from engine.prompt import TYPED, Prompt
from labels.measure.evidence import EXCLUDE, Evidence, evidence_from_qrels, evidence_from_store
from labels.measure.gate import (
    COSTS,
    FAIL,
    PASS,
    PAYS,
    UNCLEAR,
    UNDECIDED,
    Expense,
    Gate,
    decide,
    expense,
    gate_report,
    judge_case,
)
from labels.measure.intervals import ANYTIME, Interval
from labels.measure.metrics import Ratio
from labels.measure.report import report_from_store
from labels.records import NOT_RELEVANT, RELEVANT, UNSURE, JudgeCall, Judgements, Outcome
from labels.report.first_lines import first_lines
from labels.report.gate_text import gate_lines
from labels.report.notes import finishing, missing_labels, notes, refusals, warnings
from labels.store import LabelStore
from tests.labels.samples import ROOT, card, failed, judged, known, outcome, record, retrieval, say

DIGESTS = {memory_id: f"digest-of-{memory_id}" for memory_id in "abcdef"}
PLAIN, JUDGED = "bm25", "bm25+judge"
HALF = Gate(0.5, Interval(0.5, 0.5))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelStore]:
    start, presses = datetime(2025, 6, 1, tzinfo=UTC), iter(range(100_000))
    with LabelStore.open(tmp_path / "labels.db", now=lambda: start + timedelta(seconds=next(presses))) as store:
        yield store


def evidence(store: LabelStore) -> Evidence:
    return evidence_from_store(store, ROOT, DIGESTS)


def refused(known: Evidence, system: str) -> tuple[str, ...]:
    return tuple(refusal.reason for refusal in refusals(system, gate_report(known, system, HALF).caveats, known))


def warned(known: Evidence, system: str) -> tuple[str, ...]:
    return tuple(warnings(gate_report(known, system, HALF)))


def to_finish(known: Evidence, system: str) -> str:
    """The gaps in words, and the prompts to finish; empty without gaps."""
    caveats = gate_report(known, system, HALF).caveats
    return f"{missing_labels(caveats.gaps)}. {finishing(caveats.gaps.left, known)}" if caveats.gaps else ""


def run_and_qrels(qrels: dict[str, str], prompts: dict[str, str]) -> tuple[Sequence[Outcome], Judgements]:
    """prompt id -> letters: *prompts* are injected memories, *qrels* judged ones, in capitals if relevant."""
    said = {name: {letter.lower(): letter.isupper() for letter in letters} for name, letters in qrels.items()}
    return [outcome(list(injected), prompt_id=name) for name, injected in prompts.items()], said


# What counts


def test_prompts_count_in_the_order_of_their_first_label(store: LabelStore) -> None:
    for name in ("p1", "p2", "p3", "p4"):
        record(store, retrieval(["a", "b"] if name != "p4" else [], prompt_id=name))
    for said in ("p1 a", "p3 b", "p3 a", "p2 a", "p2 b", "p1 b"):
        say(store, said, NOT_RELEVANT if said == "p1 b" else RELEVANT)
    sample = evidence(store).sample(PLAIN)
    assert list(sample.judged.items()) == [("p1", (1, 2)), ("p3", (2, 2)), ("p2", (2, 2))]
    assert (sample.whole, sample.most) == (3, 2)
    say(store, "p1 a", NOT_RELEVANT)
    assert list(evidence(store).sample(PLAIN).judged) == ["p1", "p3", "p2"], "another label moves no prompt"


def test_the_prompt_at_which_a_person_stopped_is_no_gap(store: LabelStore) -> None:
    record(store, *(retrieval(["a", "b"], prompt_id=name) for name in ("p1", "p2", "p3")))
    for said in ("p1 a", "p1 b", "p2 a"):
        say(store, said)
    for who in ("ann", "bob"):
        known = evidence(store)
        assert (known.sample(PLAIN).judged, to_finish(known, PLAIN)) == ({"p1": (2, 2)}, ""), who
        say(store, "p3 a", who="bob")
    say(store, "p3 b")
    reason = to_finish(evidence(store), PLAIN)
    assert "1 of 6 injected memories" in reason
    assert "Finish p2 (1 left)" in reason


def test_an_adjudication_does_not_move_the_prompt_at_which_a_person_stopped(store: LabelStore) -> None:
    record(store, retrieval(["a"]), retrieval(["a", "b"], prompt_id="p2"))
    say(store, "p1 a")
    say(store, "p1 a", NOT_RELEVANT, who="bob")
    say(store, "p2 a")
    store.adjudicate("ann", "p1", card("a"), RELEVANT, seed=1, elapsed_ms=1)
    assert to_finish(evidence(store), PLAIN) == ""


def test_the_prompts_with_most_gaps_are_named(store: LabelStore) -> None:
    record(store, *(retrieval(["a", "b", "c"], prompt_id=f"p{number}") for number in range(1, 7)))
    for said in ("p1 a", "p1 b", "p2 a", "p3 a", "p4 a", "p5 a", "p5 b", "p5 c", "p6 a", "p6 b", "p6 c"):
        say(store, said)
    say(store, "p5 c", NOT_RELEVANT, who="bob")
    say(store, "p6 c", who="bob")
    reason = to_finish(evidence(store), PLAIN)
    assert "Finish p2 (2 left), p3 (2 left), p4 (2 left) and 2 others: Label in the app asks for the open" in reason
    assert reason.endswith("What people are split on, memsift label --adjudicate settles.")


def test_an_unsure_label_does_not_count_and_is_a_gap(store: LabelStore) -> None:
    record(store, retrieval(["a", "b"]))
    say(store, "p1 a")
    say(store, "p1 b", UNSURE)
    known = evidence(store)
    assert known.sample(PLAIN).judged == {"p1": (1, 1)}
    assert "Finish p1 (1 left)" in to_finish(known, PLAIN)
    assert "1 of 2 memories were labelled unsure or unrateable, and count nowhere." in warned(known, PLAIN)


def test_an_adjudicated_prompt_keeps_its_place_in_gate_and_report(store: LabelStore) -> None:
    record(store, retrieval(["a"]), retrieval(["b"], prompt_id="p2"))
    say(store, "p1 a", RELEVANT)
    say(store, "p2 b", RELEVANT)
    say(store, "p1 a", NOT_RELEVANT, who="bob")
    assert evidence(store).sample(PLAIN).judged == {"p2": (1, 1)}
    store.adjudicate("cyd", "p1", card("a"), NOT_RELEVANT, seed=1, elapsed_ms=1)
    known = evidence(store)
    assert known.facts.blind == Ratio(1, 1)
    assert known.sample(PLAIN).judged == {"p1": (0, 1), "p2": (1, 1)}
    assert list(known.sample(PLAIN).judged) == ["p1", "p2"]
    live = report_from_store(store, ROOT, DIGESTS).systems[0].headline.live
    assert live == gate_report(known, PLAIN, replace(HALF, looks=ANYTIME)).decision.live


def test_prompts_from_files_have_a_fixed_random_order() -> None:
    names = [f"p{number}" for number in range(30)]
    files = [run_and_qrels(dict.fromkeys(own, "A"), dict.fromkeys(names, "a")) for own in (names, reversed(names))]
    order, again = (list(evidence_from_qrels(*both).ordered.sample(PLAIN).judged) for both in files)
    assert order == again != names
    assert sorted(order) == sorted(names)


def test_a_memory_missing_in_the_qrels_is_irrelevant_or_excludes_its_prompt() -> None:
    run, qrels = run_and_qrels({"p1": "Ab", "p2": "A"}, {"p1": "abc", "p2": "a", "p3": "a", "p4": ""})
    assumed = evidence_from_qrels(run, qrels).ordered
    assert assumed.sample(PLAIN).judged.items() == {"p1": (1, 3), "p2": (1, 1), "p3": (0, 1)}.items()
    assert any(
        warning.startswith("2 of 5 injected memories are not in the qrels") for warning in warned(assumed, PLAIN)
    )
    excluded = evidence_from_qrels(run, qrels, EXCLUDE).ordered
    assert excluded.sample(PLAIN).judged == {"p2": (1, 1)}
    assert to_finish(excluded, PLAIN).endswith("Finish p1 (1 left) in the qrels.")
    assert (excluded.sample(PLAIN).whole, excluded.sample(PLAIN).most) == (3, 3)


# Reasons not to decide


def partly_judged(good: int, open_prompts: int, prompts: int = 40) -> Evidence:
    """Prompts with a relevant and an unlabelled memory, then *prompts* with one memory, relevant for *good* of 40."""
    said = {f"q{number}": {"a": True} for number in range(open_prompts)}
    said |= {f"p{number}": {"a": number * 17 % 40 < good} for number in range(prompts)}
    rows = [outcome(["a", "b"] if name.startswith("q") else ["a"], prompt_id=name) for name in said]
    return Evidence(rows, said, {name: dict.fromkeys(own, place) for place, (name, own) in enumerate(said.items())})


@pytest.mark.parametrize(
    ("good", "open_prompts", "least", "verdict", "forbids"),
    [
        (40, 8, 0.5, PASS, False),
        (40, 8, 0.9, UNDECIDED, True),
        (0, 8, 0.9, FAIL, False),
        (20, 8, 0.5, UNDECIDED, False),
        (40, 20, 0.5, UNDECIDED, True),
    ],
)
def test_unlabelled_memories_forbid_an_answer_where_they_are_many_or_could_change_it(
    good: int, open_prompts: int, least: float, verdict: str, forbids: bool
) -> None:
    known, gate = partly_judged(good, open_prompts, 110), Gate(least, Interval(least, least))
    report = gate_report(known, PLAIN, gate)
    assert report.decision.verdict == verdict
    assert bool(list(refusals(PLAIN, report.caveats, report.evidence))) == forbids
    share = f"{open_prompts} of {110 + 2 * open_prompts} injected memories"
    assert gate_lines(report)[0].endswith(f": {share} have no label.") == forbids
    assert f"{share}, on {open_prompts} labelled prompts, have no label that counts." in gate_lines(report)
    if forbids:
        assert gate_report(known, PLAIN, gate, max_unlabelled=1).decision.verdict == PASS
        assert decide(known.sample(PLAIN), gate).verdict == PASS, "without the gaps it would have passed"


def test_prompts_that_are_later_than_the_labels_are_named_and_forbid_an_answer_if_many(store: LabelStore) -> None:
    for number in range(22):
        typed = Prompt(f"p{number:02}", "how do tokens expire?", timestamp=f"2025-05-{number + 1:02}T10:00:00Z")
        record(store, changed(retrieval(["a"]), prompt=typed))
    chosen = Prompt("typed", "how do tokens expire?", timestamp="2025-06-01T10:00:00Z", source=TYPED)
    record(store, changed(retrieval(["a"]), prompt=chosen))
    for name in ("p00", "p03", "p09", "typed"):
        say(store, f"{name} a")
    line = "This speaks of the prompts until 2025-05-10; 12 later ones have no label."
    assert line in first_lines(report_from_store(store, ROOT, DIGESTS))
    found = gate_report(evidence(store), PLAIN, HALF)
    assert line in gate_lines(found)
    assert "19 of 22 prompts for which it injects something have no label." in gate_lines(found)
    assert found.caveats.later == (Ratio(12, 22), "2025-05-10")
    assert refused(evidence(store), PLAIN)[0].startswith("12 of 22 prompts for which it injects something are later")
    say(store, "p14 a")
    assert gate_report(evidence(store), PLAIN, HALF).caveats.later is None, "7 of 22 are not more than a third"
    say(store, "p19 a")
    assert not any("later" in said for said in gate_lines(gate_report(evidence(store), PLAIN, HALF)))


def test_labels_of_edited_memories_are_said_first_and_leave_a_gap(store: LabelStore) -> None:
    record(store, retrieval(["a", "b"]), retrieval(["a"], prompt_id="p2"), retrieval(["b"], prompt_id="p3"))
    for said in ("p1 a", "p1 b", "p2 a", "p3 b"):
        say(store, said)
    edited = {**DIGESTS, "a": "digest-of-another-a"}
    record(store, retrieval(["a", "b"], digests=edited), retrieval(["a"], prompt_id="p2", digests=edited))
    in_gate = gate_lines(gate_report(evidence_from_store(store, ROOT, edited), PLAIN, HALF))
    for lines in (in_gate, first_lines(report_from_store(store, ROOT, edited))):
        assert "2 of 4 injected memories, on 2 labelled prompts, have no label that counts." in lines
        assert "2 labels do not count: the memory was edited or removed since." in lines


def test_report_and_gate_give_the_same_precision_for_the_same_labels(store: LabelStore) -> None:
    """Also where a prompt is labelled in part, where people differ, and where an adjudication decides."""
    record(store, *(retrieval(["a", "b"], prompt_id=f"p{number}") for number in range(6)))
    for said in ("p0 a", "p0 b", "p1 a", "p1 b", "p2 a", "p2 b", "p3 a", "p4 a", "p4 b"):
        say(store, said, NOT_RELEVANT if said.endswith("b") else RELEVANT)
    for said in ("p1 a", "p2 a"):
        say(store, said, NOT_RELEVANT, who="bob")
    store.adjudicate("cyd", "p2", card("a"), NOT_RELEVANT, seed=1, elapsed_ms=1)
    found = gate_report(evidence(store), PLAIN, replace(HALF, looks=ANYTIME))
    report = report_from_store(store, ROOT, DIGESTS)
    (system,) = report.systems
    assert vars(system.headline).items() <= vars(found.decision).items()
    assert found.relevant == Ratio(2, 6)
    assert report.blind == evidence(store).facts.blind == Ratio(9, 9)
    assert (system.false_fire_rate, sum(report.labels.values())) == (found.false_fires, found.labels)
    assert gate_lines(found)[1:3] == first_lines(report)[1:3]


def test_labels_that_were_not_blind_are_refused(store: LabelStore) -> None:
    record(store, retrieval(["a", "b"]))
    say(store, "p1 a")
    say(store, "p1 b", blind=False)
    report = gate_report(evidence(store), PLAIN, Gate(0.01, Interval(0.01, 0.01)))
    assert report.decision.verdict == UNDECIDED
    (reason,) = refused(evidence(store), PLAIN)
    assert reason.startswith("1 of 2 labels came after the ranks were seen")


def test_a_judge_that_often_gave_no_answer_is_not_decided_on_and_its_fallback_does_not_count(store: LabelStore) -> None:
    """The judge is not asked about a prompt without candidates."""
    record(store, failed(["a", "b"]), judged(["a"], ["b"], prompt_id="p2"), judged([], [], prompt_id="p3"))
    for said in ("p1 a", "p1 b", "p2 a"):
        say(store, said, RELEVANT if said.endswith("a") else NOT_RELEVANT)
    known = evidence(store)
    assert known.sample(JUDGED).judged == {"p2": (1, 1)}
    assert any(warning.startswith("The judge gave no answer on 1 of 2 prompts") for warning in warned(known, JUDGED))
    report = gate_report(known, JUDGED, Gate(0.01, Interval(0.0, 1.0)))
    assert (report.caveats.unanswered, report.decision.verdict) == (Ratio(1, 2), UNDECIDED)
    of_store = report_from_store(store, ROOT, DIGESTS)
    (judge,) = of_store.systems
    assert (judge.precision, judge.prompts, judge.fallbacks) == (Ratio(1, 1), 2, Ratio(1, 2))
    assert any("the judge gave no answer on 1 of 2 prompts on which it was asked;" in note for note in notes(of_store))


def test_few_prompts_are_a_warning() -> None:
    assert any(warning.startswith("Only 4 prompts count") for warning in warned(partly_judged(40, 0, 4), PLAIN))


# Whether the judge would pay


def case_of(prompts: int, worth: float) -> str | None:
    """The judge drops an irrelevant memory from every prompt, and a relevant one from every fifth."""
    rows, said = [], {}
    for number in range(prompts):
        name, kept = f"p{number}", ["b"] if number % 5 else []
        rows += [outcome(["a", "b"], prompt_id=name, system=PLAIN), outcome(kept, prompt_id=name, system=JUDGED)]
        said[name] = {"a": False, "b": True}
    evidence = Evidence(rows, said, {name: dict.fromkeys(each, 0) for name, each in said.items()})
    case = known(judge_case(evidence, PLAIN, JUDGED, worth))
    assert case.comparison.break_even == pytest.approx(5)
    return case.answer


def test_whether_the_judge_pays_depends_on_the_worth_of_a_relevant_memory() -> None:
    assert case_of(100, 2) == PAYS
    assert case_of(100, 20) == COSTS
    assert case_of(100, 5) == UNCLEAR
    assert case_of(5, 2) == UNCLEAR


def test_the_expense_is_per_answer_and_without_the_cache() -> None:
    calls = [JudgeCall(3000.0 if n == 0 else 900.0, 0.003, 3, True) for n in range(4)]
    calls += [JudgeCall(1.0, 0.0, 3, False), JudgeCall(3000.0, None, 0, True)]
    found = known(expense(calls))
    assert (found.calls, found.median_ms, found.cost_usd) == (5, 300.0, pytest.approx(0.001))
    assert found.p95_ms == pytest.approx(2600)
    assert expense(calls[4:5]) is None
    assert expense(calls[5:]) == Expense(1, 3000.0, 3000.0, None)
