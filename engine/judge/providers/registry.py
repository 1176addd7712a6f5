"""The judges by name. A new provider is a module beside this one, and a row of `_PROVIDERS`."""

from __future__ import annotations

from engine.config import JudgeConfig
from engine.errors import ConfigError, ProviderRefusedError
from engine.judge.provider import Provider

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.judge.provider import Completion, Question

NO_JUDGE = "none"
SDK, HTTP = "anthropic", "anthropic-http"
"""The defaults where a judge is enabled: in the app and for commands, and in the hook."""

STRUCTURED = (SDK, HTTP, "openai")
"""The providers that can enforce a schema."""

SEARCHING = (SDK, HTTP)
"""The providers with a web search tool of their own."""

SCRIPTED = "scripted"

NOT_IN_HOOK = "The judge {} is not asked from the hook: {}. Set MEMSIFT_JUDGE or judge.provider to anthropic-http."
UNASKED = {
    "claude-cli": "it would start Claude Code inside Claude Code, for every prompt",
    SCRIPTED: "it is for tests and demos",
}
"""The providers that are not asked from the hook, and why."""

NO_MODEL = (
    "The judge openai needs the name of a model that its server has: --judge-model NAME, MEMSIFT_JUDGE_MODEL or "
    "judge.model."
)


def is_known(name: str) -> bool:
    """Whether *name* is NO_JUDGE or the name of a provider. A script's file is not looked for."""
    kind, _, path = name.partition(":")
    return name in (NO_JUDGE, *_PROVIDERS) or (kind == SCRIPTED and path != "")


def make_provider(name: str, config: JudgeConfig, environ: Mapping[str, str]) -> Provider:
    """The provider called *name*: one of KNOWN, where PATH is the path of a script.

    A missing key is not noticed here but by `Provider.prepare`. Raises ConfigError for an unknown name, a missing
    model name, or a script that cannot be read.
    """
    kind, _, path = name.partition(":")
    if kind == SCRIPTED:
        from engine.judge.providers.scripted import ScriptedProvider

        if not path:
            raise ConfigError("The scripted judge needs a file: scripted:PATH.")
        return ScriptedProvider.from_file(path)
    if name not in _PROVIDERS:
        raise ConfigError(f"There is no judge called {name!r}. Known are {', '.join(KNOWN[:-1])} and {KNOWN[-1]}.")
    if name == "openai" and config.model == JudgeConfig().model:
        raise ConfigError(NO_MODEL)
    module, provider = _PROVIDERS[name]
    made: Provider = getattr(__import__(f"engine.judge.providers.{module}", fromlist=[provider]), provider)(
        config.model, environ
    )
    return made


def make_hook_provider(name: str, config: JudgeConfig, environ: Mapping[str, str]) -> Provider:
    """As `make_provider`, for the hook: the same requests without the SDK, which takes longer to load than an answer.

    The providers of UNASKED refuse every question.
    """
    kind = SCRIPTED if name.partition(":")[0] == SCRIPTED else name
    if kind in UNASKED:
        return RefusingProvider(kind, config.model, NOT_IN_HOOK.format(kind, UNASKED[kind]))
    return make_provider(HTTP if name == SDK else name, config, environ)


class RefusingProvider(Provider):
    """Stands in for a provider that must not be asked. *reason*: a sentence for people."""

    def __init__(self, name: str, model: str, reason: str) -> None:
        self.name = name
        self.model = model
        self._reason = reason

    def complete(self, question: Question, timeout_s: float) -> Completion:  # noqa: ARG002
        raise ProviderRefusedError(self._reason)


_PROVIDERS = {
    SDK: ("anthropic", "AnthropicProvider"),
    HTTP: ("anthropic", "AnthropicHttpProvider"),
    "openai": ("openai", "OpenAiProvider"),
    "claude-cli": ("claude_cli", "ClaudeCliProvider"),
}
"""Name -> the module beside this one, and the class in it, which is made of a model and an environment."""

KNOWN = (*_PROVIDERS, f"{SCRIPTED}:PATH")
