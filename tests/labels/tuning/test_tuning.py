"""From labels to a threshold that keeps its promise."""

from dataclasses import replace as replaced
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from statistics import mean, stdev

import pytest
from scipy import stats

from engine.config import THRESHOLDS, Config
from engine.cutoff import Cutoff, Model, fit_of, load_cutoff, model_of, surer
from engine.errors import TuningError
from engine.lean.record import replace
from engine.prompt import Prompt, typed_prompt
from engine.retrieval import Candidate
from labels.measure.intervals import headline_interval
from labels.records import NOT_RELEVANT, RELEVANT, UNSURE, Gold
from labels.tuning import forms
from labels.tuning.curve import (
    MIN_FIRED,
    MIN_SILENT,
    ThresholdPoint,
    bound_elsewhere,
    choose,
    curve,
    doubt,
    injected,
    named_thresholds,
    point,
    safest,
)
from labels.tuning.examples import Truth, by_root, judged_prompts
from labels.tuning.fitting import DEFAULT
from labels.tuning.forms import format_text, more_prompts
from labels.tuning.tuning import FROM_DEFAULT, FROM_NOTHING, OWN, Tuning, labels_hash, tune
from tests.engine.builders import fillers, memory, open_index
from tests.labels.samples import known
from tests.labels.tuning.judged import example, judged, labels_only, world

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def made() -> Tuning:
    return tune(world(100), 0.6, 0.9, 3)


# What is learned from


def test_what_reaches_the_cutoff_has_features_and_the_labels_of_its_present_text() -> None:
    kept, weak = memory("cache of sessions", memory_id="kept"), memory("cache", body="words " * 900, memory_id="weak")
    edited = memory("sessions in the cache", memory_id="edited")
    prompt = typed_prompt("cache of sessions")
    gold = [
        Gold(prompt.id, "kept", kept.summary.digest, RELEVANT, "single", 1),
        Gold(prompt.id, "edited", "an earlier text", RELEVANT, "single", 1),
        Gold(prompt.id, "weak", weak.summary.digest, NOT_RELEVANT, "single", 1),
    ]
    with open_index(kept, weak, edited, *fillers(20)) as index:
        (found,) = judged_prompts(
            [prompt, typed_prompt("sessions")], index, Config(noise_floor=0.9), Truth.from_gold(gold), "root"
        )
    assert {one.memory_id: one.is_relevant for one in found.examples} == {"kept": True, "edited": None}
    assert (found.prompt_id, found.text, found.relevant, found.group) == (prompt.id, prompt.text, 1, "root")
    assert found.examples[0].features["unknown"] == 0.0
    assert found.today == {"kept", "edited"}


def test_a_file_judges_memories_without_a_row_and_a_label_that_is_unsure_or_of_an_earlier_text_says_nothing() -> None:
    judgements = {"p": {"yes": True, "no": False}}
    as_not, excluded = Truth.from_qrels(judgements, excludes=False), Truth.from_qrels(judgements, excludes=True)
    assert [as_not.of("p", (name, "")) for name in ("yes", "no", "other")] == [True, False, False]
    assert [excluded.of("p", (name, "")) for name in ("yes", "no", "other")] == [True, False, None]
    assert as_not.is_judged("q")
    assert not excluded.is_judged("q")
    assert as_not.relevant("p", {}) == 1
    unsure = Truth.from_gold([Gold("p", "m", "d", UNSURE, "single", 1)])
    assert (unsure.is_judged("p"), unsure.of("p", ("m", "d"))) == (False, None)
    gold = [Gold("p", "m", "old", RELEVANT, "single", 1), Gold("p", "m", "new", RELEVANT, "single", 1)]
    truth = Truth.from_gold([*gold, Gold("p", "gone", "x", RELEVANT, "single", 1)])
    assert truth.relevant("p", {"m": "new"}) == 1


def test_of_several_roots_a_prompt_belongs_to_the_one_with_its_judged_memories_or_in_its_folder() -> None:
    memories = {"/a/.claude/memory": {"m1", "both"}, "/b/.claude/memory": {"m2", "both"}}
    judgements = {"p1": {"m1": True}, "p2": {"m2": False}, "p3": {"both": True}}
    prompts = [Prompt("p1", "x"), Prompt("p2", "y"), Prompt("p3", "z", cwd="/b"), Prompt("p4", "w", cwd="/a/")]
    found = by_root(prompts, judgements, memories)
    assert {root: [one.id for one in own] for root, own in found.items()} == {
        "/a/.claude/memory": ["p1", "p4"],
        "/b/.claude/memory": ["p2", "p3"],
    }
    with pytest.raises(TuningError, match="1 of 5 prompts belong to no single root of these, the first is p5"):
        by_root([*prompts, Prompt("p5", "v")], judgements, memories)
    assert by_root([Prompt("p5", "v")], {}, {"/a": set()}) == {"/a": [Prompt("p5", "v")]}


# The curve


def test_the_memories_behind_the_first_must_be_as_sure_as_in_the_hook() -> None:
    found = [Candidate(memory(name).summary, -9.0, 0, -9.0, (), place, 1.0, "high") for place, name in enumerate("abc")]
    for first, second, third in product((0.3, 0.5, 0.55, 0.6, 0.7), repeat=3):
        prompt = labels_only("p", True, True, True)
        kept = [example.memory_id for example, _ in injected(prompt, [first, second, third], 0.5, 3)]
        given = [replace(one, probability=p) for one, p in zip(found, (first, second, third), strict=True)]
        hook = Cutoff(Model(fit_of(Config()), 0.0, {}, 0.5, 0.5)).drop(given, has_judge=False)
        assert kept == [f"m{place}" for place, one in enumerate(hook) if one.injected]


def test_names_of_thresholds_mean_shares_of_the_prompts_that_need_nothing() -> None:
    silent = [labels_only(f"s{number}", False, False) for number in range(100)]
    prompts = [*silent, *(labels_only(f"r{number}", True) for number in range(20))]
    probabilities = [[number / 100, 0.5 + number / 400] for number in range(100)] + [[0.9]] * 20
    named = named_thresholds(prompts, probabilities)
    fires = {
        name: sum(
            bool(injected(prompt, own, least, 3)) for prompt, own in zip(silent, probabilities[:100], strict=True)
        )
        for name, least in named.items()
    }
    assert fires == {"strict": 2, "balanced": 10, "generous": 25}
    assert named_thresholds(prompts[71:], probabilities[71:]) == {}


def test_the_thresholds_of_the_names_are_written_and_used(made: Tuning) -> None:
    few, made = made, tune(world(150, size=3), 0.5, 0.9, 3)
    assert (made.silent >= MIN_SILENT, few.silent >= MIN_SILENT) == (True, False)
    for tuning in (made, few):
        assert tuning.at
        model = model_of(forms.model_content(tuning, Config(), NOW, OWN))
        assert Cutoff(model).threshold == tuning.at.threshold
        for name in THRESHOLDS:
            wanted = tuning.thresholds[name] if tuning is made else tuning.at.threshold
            assert Cutoff(model, threshold=name).threshold == wanted
    assert "By name, with the most false fires on these labels: strict P >= " in format_text(made, is_full=True)
    told = " ".join(format_text(few, is_full=True).split())
    assert f"takes {MIN_SILENT} labelled prompts that need nothing, and these are {few.silent}." in told


def test_a_point_counts_what_would_be_injected() -> None:
    prompts = [
        judged("a", example("x", True), example("y", False), relevant=3),
        judged("b", example("x", None), example("y", False), relevant=0),
        judged("c", example("x", False), relevant=0),
    ]
    found = point(prompts, [[0.9, 0.2], [0.8, 0.7], [0.1]], 0.5, 3, 0.9)
    assert (found.injected, found.relevant, found.unjudged, found.prompts) == (3, 1, 1, 2)
    assert (found.precision, found.recall) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert (found.fire_rate, found.false_fire_rate) == (pytest.approx(2 / 3), pytest.approx(1 / 2))


def test_the_bounds_are_lower_ends_of_the_headline_interval_at_the_whole_and_at_half_the_risk() -> None:
    prompts = [labels_only(f"p{i}", i % 4 > 0, i % 3 == 0) for i in range(40)]
    found = point(prompts, [[0.9, 0.8]] * 40, 0.5, 3, 0.9)
    counts = [(float((i % 4 > 0) + (i % 3 == 0)), 2.0) for i in range(40)]
    whole, half = headline_interval(counts, 0.8), headline_interval(counts, 0.9)
    assert whole
    assert half
    assert (found.low, found.lower, found.low_elsewhere) == (whole.low, half.low, None)
    assert found.expected == pytest.approx(0.85)


def test_of_several_roots_there_is_a_bound_for_another_root() -> None:
    rates = {"a": (6, 10), "b": (7, 10), "c": (5, 10), "d": (8, 10)}
    counts = [one for x, m in rates.values() for one in [(x - 2, m - 2), (2, 2)]]
    found = bound_elsewhere(counts, [name for name in rates for _ in range(2)], 0.9)
    shares = [x / m for x, m in rates.values()]
    expected = mean(shares) - stats.t.ppf(0.9, 3) * stdev(shares) * (1 + 1 / 4) ** 0.5
    assert found == pytest.approx(expected)
    assert bound_elsewhere(counts[:6], ["a", "a", "b", "b", "c", "c"], 0.9) is None


def at(
    threshold: float, low: float, lower: float, expected: float = 0.5, elsewhere: float | None = None
) -> ThresholdPoint:
    rates = (low, low, 0.5, 1.0, 0.0)
    return ThresholdPoint(threshold, 50, 25, 0, 50, *rates, lower=lower, low_elsewhere=elsewhere, expected=expected)


def test_thresholds_are_tested_downwards_from_the_safest_at_half_the_risk_or_by_the_bound_for_other_roots() -> None:
    points = [at(0.0, 0.9, 0.8), at(0.1, 0.6, 0.5), at(0.2, 0.8, 0.7), at(0.3, 0.7, 0.6, 0.9), at(0.4, 0.9, 0.9)]
    assert safest(points) == points[3]
    assert choose(points, 0.7) == points[2]
    assert choose(points, 0.65) == points[2]
    assert choose(points, 0.5) == points[0]
    assert choose(points, 0.75) is None
    points = [at(0.0, 0.9, 0.8, elsewhere=0.2), at(0.1, 0.9, 0.8, elsewhere=0.6), at(0.2, 0.9, 0.8, 0.9, 0.7)]
    assert choose(points, 0.6, 4) == points[1]
    assert choose(points, 0.6) == points[0]
    assert choose(points, 0.8, 4) is None
    assert choose([at(0.0, 0.9, 0.8)], 0.1, 1) is None


def test_a_threshold_that_fires_for_a_few_prompts_promises_nothing() -> None:
    prompts = [labels_only(f"p{i}", True) for i in range(MIN_FIRED - 1)]
    assert choose(curve(prompts, [[0.9]] * len(prompts), 3, 0.9), 0.1) is None
    enough = [*prompts, labels_only("one more", True)]
    assert choose(curve(enough, [[0.9]] * MIN_FIRED, 3, 0.9), 0.1) is not None


def test_no_judge_is_asked_where_a_twentieth_of_what_is_relevant_lies() -> None:
    prompts = [labels_only(f"p{i}", True, False) for i in range(100)]
    given = [[i / 100, 0.0] for i in range(100)]
    assert doubt(prompts, given, 0.6) == 0.05
    assert doubt(prompts, given, 0.02) == 0.02
    assert doubt([labels_only("p", False)], [[0.4]], 0.6) == 0.0


# The fit


def test_too_few_labels_are_refused_with_how_many_are_missing() -> None:
    with pytest.raises(TuningError, match="Missing: 20 irrelevant memories"):
        tune([labels_only(f"p{i}", i % 2 == 0 or None) for i in range(60)], 0.8, 0.9, 3)
    with pytest.raises(TuningError, match=f"Missing: {FROM_NOTHING.prompts} prompts"):
        tune([], 0.8, 0.9, 3)
    few = [labels_only(f"p{i}", i < FROM_DEFAULT.each - 1) for i in range(FROM_DEFAULT.prompts)]
    with pytest.raises(TuningError, match=r"Missing: 1 relevant memory\."):
        tune(few, 0.8, 0.9, 3, DEFAULT)


def test_a_tuning_reaches_its_target_on_prompts_that_it_has_not_seen() -> None:
    made, unseen = tune(world(400), 0.7, 0.9, 3), world(1000, seed=2)
    given = [made.weights.of_prompt(one) for one in unseen]
    assert known(point(unseen, given, known(made.at).threshold, 3, 0.9).precision) >= 0.7
    assert known(made.points[0].precision) < 0.6
    assert (made.prompts, made.relevant + made.not_relevant) == (400, 1600)


def test_the_reliability_counts_every_label_once_and_changes_are_what_is_injected_before_or_after(made: Tuning) -> None:
    assert sum(one.count for one in made.reliability) == 400
    assert sum(one.observed * one.count for one in made.reliability) == pytest.approx(made.relevant)
    assert made.brier < made.base_rate * (1 - made.base_rate)
    at = known(made.at)
    assert sum(one.before for one in made.changes) == made.today.injected == made.points[0].injected == 300
    assert sum(one.after for one in made.changes) == at.injected
    assert all(one.probability >= at.threshold for one in made.changes if one.after)
    assert all(one.probability < surer(at.threshold) for one in made.changes if one.before and not one.after)


def test_another_label_makes_another_hash() -> None:
    prompts = world(60)
    assert labels_hash(prompts) == labels_hash(prompts[::-1]) != labels_hash([*prompts, labels_only("more", True)])


def test_the_best_that_can_be_promised_is_said_where_the_target_is_out_of_reach() -> None:
    prompts = world(60)
    made = tune(prompts, 0.99, 0.9, 3)
    assert made.at is None
    assert made.changes == ()
    reachable = known(made.reachable)
    assert reachable == safest(made.points)
    best = int((reachable.low or 0) * 100) / 100
    text = " ".join(format_text(made).split())
    assert f"99 % cannot be promised; {round(best * 100)} % can, " in text
    assert "Next: more labels alone do not help" in text
    assert text.endswith(
        "memsift config set retrieval.cutoff_threshold strict, which injects only the likeliest memories."
    )
    unlabelled = replaced(made, reachable=replaced(reachable, unjudged=3))
    assert "Next: label the 3 memories without a label, which would be injected: memsift, then L." in format_text(
        unlabelled, 200
    )
    few = replaced(made, reachable=replaced(reachable, precision=1.0, low=0.97))
    assert f"Next: label about {more_prompts(few):,} more prompts: memsift, then L. Until then" in format_text(few, 200)
    assert tune(prompts, best, 0.9, 3).at is not None
    assert tune(prompts, best + 0.01, 0.9, 3).at is None
    with pytest.raises(TuningError):
        forms.model_content(made, Config(), NOW, OWN)


# The file


def test_a_model_that_was_written_is_the_one_that_the_engine_reads_and_both_agree_on_a_probability(
    tmp_path: Path, made: Tuning
) -> None:
    content = forms.model_content(made, Config(), NOW, OWN)
    assert forms.write_model(str(tmp_path / "state"), content) == tmp_path / "state/cutoff.json"
    cutoff = known(load_cutoff(str(tmp_path / "state"), Config(), "", bool))
    assert made.at is not None
    assert cutoff.least(has_judge=False) == made.at.threshold
    assert cutoff.least(has_judge=True) == made.doubt
    assert content["provenance"]["made_at"] == "2025-06-01T12:00:00+00:00"
    assert content["provenance"]["labels_sha256"] == made.labels_hash
    assert content["provenance"]["figures"]["injected"] == made.at.injected
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["cutoff.json"]
    rows = [one.features for prompt in world(50, seed=7) for one in prompt.examples]
    assert [cutoff.model.probability(row) for row in rows] == pytest.approx(list(made.weights.probabilities(rows)))


def test_a_place_where_nothing_can_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(TuningError, match="cannot be written"):
        forms.write_model(str(tmp_path / "file"), {})
    (tmp_path / "cutoff.json").mkdir()
    with pytest.raises(TuningError, match="cannot be removed"):
        forms.remove_model(str(tmp_path))


# What is shown


def test_the_text_says_labels_injections_losses_and_the_next_step_and_marks_the_threshold(made: Tuning) -> None:
    assert made.at is not None
    lines = format_text(made, width=200).splitlines()
    lost = sum(one.is_relevant is True and one.before and not one.after for one in made.changes)
    silent = sum(not one.relevant for one in world(100))
    before, after = made.today.relevant, made.at.relevant
    assert lines[:5] == [
        f"400 labels on 100 prompts count: {made.relevant} relevant, {made.not_relevant} not.",
        f"Today, without a cutoff: 300 memories injected, {before} relevant.",
        f"Tuned, P >= {made.at.threshold:.2f}: {made.at.injected} memories injected, {after} relevant; "
        f"{lost} of {before} lost, {after + lost - before} new.",
        f"Prompts with nothing relevant that get an injection: {silent} of {silent} today, "
        f"{round((made.at.false_fire_rate or 0) * silent)} then.",
        "Promise: at least 60 % relevant, kept 9 times in 10, on prompts like these.",
    ]
    assert lines[-1] == "Next: use it: memsift tune --target-precision 0.6 --apply."
    assert len(lines) == 9
    assert max(map(len, format_text(made).splitlines())) <= 80
    text = format_text(made, is_full=True)
    (line,) = [line for line in text.splitlines() if line.endswith("<")]
    assert line.split()[0] == f"{made.at.threshold:.2f}"
    assert [line.split()[:2] for line in text.splitlines() if line.lstrip().startswith("today")] == [["today", "300"]]
    assert f"{lost} relevant memories would be lost" in text
    assert "Reliability of P" in text


def test_of_four_roots_the_text_promises_something_for_another_one() -> None:
    four, three = tune(world(120, groups="abcd"), 0.4, 0.9, 3), tune(world(120, groups="abc"), 0.4, 0.9, 3)
    assert four.elsewhere is not None
    assert f"(--to ROOT), P >= {four.elsewhere.threshold:.2f} keeps 40 %" in format_text(four, is_full=True)
    assert "nothing can be promised: that takes labels of 4 roots" in format_text(three, is_full=True)
    assert [one.promise_in("another") for one in (four, three)] == ["a root without labels", "none"]
    assert three.promise_in("a") == "the roots of the labels"
