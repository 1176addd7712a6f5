"""Providers by name. Each is imported when it is asked for."""

from __future__ import annotations

from engine.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.config import JudgeConfig
    from engine.judge.provider import Provider

KNOWN = ("anthropic", "scripted:PATH")


def make_provider(name: str, config: JudgeConfig, environ: Mapping[str, str], script: str | None = None) -> Provider:
    """The provider called *name*: "anthropic", "scripted:PATH", or "scripted" with *script* as the path.

    A missing key is not looked for here: `check_key` does, and a call without one has status `no_key`. Raises
    ConfigError for an unknown name, or a script that is missing or does not make sense.
    """
    kind, _, argument = name.partition(":")
    if kind == "scripted":
        return _scripted(argument or script)
    if name == "anthropic":
        return _anthropic(config, environ)
    raise ConfigError(f"There is no judge called {name!r}. Known are {' and '.join(KNOWN)}.")


def _anthropic(config: JudgeConfig, environ: Mapping[str, str]) -> Provider:
    from engine.judge.providers.anthropic import AnthropicProvider

    return AnthropicProvider(config.model, environ=environ)


def _scripted(path: str | None) -> Provider:
    from engine.judge.providers.scripted import ScriptedProvider

    if not path:
        raise ConfigError("The scripted judge needs a file: scripted:PATH.")
    return ScriptedProvider.from_file(path)
