"""The Anthropic Messages API through the SDK: for the app and for replay. The hook does not use it (importing: 1.6 s).

Request shape and errors: anthropic 2.12, API version 2026-10-21, which refuses `temperature`.
"""

from __future__ import annotations

import os

from engine.errors import ProviderHttpError, ProviderTimeoutError
from engine.judge.provider import Completion
from engine.judge.providers.credentials import API_KEY, AUTH_TOKEN, BASE_URL, check_key
from engine.judge.providers.redaction import presentable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from anthropic import AsyncAnthropic

    from engine.errors import ProviderError

MAX_TOKENS_OUT = 256
"""A keep-list of fifteen candidates takes about thirty tokens."""


class AnthropicProvider:
    """One call per completion, without retries, under a wall-clock deadline.

    *api_key* and *base_url* come before *environ*, whose variables are the SDK's own; profiles and workload identity
    are left to the SDK, which reads them from the process's environment.
    """

    name = "anthropic"

    def __init__(
        self,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.model = model
        self._api_key = api_key
        self._base_url = base_url
        self._environ = environ

    def __repr__(self) -> str:
        return f"AnthropicProvider(model={self.model!r})"

    def complete(self, system: str, user: str, schema: Mapping[str, Any], timeout_s: float) -> Completion:
        """See `Provider.complete`. The deadline begins when the SDK is loaded, which takes seconds the first time.

        Raises MissingKeyError, ProviderTimeoutError or ProviderHttpError. Call it from a thread without an event loop.
        """
        if not self._api_key:
            check_key(self._environ)
        try:
            import anthropic  # noqa: F401 - loaded before the clock starts

            from engine.judge.deadline import run_within

            return run_within(timeout_s, lambda: self._ask(system, user, schema, timeout_s))
        except TimeoutError:
            raise ProviderTimeoutError(f"No answer within {timeout_s:g} s.") from None
        except ImportError as error:
            raise ProviderHttpError(f"The judge's SDK cannot be loaded: {error.name}. Reinstall memsift.") from None
        except Exception as error:  # noqa: BLE001 - the SDK also raises TypeError, UnicodeError and pydantic's errors
            # Without its cause: a traceback of the SDK's errors can show the request's headers.
            raise _translated(error, timeout_s, self._secrets()) from None

    async def _ask(self, system: str, user: str, schema: Mapping[str, Any], timeout_s: float) -> Completion:
        async with self._client(timeout_s) as client:
            message = await client.messages.create(
                model=self.model,
                max_tokens=MAX_TOKENS_OUT,
                system=system,
                messages=[{"role": "user", "content": user}],
                output_config={"format": {"type": "json_schema", "schema": dict(schema)}},
            )
        return _completion(message)

    def _client(self, timeout_s: float) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic

        key = self._api_key or self._environ.get(API_KEY) or None
        token = None if key else self._environ.get(AUTH_TOKEN) or None
        url = self._base_url or self._environ.get(BASE_URL) or None
        return AsyncAnthropic(api_key=key, auth_token=token, base_url=url, timeout=timeout_s, max_retries=0)

    def _secrets(self) -> tuple[str, ...]:
        return (self._api_key or "", self._environ.get(API_KEY, ""), self._environ.get(AUTH_TOKEN, ""))


def _completion(message: object) -> Completion:
    """What *message* says. The SDK does not check an answer's shape: a field may be missing or of any type."""
    content = getattr(message, "content", None)
    if not isinstance(content, list):
        raise ProviderHttpError("The API's answer is not a message. Check ANTHROPIC_BASE_URL.")
    usage = getattr(message, "usage", None)
    return Completion(
        text="".join(filter(None, (_text(block) for block in content))),
        input_tokens=_count(usage, "input_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        stop_reason=str(getattr(message, "stop_reason", "")),
    )


def _text(block: object) -> str:
    text = getattr(block, "text", None)
    return text if isinstance(text, str) else ""


def _count(usage: object, field: str) -> int:
    count = getattr(usage, field, 0)
    return count if isinstance(count, int) else 0


def _translated(error: Exception, timeout_s: float, secrets: tuple[str, ...]) -> ProviderError:
    """The error of ours that stands for *error*, one of the SDK's or of ours."""
    from anthropic import APIConnectionError, APIStatusError, APITimeoutError

    match error:
        case ProviderHttpError():
            return error
        case APITimeoutError():
            return ProviderTimeoutError(f"No answer within {timeout_s:g} s.")
        case APIStatusError():
            return ProviderHttpError(f"The API answered {error.status_code}{_api_message(error, secrets)}")
        case APIConnectionError():
            cause = type(error.__cause__).__name__ if error.__cause__ else type(error).__name__
            return ProviderHttpError(
                f"No connection to {error.request.url.host or 'the API'} ({cause}). Check the network."
            )
        case _:
            return ProviderHttpError(f"The API call failed: {type(error).__name__}.")


def _api_message(error: object, secrets: tuple[str, ...]) -> str:
    message = getattr(error, "api_message", None)
    return f": {presentable(message, secrets)}" if isinstance(message, str) and message else "."
