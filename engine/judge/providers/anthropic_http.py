"""The Messages API with the standard library: for the hook. Loading it costs a fiftieth of what the SDK costs."""

from __future__ import annotations

import os

from engine.judge.providers.credentials import BASE_URL, auth_headers, known_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.judge.provider import Completion, Question


class AnthropicHttpProvider:
    """One request per completion on a connection of its own, without retries, under a wall-clock deadline.

    *api_key* and *base_url* come before *environ*, whose variables are the SDK's own. Profiles and workload identity
    are for the `anthropic` provider: they need the SDK.
    """

    name = "anthropic-http"
    fingerprint = ""

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
        return f"AnthropicHttpProvider(model={self.model!r})"

    def prepare(self) -> None:
        """See `Provider.prepare`."""
        self._headers()
        import engine.judge.providers.http_post
        import engine.judge.providers.messages_api  # noqa: F401 - loaded before the clock starts

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. Raises MissingKeyError, ProviderTimeoutError or ProviderHttpError."""
        from engine.judge.providers import messages_api
        from engine.judge.providers.http_post import post

        body = messages_api.encoded(messages_api.request_body(self.model, question))
        headers = {**self._headers(), "anthropic-version": messages_api.API_VERSION}
        response = post(
            self._url(messages_api.DEFAULT_URL) + messages_api.PATH, headers, body, timeout_s, self._environ
        )
        return messages_api.read_answer(response, known_secrets(self._environ, self._api_key))

    def close(self) -> None:
        """Nothing is held between calls."""

    def _headers(self) -> dict[str, str]:
        return {
            "accept": "application/json",
            "content-type": "application/json",
            **auth_headers(self._environ, self._api_key),
        }

    def _url(self, default: str) -> str:
        return (self._base_url or self._environ.get(BASE_URL) or default).rstrip("/")
