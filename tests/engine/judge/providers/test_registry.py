"""Providers by name, for commands and for the hook."""

import sys
from pathlib import Path

import pytest

from engine.config import JudgeConfig
from engine.errors import ConfigError, ProviderRefusedError
from engine.judge.providers.anthropic import AnthropicHttpProvider, AnthropicProvider
from engine.judge.providers.registry import KNOWN, cache_only, make_hook_provider, make_provider
from engine.judge.providers.scripted import ScriptedProvider
from tests.engine.judge.cases import STRICT


def test_providers_are_made_by_name(tmp_path: Path) -> None:
    path = tmp_path / "judge.jsonl"
    path.write_text('{"prompt": "p", "keep": []}\n', encoding="utf-8")
    anthropic = make_provider("anthropic", JudgeConfig(model="claude-haiku-5-5"), {})
    assert isinstance(anthropic, AnthropicProvider)
    assert (anthropic.name, anthropic.model) == ("anthropic", "claude-haiku-5-5")
    assert isinstance(make_provider(f"scripted:{path}", JudgeConfig(), {}), ScriptedProvider)


@pytest.mark.parametrize("name", ["gpt", "", "anthropic:x", "Anthropic"])
def test_an_unknown_provider_is_an_error_that_names_the_known(name: str) -> None:
    with pytest.raises(ConfigError, match="anthropic, anthropic-http, openai, claude-cli and scripted:PATH"):
        make_provider(name, JudgeConfig(), {})


@pytest.mark.parametrize("name", ["scripted", "scripted:"])
def test_a_scripted_judge_without_a_file_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError, match="scripted:PATH"):
        make_provider(name, JudgeConfig(), {})


def test_openai_needs_the_name_of_a_model() -> None:
    with pytest.raises(ConfigError, match="--judge-model"):
        make_provider("openai", JudgeConfig(), {})
    assert make_provider("openai", JudgeConfig(model="llama3.2"), {}).model == "llama3.2"


def test_a_missing_key_is_no_error_yet() -> None:
    assert [make_provider(name, JudgeConfig(model="m"), {}).name for name in KNOWN[:-1]] == list(KNOWN[:-1])


@pytest.mark.parametrize("name", ["anthropic", "anthropic-http"])
def test_the_hook_does_without_the_sdk(name: str) -> None:
    assert isinstance(make_hook_provider(name, JudgeConfig(), {}), AnthropicHttpProvider)


def test_without_the_sdk_the_standard_library_makes_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    assert make_provider("anthropic", JudgeConfig(), {}).name == "anthropic-http"


def test_the_hook_does_not_start_claude_code() -> None:
    provider = make_hook_provider("claude-cli", JudgeConfig(), {})
    with pytest.raises(ProviderRefusedError, match="not asked from the hook"):
        provider.complete(STRICT.question("hello"), 3)


def test_a_judge_that_only_answers_from_the_cache_stands_for_its_provider() -> None:
    provider = make_provider("openai", JudgeConfig(model="m"), {"OPENAI_BASE_URL": "http://box/v1"})
    only = cache_only(provider, "openai")
    only.prepare()
    assert (only.name, only.model, only.fingerprint) == ("openai", "m", "http://box/v1")
    with pytest.raises(ProviderRefusedError, match="The cache holds no answer of openai"):
        only.complete(STRICT.question("hello"), 3)
