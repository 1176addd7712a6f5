"""Providers by name. Each is imported when it is asked for."""

from __future__ import annotations

from engine.config import JudgeConfig
from engine.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.judge.provider import Provider

NO_JUDGE = "none"
SDK, HTTP = "anthropic", "anthropic-http"
"""The defaults where a judge is enabled: in the app and for commands, and in the hook."""

KNOWN = (SDK, HTTP, "openai", "claude-cli", "scripted:PATH")

NOT_IN_HOOK = (
    "The judge claude-cli is not asked from the hook: it would start Claude Code inside Claude Code, for every prompt. "
    "Set MEMSIFT_JUDGE or judge.provider to anthropic-http."
)
NO_MODEL = (
    "The judge openai needs the name of a model that its server has: --judge-model NAME, MEMSIFT_JUDGE_MODEL or "
    "judge.model."
)


def make_provider(name: str, config: JudgeConfig, environ: Mapping[str, str], script: str | None = None) -> Provider:
    """The provider called *name*: one of KNOWN, or "scripted" with *script* as the path.

    A missing key is not looked for here: `Provider.prepare` does. Raises ConfigError for an unknown name, a model that
    is not named, or a script that is missing or does not make sense.
    """
    kind, _, argument = name.partition(":")
    if kind == "scripted":
        return _scripted(argument or script)
    if name not in KNOWN:
        raise ConfigError(f"There is no judge called {name!r}. Known are {', '.join(KNOWN[:-1])} and {KNOWN[-1]}.")
    return {SDK: _anthropic, HTTP: _anthropic_http, "openai": _openai, "claude-cli": _claude_cli}[name](config, environ)


def make_hook_provider(name: str, config: JudgeConfig, environ: Mapping[str, str]) -> Provider:
    """As `make_provider`, for a process that lives as long as a prompt waits.

    The SDK is not loaded, which would take longer than the answer: the same requests go out without it. What must not
    run within a hook is refused when it is asked.
    """
    if name == SDK:
        name = HTTP
    if name == "claude-cli":
        from engine.judge.providers.unavailable import UnavailableProvider

        return UnavailableProvider(name, config.model, NOT_IN_HOOK)
    return make_provider(name, config, environ)


def _anthropic(config: JudgeConfig, environ: Mapping[str, str]) -> Provider:
    from engine.judge.providers.anthropic import AnthropicProvider

    return AnthropicProvider(config.model, environ=environ)


def _anthropic_http(config: JudgeConfig, environ: Mapping[str, str]) -> Provider:
    from engine.judge.providers.anthropic_http import AnthropicHttpProvider

    return AnthropicHttpProvider(config.model, environ=environ)


def _openai(config: JudgeConfig, environ: Mapping[str, str]) -> Provider:
    from engine.judge.providers.openai import OpenAiProvider

    if config.model == JudgeConfig().model:
        raise ConfigError(NO_MODEL)
    return OpenAiProvider(config.model, environ)


def _claude_cli(config: JudgeConfig, environ: Mapping[str, str]) -> Provider:
    from engine.judge.providers.claude_cli import ClaudeCliProvider

    return ClaudeCliProvider(config.model, environ)


def _scripted(path: str | None) -> Provider:
    from engine.judge.providers.scripted import ScriptedProvider

    if not path:
        raise ConfigError("The scripted judge needs a file: scripted:PATH.")
    return ScriptedProvider.from_file(path)
