from __future__ import annotations

import json

import pytest

from engine.config import Config, JudgeConfig, config_json
from engine.lean.record import replace
from labels.records import RunSettings
from labels.run_settings import changed_settings, changes, differences, settings_json
from labels.runs import run_id
from tests.engine.models import cutoff
from tests.labels.samples import ROOT, outcome

JUDGED, CUT = "memsift+judge", "memsift+cutoff"
ONCE, THRICE = settings_json(Config(), samples=1), settings_json(Config(), samples=3)


def made(settings: str = "{}", corpus_hash: str = "c") -> RunSettings:
    return RunSettings(ROOT, settings, corpus_hash)


def test_a_run_without_judge_and_cutoff_is_called_as_it_was_by_older_versions() -> None:
    config = Config(max_inject=2)
    assert settings_json(config) == config_json(config)


def test_replays_with_other_samples_or_another_cutoff_are_other_runs() -> None:
    config = Config()
    ways = [{}, {"samples": 1}, {"samples": 3}, {"cutoff": cutoff()}, {"cutoff": cutoff(threshold=0.6)}]
    assert len({run_id(ROOT, "s", settings_json(config, **way), "c") for way in ways}) == len(ways)  # type: ignore[arg-type]
    assert settings_json(config, cutoff=cutoff()) == settings_json(config, cutoff=cutoff())
    assert json.loads(settings_json(config, samples=3))["judge"]["samples"] == 3


def test_only_settings_that_bear_on_what_is_injected_count() -> None:
    then = config_json(Config())
    assert changed_settings(then, Config(output_mode="tiered", deadline=5.0, hints=True), has_judge=True) == ()
    assert changed_settings(then, Config(noise_floor=0.5), has_judge=False) == ("noise_floor was null, is 0.5",)


def test_the_judges_settings_count_where_a_judge_is_configured() -> None:
    then = config_json(Config())
    idle = Config(judge=JudgeConfig(model="other"))
    asked = replace(idle, judge=replace(idle.judge, enabled=True))
    assert changed_settings(then, idle, has_judge=True) == ()
    assert changed_settings(then, asked, has_judge=False) == ()
    assert changed_settings(then, asked, has_judge=True) == ('judge.model was "claude-haiku-4-5", is "other"',)


def test_a_replay_may_take_more_samples_than_the_hook() -> None:
    asked = Config(judge=JudgeConfig(enabled=True))
    assert changed_settings(settings_json(asked, samples=3), asked, has_judge=True) == ()


def test_what_another_cutoff_left_out_is_told() -> None:
    config, tuned, anew = Config(), cutoff(), cutoff(threshold=0.6)
    runs = {"r": made(settings_json(config, cutoff=tuned)), "plain": made(settings_json(config))}
    rows = [outcome(["a"], system=CUT, run_id="r"), outcome(["a"], system="memsift", run_id="plain")]
    assert changes(rows, runs, config, tuned) == {}
    assert changes(rows, runs, config) == {}
    assert changes(rows, runs, config, anew) == {"r": ("the cutoff was tuned anew",)}


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
