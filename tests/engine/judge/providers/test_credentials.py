"""Credentials: where they are found, the message when there are none, and that no key is shown."""

from pathlib import Path

import pytest

from engine.config import JudgeConfig
from engine.errors import ConfigError, MissingKeyError
from engine.judge.providers.anthropic import AnthropicProvider
from engine.judge.providers.credentials import check_key, presentable, without
from engine.judge.providers.registry import KNOWN, make_provider
from engine.judge.providers.scripted import ScriptedProvider

FEDERATION = {
    "ANTHROPIC_FEDERATION_RULE_ID": "rule",
    "ANTHROPIC_ORGANIZATION_ID": "org",
    "ANTHROPIC_IDENTITY_TOKEN_FILE": "/run/token",
}


def test_credentials_are_found_and_a_missing_key_names_the_variable_the_place_and_the_bill(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    for environ in [
        *({"ANTHROPIC_API_KEY": "k"}, {"ANTHROPIC_AUTH_TOKEN": "t"}, {"ANTHROPIC_PROFILE": "work"}, FEDERATION),
        {"ANTHROPIC_CUSTOM_HEADERS": "x-team: a\nAuthorization: Bearer t"},
        {"ANTHROPIC_CUSTOM_HEADERS": "X-Api-Key: k"},
    ]:
        check_key({**home, **environ})
    for environ in [
        *({}, {"ANTHROPIC_API_KEY": ""}, {"ANTHROPIC_CUSTOM_HEADERS": "x-team: authorization"}),
        {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"},
        {name: FEDERATION[name] for name in list(FEDERATION)[:2]},
        {name: FEDERATION[name] for name in list(FEDERATION)[1:]},
    ]:
        with pytest.raises(MissingKeyError) as raised:
            check_key({**home, **environ})
        text = str(raised.value)
        parts = ("ANTHROPIC_API_KEY", "https://platform.claude.com", "billed apart from a Claude subscription")
        assert ([part for part in parts if part not in text], "\n" in text) == ([], False)


@pytest.mark.parametrize("name", ["active_config", "configs/default.json"])
def test_a_profile_on_disk_is_found(tmp_path: Path, name: str) -> None:
    at_home, elsewhere = tmp_path / ".config" / "anthropic" / name, tmp_path / "elsewhere" / name
    for path in (at_home, elsewhere):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    check_key({"HOME": str(tmp_path)})
    check_key({"HOME": "/nowhere", "ANTHROPIC_CONFIG_DIR": str(tmp_path / "elsewhere")})
    with pytest.raises(MissingKeyError):
        check_key({"HOME": str(tmp_path), "ANTHROPIC_CONFIG_DIR": str(tmp_path / "empty")})


def test_a_message_is_made_fit_to_show() -> None:
    for message, shown in [
        ("plain words", "plain words"),
        ("two\nlines\x1b[31m", "two lines [31m"),
        ("key hunter2 is wrong", "key [hidden] is wrong"),
        ("got sk-ant-api03-AbC_dEf-123", "got [hidden]"),
        ("header Bearer abc.def", "header Bearer [hidden]"),
        ("a task-sk-list of the desk", "a task-sk-list of the desk"),
        ("x" * 500, "x" * 200),
    ]:
        assert presentable(message, ("hunter2", "")) == shown
    hidden = without("abcdef abc [d]", ("abc", "", "abcdef", "[d]", "hidden"))
    assert hidden == "[hidden] [hidden] [hidden]", "no end is left of a secret that begins with another"


# Providers by name


def test_providers_are_made_by_name_and_a_missing_key_is_no_error_yet(tmp_path: Path) -> None:
    path = tmp_path / "judge.jsonl"
    path.write_text('{"prompt": "p", "keep": []}\n', encoding="utf-8")
    made = [make_provider(name, JudgeConfig(model="m"), {}) for name in KNOWN[:-1]]
    assert [(one.name, one.model) for one in made] == [(name, "m") for name in KNOWN[:-1]]
    assert isinstance(made[0], AnthropicProvider)
    assert isinstance(make_provider(f"scripted:{path}", JudgeConfig(), {}), ScriptedProvider)
    known = "anthropic, anthropic-http, openai, claude-cli and scripted:PATH"
    for name, said in [
        *(("gpt", known), ("", known), ("anthropic:x", known), ("Anthropic", known)),
        *(("scripted", "scripted:PATH"), ("scripted:", "scripted:PATH"), ("openai", "--judge-model")),
    ]:
        with pytest.raises(ConfigError, match=said):
            make_provider(name, JudgeConfig(), {})
