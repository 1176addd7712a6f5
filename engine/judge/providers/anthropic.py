"""Anthropic's Messages API in two ways: through the SDK, and with the standard library alone for the hook."""

from __future__ import annotations

import os
import re
from threading import Lock

from engine.errors import ProviderError, ProviderHttpError
from engine.judge.providers import messages_api
from engine.judge.providers.chat_server import ChatServer
from engine.judge.providers.credentials import BASE_URL, auth_headers, check_key, known_secrets, sdk_credentials

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from engine.judge.provider import Completion, Question
    from engine.judge.providers.http import HttpResponse
    from engine.judge.providers.sdk_client import SdkClient


class _MessagesApi(ChatServer):
    """The variables of *environ* are the SDK's own."""

    OPTIONAL = {
        "output_config": re.compile(r"output_config|output_format|structured.output|json_schema", re.IGNORECASE),
        "temperature": re.compile("temperature", re.IGNORECASE),
    }

    def _secrets(self) -> tuple[str, ...]:
        return known_secrets(self._environ)

    def _url(self) -> str:
        from engine.judge.providers.http import below

        return below(self._environ.get(BASE_URL) or messages_api.DEFAULT_URL, messages_api.PATH)

    def _body(self, question: Question) -> dict[str, Any]:
        return messages_api.request_body(self.model, question)

    def _read(self, response: HttpResponse, address: str) -> Completion:
        return messages_api.read_answer(response, self._secrets(), address)


class AnthropicProvider(_MessagesApi):
    """Through the SDK, for the app and for commands: its connections are kept until `close`.

    Profiles and workload identity are left to the SDK, which reads them from the process's environment.
    """

    name = "anthropic"

    def __init__(self, model: str, environ: Mapping[str, str] = os.environ) -> None:
        super().__init__(model, environ)
        self._client: SdkClient | None = None
        self._lock = Lock()

    def prepare(self) -> None:
        """See `Provider.prepare`. The SDK takes seconds to load, so only the first question loads it."""
        if self._client is None:
            check_key(self._environ)

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. Raises MissingKeyError, ProviderTimeoutError, ProviderHttpError or
        ProviderCancelledError."""
        client = self._loaded()
        from engine.judge.providers.http import shown

        try:
            return self._asked(question, timeout_s, shown(self._url()), lambda body: client.post(body, timeout_s))
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001 - the SDK also raises TypeError, UnicodeError and pydantic's errors
            # Without its cause: a traceback of the SDK's errors can show the request's headers.
            raise ProviderHttpError(f"The API call failed: {type(error).__name__}.") from None

    def close(self) -> None:
        super().close()
        with self._lock:
            client, self._client = self._client, None
        if client:
            client.close()

    def _loaded(self) -> SdkClient:
        with self._lock:
            if self._client is None:
                credentials = sdk_credentials(self._environ)
                try:
                    from engine.judge.providers.sdk_client import SdkClient
                except ImportError as error:
                    reason = f"The judge's SDK cannot be loaded: {error.name}. Reinstall memsift."
                    raise ProviderHttpError(reason) from None
                self._client = SdkClient(credentials)
            return self._client


class AnthropicHttpProvider(_MessagesApi):
    """With the standard library, for the hook: importing the SDK takes longer than an answer.

    Profiles and workload identity are for the `anthropic` provider: they need the SDK.
    """

    name = "anthropic-http"

    def prepare(self) -> None:
        """See `Provider.prepare`."""
        auth_headers(self._environ)
        import engine.judge.providers.http  # noqa: F401 - loaded only with a key, and before the clock starts

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. Raises MissingKeyError, ProviderTimeoutError, ProviderHttpError or
        ProviderCancelledError."""
        headers = auth_headers(self._environ)
        from engine.judge.providers.http import post, shown

        url = self._url()
        headers = {**messages_api.HEADERS, **headers, "anthropic-version": messages_api.API_VERSION}

        def sent(body: dict[str, Any]) -> HttpResponse:
            return post(url, headers, messages_api.encoded(body), timeout_s)

        return self._asked(question, timeout_s, shown(url), sent)
