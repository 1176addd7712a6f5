"""The first lines of a report, which a person reads aloud, and its next step."""

from dataclasses import replace

from engine.config import SYSTEMS
from engine.wording import cells
from labels.measure.evidence import Evidence
from labels.measure.intervals import Estimate, Interval
from labels.measure.metrics import Headline, Ratio
from labels.measure.report import Report, build_report, report_from_store
from labels.records import NOT_RELEVANT, RELEVANT, UNSURE
from labels.report.first_lines import BY_REPLAY, IN_LABEL, IN_REPLAY, Step, first_lines, headline, next_step
from labels.report.forms import report_text, step_lines
from labels.report.notes import notes
from labels.store import LabelStore
from tests.labels.samples import ROOT, judged, outcome, record, retrieval, say


def report(store: LabelStore) -> Report:
    digests = {memory_id: f"digest-of-{memory_id}" for memory_id in "abcd"}
    return report_from_store(store, ROOT, digests)


def many(good: int, prompts: int, names: tuple[str, ...] = ("memsift",), per_prompt: int = 1) -> Report:
    """*prompts* with *per_prompt* memories each; all memories of *good* prompts are relevant."""
    memories = [f"m{number}" for number in range(per_prompt)]
    people = {f"p{n}": dict.fromkeys(memories, n * 7 % prompts < good) for n in range(prompts)}
    rows = [
        outcome(memories if at == 0 or n % 2 else memories[:1], prompt_id=f"p{n}", system=name)
        for n in range(prompts)
        for at, name in enumerate(names)
    ]
    return build_report(Evidence(rows, people))


def compared(prompts: int) -> Report:
    """The judge drops an irrelevant memory for three of eight prompts, and a relevant one for another."""
    people = {f"p{n}": {"a": n % 2 == 0, "b": True} for n in range(prompts)}
    rows = []
    for n in range(prompts):
        kept = ["b"] if n % 8 in (1, 2, 3, 5) else ["a", "b"]
        rows += [outcome(["a", "b"], prompt_id=f"p{n}"), outcome(kept, prompt_id=f"p{n}", system="bm25+judge")]
    return build_report(Evidence(rows, people))


# The lines


def test_each_line_counts_what_it_says(store: LabelStore) -> None:
    record(store, retrieval(["a", "b"]), judged(["a"], ["b"]))
    record(store, retrieval(["c"], prompt_id="p2"), judged([], ["c"], prompt_id="p2"))
    record(store, retrieval(["d"], prompt_id="p3"))
    for said, verdict in (("p1 a", RELEVANT), ("p1 b", NOT_RELEVANT), ("p2 c", NOT_RELEVANT)):
        say(store, said, verdict, titles=0)
    labels, precision, interval, served, judge = first_lines(report(store))
    assert labels == "3 labels by ann on 2 of 3 prompts."
    assert precision == "bm25 injected 3 memories on 2 prompts; 1 was relevant: 33 %."
    assert interval == "The true share may be anything from 1 % to 95 %: these are too few labels."
    needed = "1 of 1 prompt that needed a memory got one (1-100 %). 1 of 1 that needed none got one anyway."
    assert served == f"{needed} Memories below the first ten were not looked at."
    assert judge == "The judge would drop 2 useless memories and no useful ones (2 prompts: too few to be sure)."


def test_labels_of_two_people_are_one_judgement(store: LabelStore) -> None:
    record(store, retrieval(["a", "b", "c"]))
    for memory_id in "abc":
        say(store, f"p1 {memory_id}", RELEVANT)
        say(store, f"p1 {memory_id}", RELEVANT, who="bob")
    made = report(store)
    assert made.judged == Ratio(3, 3)
    assert first_lines(made)[0] == "6 labels by ann and bob on 1 of 1 prompt."
    assert first_lines(made)[1] == "bm25 injected 3 memories on 1 prompt; 3 were relevant: 100 %."
    say(store, "p1 c", NOT_RELEVANT, who="bob")
    made = report(store)
    assert made.judged == Ratio(2, 2)
    assert first_lines(made)[0] == "6 labels by ann and bob on 1 of 1 prompt; they are split on 1 memory."
    assert any("1 memory splits the annotators evenly" in note for note in notes(made))
    assert "Together they find 2 of 2 memories relevant" in " ".join(report_text(made, is_full=True).split())


def test_a_difference_that_may_be_chance_is_not_called_one() -> None:
    few, many, most = compared(8), compared(96), compared(200)
    assert first_lines(few)[-1].endswith("drop 3 useless memories and 1 useful one (8 prompts: too few to be sure).")
    assert first_lines(many)[-1] == "The judge would drop 36 useless memories and 12 useful ones (96 prompts)."
    assert first_lines(most)[-1] == "The judge would drop 75 useless memories and 25 useful ones (200 prompts)."


def test_the_text_begins_with_few_lines_whatever_the_system() -> None:
    for name in sorted({one.removesuffix("+judge") for one in SYSTEMS}):
        for width in [60, 80]:
            made = many(190, 300, ("bm25", name) if name != "bm25" else ("bm25", "memsift+default"), 3)
            first, *_, last = report_text(made, width).rstrip("\n").split("\n\n")
            assert len(first_lines(made)) <= 5, (name, width)
            assert len(first.splitlines()) <= (7 if width == 80 else 9), (name, width)
            assert max(map(cells, first.splitlines())) <= width, (name, width)
            assert last.startswith("Next: "), (name, width)
            assert len(last.splitlines()) == 1 or width < 80, (name, width)
            assert not any(line.lstrip().startswith("%") for line in first.splitlines()), (name, width)


def test_a_command_that_does_not_fit_has_a_line_of_its_own() -> None:
    step = Step("drop unlikely memories", "memsift tune --target-precision 0.6")
    assert step_lines(step, 80) == "Next: drop unlikely memories: memsift tune --target-precision 0.6."
    assert step_lines(step, 60) == "Next: drop unlikely memories:\n  memsift tune --target-precision 0.6"


def test_the_headline_says_how_many_helped_and_how_sure_that_is() -> None:
    found = Headline(Ratio(2, 13), Estimate(2 / 13, Interval(0.04, 0.4), 9, 13.0), Interval(0.04, 0.42))
    assert headline(found, "the hook") == "Of 13 memories the hook added, 2 helped: 15 % (4 to 42 %)."
    assert "not known yet" in headline(replace(found, estimate=None), "bm25")


# The next step


def test_no_more_prompts_are_asked_for_than_were_replayed(store: LabelStore) -> None:
    record(store, *(retrieval(["a"], prompt_id=f"p{number}") for number in range(3)))
    say(store, "p0 a", RELEVANT)
    assert next_step(report(store)).in_app() == "Label the 2 replayed prompts without a label."


def test_the_next_step_follows_the_labels(store: LabelStore) -> None:
    step = next_step(report(store))
    assert (step.in_app(), step.place) == ("Replay prompts to label.", BY_REPLAY)
    record(store, *(retrieval(["a"], prompt_id=f"p{number}") for number in range(30)))
    assert next_step(report(store)).in_shell() == "Next: label about 10 prompts: memsift, then L."
    for number in range(8):
        say(store, f"p{number} a", RELEVANT)
    step = next_step(report(store))
    assert step.in_app() == "Label about 12 more prompts, to have 20 for which bm25 injects something."
    assert step.place == IN_LABEL
    for number in range(8):
        say(store, f"p{number} a", NOT_RELEVANT, who="bob")
    assert (
        next_step(report(store)).in_shell()
        == "Next: settle the 8 memories people are split on: memsift label --adjudicate."
    )


def test_memories_whose_label_is_unsure_are_looked_at_again_in_replay(store: LabelStore) -> None:
    record(store, *(retrieval(["a", "b"], prompt_id=f"p{number}") for number in range(30)))
    for number in range(30):
        say(store, f"p{number} a", RELEVANT)
        say(store, f"p{number} b", UNSURE if number < 9 else RELEVANT)
    step = next_step(report(store))
    assert (step.what, step.place) == ("look again at the 9 memories labelled without a yes or no", IN_REPLAY)


def test_labels_given_with_ranks_in_view_are_to_be_given_without(store: LabelStore) -> None:
    record(store, *(retrieval(["a"], prompt_id=f"p{number}") for number in range(30)))
    for number in range(30):
        say(store, f"p{number} a", RELEVANT, blind=number > 10)
    assert next_step(report(store)).what == "label prompts before you see their ranks"


def test_a_configured_system_that_was_not_replayed_is_to_be_replayed_first() -> None:
    made = replace(many(20, 100, ("bm25", "memsift")), configured="memsift+default")
    assert next_step(made).what == "replay memsift+default, the present system"
    assert first_lines(replace(made, configured="bm25"))[1].startswith("bm25 injected 100 memories")


def test_enough_labels_lead_to_tuning_or_to_nothing_and_with_a_cutoff_and_a_wide_range_to_more_labels() -> None:
    assert next_step(many(20, 100)).what == "drop unlikely memories"
    assert next_step(many(100, 100)).what == "nothing to do; measure again after new prompts or new memories"
    step = next_step(many(12, 24, ("memsift+cutoff",)))
    assert step.what == "replay and label 24 more prompts for a range a quarter narrower"
