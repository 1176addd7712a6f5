"""Configuration: defaults, file, environment, and messages that say what is wrong."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.config import (
    CONFIG_FILE,
    FTS5_BM25,
    LIMITS,
    MEMSIFT,
    OPTIONAL,
    Config,
    JudgeConfig,
    ModeConfig,
    ModesConfig,
    config_json,
)
from engine.errors import ConfigError
from engine.judge.prompts import template, templates
from engine.lean.record import fields, replace
from engine.settings.sources import checked
from engine.settings.values import value_of
from tests.engine.settings.files import load, load_config, settings_in, write

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
KEYS = st.sampled_from([*fields(Config()), *fields(JudgeConfig()), "other"])

BROKEN = [
    (b"{not json", "is not valid JSON"),
    (b"[1]", "is not a JSON object"),
    (b'{"retrieval": "\xff"}', "is not UTF-8 text"),
    (b" " * 1_000_001, "is larger than 1,000 kB"),
]
"""One of each kind. `engine/faults/test_traps.py` puts the other things that may lie in the place of the file there."""


def test_the_file_sets_keys_and_those_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    judge = {
        "enabled": True,
        "timeout_per_call": 2,
        "dual_verification": True,
        "modes": {"auto": {"verification": "strict"}},
    }
    config = load(tmp_path, {"max_inject": 5, "judge": judge, "cluster_detection_enabled": False})
    modes = ModesConfig(ModeConfig(verification="strict"))
    judged = replace(JudgeConfig(), enabled=True, timeout_per_call=2.0, modes=modes)
    assert config == replace(Config(), max_inject=5, judge=judged)
    assert isinstance(config.judge.timeout_per_call, float)
    assert load_config(write(tmp_path, {"triage": {"max_inject": "many"}}), {}) == Config()


ORIGINAL = {
    "enabled": True,
    "max_inject": 3,
    "match_strategy": "fts5_bm25",
    "confidence_abs_floor": 0.0,
    "cluster_detection_enabled": True,
    "output_mode": "legacy",
    "judge": {
        "enabled": True,
        "model": "claude-haiku-4-5-20251001",
        "timeout_per_call": 3.0,
        "fallback_top_k": 2,
        "candidate_pool_size": 15,
        "dual_verification": True,
        "include_conversation_context": True,
        "context_turns": 5,
        "modes": {
            "auto": {"verification": "lenient", "max_output": 1},
            "search": {"verification": "strict", "max_output": 10},
        },
    },
}
"""Every key that claude-memory documents under `retrieval`, with the switches on and the modes exchanged."""


def test_every_key_of_the_original_counts_or_says_why_it_does_not(tmp_path: Path) -> None:
    reading = settings_in(tmp_path, ORIGINAL, is_trusted=True)
    assert reading.lines == ()
    assert sorted(remark.partition("json: ")[2].partition(" ")[0] for remark in reading.remarks) == [
        "'retrieval.cluster_detection_enabled'",
        "'retrieval.judge.dual_verification'",
    ]
    config = reading.config
    assert (config.judge.enabled, config.judge.modes.auto.max_output, config.judge.context_turns) == (True, 1, 5)
    made = templates(config.judge)
    assert (made["auto"], made["search"]) == (template("search"), template("auto"))
    (remark,) = settings_in(tmp_path, ORIGINAL).remarks
    assert remark.endswith("memsift looks for no clusters of results.")


@pytest.mark.parametrize(("text", "number"), [(".85", 0.85), ("0.850", 0.85), ("+.5", 0.5), ("1.", 1.0), ("8e-1", 0.8)])
def test_a_variable_may_spell_a_number_as_people_do(tmp_path: Path, text: str, number: float) -> None:
    assert load(tmp_path, {}, {"MEMSIFT_CUTOFF_THRESHOLD": text}).cutoff_threshold == number
    assert load(tmp_path, {}, {"MEMSIFT_NOISE_FLOOR": text}).noise_floor == number
    assert value_of(("cutoff_threshold",), text) == number


def test_the_environment_overrides_the_file_and_spells_values_as_people_do(tmp_path: Path) -> None:
    environ = {
        "MEMSIFT_MAX_INJECT": "1",
        "MEMSIFT_JUDGE_ENABLED": "true",
        "MEMSIFT_JUDGE": "none",
        "MEMSIFT_JUDGE_MODEL": "4",
        "MEMSIFT_JUDGE_DEPTH": "explained",
        "MEMSIFT_JUDGE_TIMEOUT": "0.5",
        "MEMSIFT_MATCH_STRATEGY": "title_tags",
        "MEMSIFT_JUDGE_TEMPERATURE": "0",
        "MEMSIFT_JUDGE_MAX_TOKENS": "900",
        "MEMSIFT_CUTOFF": "default",
        "MEMSIFT_CUTOFF_THRESHOLD": "strict",
    }
    config = load(tmp_path, {"max_inject": 5, "judge": {"fallback_top_k": 1}}, environ)
    assert (config.max_inject, config.match_strategy) == (1, "title_tags")
    assert (config.cutoff, config.cutoff_threshold) == ("default", "strict")
    assert config.judge == replace(
        JudgeConfig(),
        enabled=True,
        provider="none",
        model="4",
        depth="explained",
        timeout_per_call=0.5,
        fallback_top_k=1,
        temperature=0.0,
        max_tokens=900,
    )
    assert load(tmp_path, {"max_inject": 5}, {"MEMSIFT_MAX_INJECT": "", "MEMSIFT_JUDGE_MODEL": ""}).max_inject == 5
    for text, enabled in [("1", True), ("yes", True), ("On", True), ("0", False), ("off", False)]:
        assert load_config(str(tmp_path), {"MEMSIFT_JUDGE_ENABLED": text}).judge.enabled is enabled, text
    with pytest.raises(ConfigError, match=r"MEMSIFT_JUDGE_ENABLED.*'maybe'.*true or false"):
        load_config(str(tmp_path), {"MEMSIFT_JUDGE_ENABLED": "maybe"})


def test_a_prompt_is_read_from_a_file_in_the_root(tmp_path: Path) -> None:
    (tmp_path / "lenient.txt").write_text("Keep all. {format}", encoding="utf-8")
    config = load(tmp_path, {"judge": {"modes": {"search": {"prompt_file": "lenient.txt", "verification": "lenient"}}}})
    assert config.judge.modes.search == ModeConfig("Keep all. {format}", "lenient.txt", "lenient")
    assert config.judge.modes.auto == ModeConfig()
    assert '"prompt": "Keep all. {format}"' in config_json(config)


def of_auto(**mode: object) -> dict[str, object]:
    """A section with these settings of the judge's mode for prompts."""
    return {"judge": {"modes": {"auto": mode}}}


def test_a_value_that_makes_no_sense_is_named_with_what_is_expected(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.txt").write_text("{format}", encoding="utf-8")
    for retrieval, message in [
        ({"cutoff": "on"}, r"'retrieval.cutoff' is 'on'; expected 'tuned', 'default' or 'off'"),
        ({"cutoff_threshold": 1.5}, r"'retrieval.cutoff_threshold' is 1.5; expected strict, balanced, generous, or"),
        ({"cutoff_threshold": "loose"}, r"'retrieval.cutoff_threshold' is 'loose'; expected strict, balanced,"),
        ({"max_inject": "3"}, r"'retrieval.max_inject' is '3'; expected a whole number from 0 to 20"),
        ({"max_inject": 2.5}, r"'retrieval.max_inject' is 2.5; expected a whole number"),
        ({"max_inject": True}, r"'retrieval.max_inject' is True; expected a whole number"),
        ({"max_inject": -1}, r"expected a whole number from 0 to 20"),
        ({"max_inject": None}, r"'retrieval.max_inject' is None"),
        ({"noise_floor": 1.5}, r"'retrieval.noise_floor' is 1.5; expected a number from 0 to 1"),
        ({"noise_floor": float("nan")}, r"'retrieval.noise_floor' is nan"),
        ({"noise_floor": float("inf")}, r"'retrieval.noise_floor' is inf"),
        ({"max_characters": 9001}, r"expected a whole number from 100 to 9000"),
        ({"enabled": "yes"}, r"'retrieval.enabled' is 'yes'; expected true or false"),
        ({"enabled": 1}, r"'retrieval.enabled' is 1; expected true or false"),
        ({"match_strategy": "embeddings"}, r"expected 'memsift', 'fts5_bm25' or 'title_tags'"),
        ({"match_strategy": ["title_tags"]}, r"expected 'memsift', 'fts5_bm25' or 'title_tags'"),
        ({"judge": {"provider": "oracle"}}, r"'retrieval.judge.provider' is 'oracle'; expected anthropic, anthropic-"),
        ({"judge": {"provider": "scripted:"}}, r"claude-cli, scripted:PATH or none"),
        ({"judge": {"enabled": True, "provider": "openai"}}, r"config.json: The judge openai needs the name of a"),
        (of_auto(prompt="Keep."), r"judge.modes.auto.prompt needs the placeholder {format}"),
        (of_auto(prompt_file="gone.txt"), r"modes.auto.prompt_file' names 'gone.txt', which does not exist"),
        (of_auto(prompt_file="../outside.txt"), r"names '../outside.txt', which points outside the root"),
        (of_auto(prompt_file="a", prompt="b"), r"'retrieval.judge.modes.auto' has both a prompt and a prompt_file"),
        ({"max_injects": 3}, r"'retrieval.max_injects', set to 3, is unknown; .* Did you mean 'max_inject'"),
        ({"judge": {"colour": "green"}}, r"'retrieval.judge.colour', set to 'green', is unknown; expected enabled,"),
        (None, r"'retrieval' is None; expected an object with keys"),
        ({"judge": {"model": 3}}, r"'retrieval.judge.model' is 3; expected text"),
        ({"judge": {"timeout_per_call": 0}}, r"'retrieval.judge.timeout_per_call' is 0; expected a number from 0.05"),
        ({"judge": []}, r"'retrieval.judge' is \[\]; expected an object with keys"),
        ({"judge": {"depth": "deep"}}, r"'retrieval.judge.depth' is 'deep'; expected 'keep' or 'explained'"),
        ({"judge": {"split_over": -1}}, r"'retrieval.judge.split_over' is -1; expected a whole number from 0 to 1000"),
        ({"judge": {"modes": []}}, r"'retrieval.judge.modes' is \[\]; expected an object with keys"),
        ({"judge": {"modes": {"auto": "x"}}}, r"'retrieval.judge.modes.auto' is 'x'; expected an object with keys"),
        (of_auto(prompt=1), r"'retrieval.judge.modes.auto.prompt' is 1; expected text"),
        ([], r"'retrieval' is \[\]; expected an object with keys"),
    ]:
        with pytest.raises(ConfigError, match=message) as caught:
            load(root, retrieval)
        assert CONFIG_FILE in str(caught.value), retrieval


def test_a_broken_file_is_a_configuration_error_and_a_byte_order_mark_is_none(tmp_path: Path) -> None:
    for raw, message in BROKEN:
        (tmp_path / CONFIG_FILE).write_bytes(raw)
        with pytest.raises(ConfigError, match=message):
            load_config(str(tmp_path), {})
    (tmp_path / CONFIG_FILE).write_text(json.dumps({"retrieval": {"max_inject": 2}}), encoding="utf-8-sig")
    assert load_config(str(tmp_path), {}).max_inject == 2


@pytest.mark.parametrize(("strategy", "floor"), [(MEMSIFT, 0.4), (FTS5_BM25, 0.25)])
def test_each_strategy_has_a_floor_of_its_own_until_one_is_given(tmp_path: Path, strategy: str, floor: float) -> None:
    assert load(tmp_path, {"match_strategy": strategy}).floor == floor
    assert load(tmp_path, {"match_strategy": strategy, "noise_floor": 0.1}).floor == 0.1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    section=st.dictionaries(KEYS, JSON, max_size=4),
    judge=st.dictionaries(KEYS, JSON, max_size=4) | JSON,
    is_trusted=st.booleans(),
)
def test_any_json_gives_a_configuration_within_limits(
    tmp_path: Path, section: dict[str, Any], judge: object, is_trusted: bool
) -> None:
    config = settings_in(tmp_path, {**section, "judge": judge}, is_trusted=is_trusted).config
    values = {**fields(config.judge.modes.auto), **fields(config), **fields(config.judge), "noise_floor": config.floor}
    for name, (least, most) in LIMITS.items():
        assert (values[name] is None and name in OPTIONAL) or least <= values[name] <= most  # type: ignore[operator]
    assert isinstance(config.enabled, bool)
    assert isinstance(config.judge.model, str)


def test_a_number_may_be_null_or_is_brought_into_its_range_and_a_wrong_value_changes_nothing(
    tmp_path: Path,
) -> None:
    config = load(tmp_path, {"noise_floor": None, "cutoff_threshold": None}, {"MEMSIFT_CUTOFF_THRESHOLD": "null"})
    assert (config.noise_floor, config.cutoff_threshold) == (None, None)
    for section, expected in [
        ({"max_inject": 99}, {"max_inject": 20}),
        ({"max_inject": -1, "noise_floor": 2}, {"max_inject": 0, "noise_floor": 1.0}),
        ({"noise_floor": float("inf")}, {"noise_floor": 1.0}),
        ({"noise_floor": float("nan"), "max_inject": 2.5, "min_strength": True, "output_mode": "x"}, {}),
        ({"enabled": "no", "max_inject": 1}, {"max_inject": 1}),
        (None, {}),
        ([], {}),
    ]:
        reading = settings_in(tmp_path, section, is_trusted=True)
        assert reading.config == replace(Config(), **expected), section
        assert reading.mistakes, section


def test_a_mistake_about_the_judge_switches_it_off(tmp_path: Path) -> None:
    for judge in [
        *({"provider": "oracle"}, {"provider": 3}, {"provider": "openai"}, {"model": 3}, {"modes": []}),
        *({"modes": {"auto": "x"}}, {"modes": {"auto": {"prompt": "Keep all."}}}),
        *({"modes": {"search": {"prompt_file": "gone.txt"}}}, {"modes": {"auto": {"prompt_file": "a", "prompt": "b"}}}),
    ]:
        reading = settings_in(tmp_path, {"judge": {"enabled": True, **judge}}, is_trusted=True)
        assert reading.config.judge.enabled is False, judge
        assert len(reading.mistakes) == 1, judge
    harmless = settings_in(tmp_path, {"judge": {"enabled": True, "timeout_per_call": 900}}, is_trusted=True).config
    assert (harmless.judge.enabled, harmless.judge.timeout_per_call) == (True, 600.0)


@pytest.mark.parametrize("name", ["pipe", "/dev/zero", "gone"])
def test_settings_name_no_script_but_a_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    judge = {"enabled": True, "provider": f"scripted:{tmp_path / name}"}
    with pytest.raises(ConfigError, match=r"'retrieval.judge.provider' is 'scripted:.*, which is not a file"):
        load(tmp_path, {"judge": judge})
    (tmp_path / "script").write_text("", encoding="utf-8")
    assert load(tmp_path, {"judge": {"provider": f"scripted:{tmp_path / 'script'}"}}).judge.provider
    assert load(tmp_path, {}, {"MEMSIFT_JUDGE": "scripted:/dev/fd/63"}).judge.provider == "scripted:/dev/fd/63"


def test_thousands_of_mistakes_are_a_few_lines(tmp_path: Path) -> None:
    reading = settings_in(tmp_path, {f"{'k' * 300}{number}": "v" * 300 for number in range(1000)})
    assert len(reading.mistakes) == 11
    assert reading.mistakes[-1].text == f"{tmp_path}/{CONFIG_FILE}: 'retrieval' holds 990 more unknown keys."
    assert len(reading.lines) == 6
    assert reading.lines[-1] == "6 more mistakes in the configuration."
    assert max(map(len, reading.lines)) < 600 + len(str(tmp_path))
    with pytest.raises(ConfigError, match=r"And 10 more mistakes\.$"):
        checked(reading)


def test_a_misspelt_variable_is_a_mistake_and_one_in_a_flag_names_the_flag(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"MEMSIFT_MAX_INJECTS is not a .* Did you mean MEMSIFT_MAX_INJECT\?"):
        load_config(str(tmp_path), {"MEMSIFT_MAX_INJECTS": "3"})
    known = {"MEMSIFT_DB": "x", "MEMSIFT_ANNOTATOR": "me", "MEMSIFT_JUDGE_SAMPLES": "3", "MEMSIFT_INSIDE_JUDGE": "1"}
    others = {"MEMSIFT_MAX_INJECTS": "", "MEMSIFT_LONG_TESTS": "1", "MEMSIFT_REAL_CLIENT_ISOLATED": "1"}
    assert load_config(str(tmp_path), known | others) == Config()
    with pytest.raises(ConfigError, match=r"^--judge: 'retrieval.judge.provider' is 'oracle'"):
        load_config(str(tmp_path), {"MEMSIFT_JUDGE": "none", "--judge": "oracle"})
