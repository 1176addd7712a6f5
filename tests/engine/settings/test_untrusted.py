"""The settings of a root that nobody trusted: stricter or quieter counts, nothing else."""

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config import Config, JudgeConfig
from engine.default_model import THRESHOLD
from engine.lean.record import fields, replace
from engine.paths import state_dir
from engine.settings.keys import restricted
from engine.settings.sources import read_config
from tests.engine.models import content, write_model
from tests.engine.settings.files import load_config, settings_in, user_file, write

KEYS = st.sampled_from([*fields(Config()), *fields(JudgeConfig()), "other"])


STRICTER = {
    "enabled": False,
    "match_strategy": "title_tags",
    "max_inject": 1,
    "max_results": 9,
    "noise_floor": 0.9,
    "min_strength": 4.0,
    "cutoff_threshold": "strict",
    "confidence_abs_floor": 5.0,
    "max_characters": 500,
    "output_mode": "tiered",
    "hints": True,
}
LAXER = {
    "max_inject": 4,
    "max_results": 11,
    "noise_floor": 0.39,
    "min_strength": 0.7,
    "cutoff": "off",
    "cutoff_threshold": "generous",
    "max_characters": 8999,
    "confidence_abs_floor": 1.0,
    "deadline": 1.0,
    "logging": {"prompts": True},
    "judge": {
        "enabled": True,
        "provider": "openai",
        "model": "m",
        "timeout_per_call": 1.0,
        "fallback_top_k": 1,
        "candidate_pool_size": 5,
        "include_conversation_context": False,
        "context_turns": 1,
        "depth": "explained",
        "split_over": 3,
        "temperature": 1.0,
        "max_tokens": 900,
        "modes": {"auto": {"prompt": "{format}"}, "search": {"prompt_file": "/etc/passwd"}},
    },
}


def test_a_root_may_be_stricter_or_quieter_than_the_user(tmp_path: Path) -> None:
    reading = settings_in(tmp_path, STRICTER)
    assert reading.config == replace(Config(), **STRICTER)
    assert (reading.untrusted, reading.notice) == ((), "")


def test_nothing_else_in_a_root_counts_and_all_of_it_is_named_with_a_command_to_type(tmp_path: Path) -> None:
    environ = user_file(tmp_path, "[retrieval]\nmax_characters = 800\nconfidence_abs_floor = 2\nenabled = false\n")
    own = load_config(str(tmp_path / "nowhere"), environ)
    assert own == replace(Config(), max_characters=800, confidence_abs_floor=2.0, enabled=False)
    folder = tmp_path / "it's a root"
    folder.mkdir()
    root = write(folder, {"retrieval": {**LAXER, "enabled": True}})
    reading = read_config(root, environ)
    assert reading.config == own
    named = {key.removeprefix("retrieval.") for key, _ in reading.untrusted}
    assert named == {
        *(set(LAXER) - {"judge", "logging"}),
        *("enabled", "logging.prompts", "judge.modes.auto.prompt", "judge.modes.search.prompt_file"),
        *(f"judge.{name}" for name in fields(JudgeConfig()) if name != "modes"),
    }
    for name in named:
        assert name in reading.notice
    assert shlex.split(reading.notice.partition("To allow: ")[2]) == ["memsift", "trust", root]


@given(section=st.dictionaries(KEYS, st.integers(0, 20) | st.floats(0, 20) | st.booleans(), max_size=6))
def test_no_root_makes_the_hook_say_more_or_ask_a_judge(section: dict[str, object]) -> None:
    user = replace(Config(), max_inject=5, noise_floor=0.2, max_characters=5000)
    wanted = replace(user, **{name: value for name, value in section.items() if name in fields(user)})
    config, ignored = restricted(user, wanted, raises_threshold=False)
    assert (config.judge, config.logging, config.deadline) == (user.judge, user.logging, user.deadline)
    assert config.max_inject <= 5
    assert config.max_characters <= 5000
    assert config.floor >= 0.2
    assert config.min_strength >= user.min_strength
    assert config.cutoff == user.cutoff
    assert config.cutoff_threshold is None
    assert {key.partition(".")[2].partition(".")[0] for key in ignored} <= set(section)


@pytest.mark.parametrize("own", ["off", "default"])
@pytest.mark.parametrize("kind", ["tuned", "default", "off"])
def test_a_root_may_switch_on_a_cutoff_but_not_choose_another_than_the_user(
    tmp_path: Path, own: str, kind: str
) -> None:
    environ = user_file(tmp_path, f'[retrieval]\ncutoff = "{own}"\n')
    reading = read_config(write(tmp_path, {"retrieval": {"cutoff": kind}}), environ)
    assert reading.config.cutoff == (kind if own == "off" else "default")
    assert ("retrieval.cutoff" in dict(reading.untrusted)) is (own == "default" != kind)


@pytest.mark.parametrize(("own", "tuned", "raised"), [(None, 0.8, 0.8), (0.3, 0.8, 0.3), (None, None, THRESHOLD)])
def test_a_root_may_raise_the_threshold_that_counts_and_not_lower_it(
    tmp_path: Path, own: float | None, tuned: float | None, raised: float
) -> None:
    environ = user_file(tmp_path, f"[retrieval]\ncutoff_threshold = {own}\n" if own else "")
    root = str(tmp_path)
    if tuned:
        write_model(Path(state_dir(root, environ)), content(threshold=tuned))
    for wanted, counts in ((raised, True), (raised + 0.01, True), (raised - 0.01, False), (None, own is None)):
        reading = read_config(write(tmp_path, {"retrieval": {"cutoff_threshold": wanted}}), environ)
        assert reading.config.cutoff_threshold == (wanted if counts else own)
        assert bool(reading.notice) is not counts


@pytest.mark.parametrize(
    ("own", "wanted", "counts"),
    [
        *(("balanced", "strict", True), ("balanced", "generous", False), ("strict", "balanced", False)),
        *(("balanced", 0.59, False), ("balanced", 0.6, True), ("generous", "balanced", True)),
    ],
)
def test_a_root_may_only_be_stricter_by_name_in_whichever_model_the_name_is_read(
    tmp_path: Path, own: str, wanted: float | str, *, counts: bool
) -> None:
    """A tuned model has its own thresholds for the names."""
    environ = user_file(tmp_path, f'[retrieval]\ncutoff_threshold = "{own}"\n')
    named = {"strict": 0.7, "balanced": 0.6, "generous": 0.1}
    write_model(Path(state_dir(str(tmp_path), environ)), content(thresholds=named))
    reading = read_config(write(tmp_path, {"retrieval": {"cutoff_threshold": wanted}}), environ)
    assert reading.config.cutoff_threshold == (wanted if counts else own)


def test_what_does_not_count_is_no_mistake_and_a_judge_is_not_mentioned_while_none_is_asked(tmp_path: Path) -> None:
    section = {"judge": {"provider": "oracle", "colour": 1, "modes": []}, "deadline": "soon", "logging": 3}
    assert settings_in(tmp_path, section).mistakes == ()
    assert len(settings_in(tmp_path, section, is_trusted=True).mistakes) == 5
    section = {"judge": {"enabled": False, "model": "claude-haiku-4-5-20251001", "context_turns": 3}}
    assert settings_in(tmp_path, section).notice == ""
    for variable in ({"--judge": "anthropic"}, {"MEMSIFT_JUDGE": "anthropic"}, {"MEMSIFT_JUDGE_ENABLED": "1"}):
        assert "judge.model, judge.context_turns are ignored" in read_config(str(tmp_path), variable).notice
