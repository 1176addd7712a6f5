"""The Messages API through the SDK: for the app and for replay. The hook does not use it (importing: 1.6 s).

What is sent and how an answer is read are those of `messages_api`; the SDK adds its credentials and its connections.
"""

from __future__ import annotations

import os
from threading import Lock

from engine.errors import ProviderError, ProviderHttpError, ProviderTimeoutError
from engine.judge.providers.credentials import API_KEY, AUTH_TOKEN, BASE_URL, check_key, known_secrets
from engine.judge.providers.messages_api import read_answer, request_body

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.judge.provider import Completion, Question
    from engine.judge.providers.sdk_client import SdkClient


class AnthropicProvider:
    """One request per completion, without retries, under a wall-clock deadline; connections are kept until `close`.

    *api_key* and *base_url* come before *environ*, whose variables are the SDK's own; profiles and workload identity
    are left to the SDK, which reads them from the process's environment.
    """

    name = "anthropic"
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
        self._lock = Lock()
        self._client: SdkClient | None = None

    def __repr__(self) -> str:
        return f"AnthropicProvider(model={self.model!r})"

    def prepare(self) -> None:
        """See `Provider.prepare`. The first time takes seconds: the SDK is large."""
        self._prepared()

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. Raises MissingKeyError, ProviderTimeoutError, ProviderHttpError or
        ProviderCancelledError."""
        client = self._prepared()
        secrets = known_secrets(self._environ, self._api_key)
        try:
            response = client.post(request_body(self.model, question), timeout_s)
            return read_answer(response, secrets)
        except TimeoutError:
            raise ProviderTimeoutError(f"No answer within {timeout_s:g} s.") from None
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001 - the SDK also raises TypeError, UnicodeError and pydantic's errors
            # Without its cause: a traceback of the SDK's errors can show the request's headers.
            raise ProviderHttpError(f"The API call failed: {type(error).__name__}.") from None

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client:
            client.close()

    def _prepared(self) -> SdkClient:
        with self._lock:
            if self._client is None:
                self._client = self._made()
            return self._client

    def _made(self) -> SdkClient:
        if not self._api_key:
            check_key(self._environ)
        try:
            from engine.judge.providers.sdk_client import SdkClient
        except ImportError as error:
            raise ProviderHttpError(f"The judge's SDK cannot be loaded: {error.name}. Reinstall memsift.") from None
        key = self._api_key or self._environ.get(API_KEY) or None
        token = None if key else self._environ.get(AUTH_TOKEN) or None
        url = self._base_url or self._environ.get(BASE_URL) or None
        return SdkClient(key, token, url)
