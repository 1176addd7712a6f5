import json

import pytest

from engine import default_model
from engine.config import SYSTEMS, Config, JudgeConfig, config_json
from engine.cutoff import Cutoff, default_cutoff
from engine.lean.record import replace
from labels.records import RunSettings
from labels.run_settings import changed_settings, changes, differences, settings_json
from labels.runs import run_id
from tests.engine.models import cutoff
from tests.labels.samples import ROOT, outcome

JUDGED, CUT, DEFAULT = "memsift+judge", "memsift+cutoff", "memsift+default"
FIRST, ASKED = SYSTEMS["memsift"], SYSTEMS[JUDGED]
ONCE, THRICE = settings_json(Config(), samples=1), settings_json(Config(), samples=3)


def made(settings: str = "{}", corpus_hash: str = "c") -> RunSettings:
    return RunSettings(ROOT, settings, corpus_hash)


def test_a_run_without_judge_and_cutoff_is_called_as_it_was_by_older_versions() -> None:
    older = json.loads(config_json(Config(max_inject=2)))
    del older["cutoff"], older["cutoff_threshold"]
    for config in (Config(max_inject=2), Config(max_inject=2, cutoff="off", cutoff_threshold=0.3)):
        assert json.loads(settings_json(config)) == older


def test_replays_with_other_samples_or_another_cutoff_are_other_runs() -> None:
    config = Config()
    ways = [{}, {"samples": 1}, {"samples": 3}, {"cutoff": cutoff()}, {"cutoff": cutoff(threshold=0.6)}]
    assert len({run_id(ROOT, "s", settings_json(config, **way), "c") for way in ways}) == len(ways)  # type: ignore[arg-type]
    assert settings_json(config, cutoff=cutoff()) == settings_json(config, cutoff=cutoff())
    assert json.loads(settings_json(config, samples=3))["judge"]["samples"] == 3


def test_only_settings_that_bear_on_what_is_injected_count_and_the_judges_where_it_is_configured() -> None:
    then, idle = config_json(Config()), Config(judge=JudgeConfig(model="other"))
    asked = replace(idle, judge=replace(idle.judge, enabled=True))
    thrice = settings_json(asked, samples=3)
    for recorded, system, now, told in (
        (then, FIRST, Config(output_mode="tiered", deadline=5.0, hints=True), ()),
        (then, FIRST, Config(noise_floor=0.5), ("noise_floor was null, is 0.5",)),
        (then, ASKED, idle, ()),
        (then, FIRST, asked, ()),
        (then, ASKED, asked, ('judge.model was "claude-haiku-4-5", is "other"',)),
        (thrice, ASKED, asked, ()),  # a replay may take more samples than the hook
    ):
        assert changed_settings(recorded, system, now) == told
    assert changed_settings(then, ASKED, asked, has_judge=False) == ()


def test_what_another_cutoff_left_out_is_told() -> None:
    config, tuned, anew = Config(), cutoff(), cutoff(threshold=0.6)
    runs = {"r": made(settings_json(config, cutoff=tuned)), "plain": made(settings_json(config))}
    rows = [outcome(["a"], system=CUT, run_id="r"), outcome(["a"], system="memsift", run_id="plain")]
    assert changes(rows, runs, config, tuned) == {}
    assert changes(rows, runs, config) == {}
    assert changes(rows, runs, config, anew) == {"r": ("the cutoff was tuned anew",)}


def shipped(**changes: float) -> Cutoff:
    """The default cutoff, or that of another version of memsift."""
    made = default_cutoff(Config())
    assert made is not None
    return Cutoff(replace(made.model, **changes), made.kind)


def test_what_the_default_cutoff_of_another_version_left_out_is_told() -> None:
    config, other = Config(), shipped(intercept=default_model.INTERCEPT + 1)
    runs = {"now": made(settings_json(config, cutoff=shipped())), "then": made(settings_json(config, cutoff=other))}
    rows = [outcome(["a"], system=DEFAULT, run_id=name) for name in runs]
    for in_use in (shipped(), cutoff(), None):
        assert changes(rows, runs, config, in_use) == {"then": ("the default cutoff is of another version of memsift",)}
    assert differences(DEFAULT, [*runs.values()]) == ("the default cutoff is of another version of memsift",)


def test_the_settings_of_a_cutoff_are_told_without_calling_it_another() -> None:
    run = {"r": made(settings_json(Config(), cutoff=shipped()))}
    rows = [outcome(["a"], system=DEFAULT, run_id="r")]
    assert changes(rows, run, Config(cutoff="off")) == {}
    assert changes(rows, run, Config(max_inject=2)) == {"r": ("max_inject was 3, is 2",)}
    assert changes(rows, run, Config(cutoff_threshold=0.7)) == {"r": ("cutoff_threshold was null, is 0.7",)}
    plain = {"r": made(settings_json(Config()))}
    assert changes([outcome(["a"], system="memsift", run_id="r")], plain, Config(cutoff_threshold=0.7)) == {}


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (made(ONCE), made(THRICE), "judge.samples was 1 or 3"),
        (made(config_json(Config())), made(THRICE), None),  # of an older memsift
        (made(corpus_hash="one"), made(corpus_hash="two"), "the memories changed in between"),
        (
            made(settings_json(Config(), cutoff=cutoff())),
            made(settings_json(Config(), cutoff=cutoff(doubt=0.2))),
            "the cutoff was tuned anew",
        ),
        (made(""), made(config_json(Config())), None),
    ],
)
def test_runs_differ_in_what_both_recorded(first: RunSettings, second: RunSettings, told: str | None) -> None:
    assert differences(JUDGED, [first, second]) == ((told,) if told else ())
    assert differences(JUDGED, [first]) == differences(JUDGED, []) == ()
