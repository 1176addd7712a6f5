"""Anthropic's Messages API in two ways: through the SDK, and with the standard library alone for the hook.

API version 2026-10-21. The keys of a request are in the order of the SDK (2.12), so that both send the same bytes.
"""

from __future__ import annotations

import json
import os
import re
from threading import Lock

from engine.errors import ProviderError, ProviderHttpError
from engine.judge.prompts import cut
from engine.judge.provider import Completion, WebSource
from engine.judge.providers.chat_server import (
    HEADERS,
    SEARCH_RESULT,
    ChatServer,
    count,
    decoded,
    is_thought,
    refusal,
    text_of,
    tool_text,
)
from engine.judge.providers.credentials import BASE_URL, auth_headers, check_key, known_secrets, sdk_credentials

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from engine.judge.provider import Question
    from engine.judge.providers.http import HttpResponse
    from engine.judge.providers.sdk_client import SdkClient

API_VERSION = "2026-10-21"
DEFAULT_URL, PATH = "https://api.anthropic.com", "/v1/messages"
WEB_SEARCH = "web_search_20250305"
"""The version of the search tool that every model with a search tool has."""

MOST_PAGES = 10
URL_LIMIT, PAGE_TITLE_LIMIT = 500, 200
"""Characters of a page's address and title. A page with a longer address is left out."""


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

        return below(self._environ.get(BASE_URL) or DEFAULT_URL, PATH)

    def _body(self, question: Question) -> dict[str, Any]:
        form = {"format": {"type": "json_schema", "schema": dict(question.schema)}}
        search = {"type": WEB_SEARCH, "name": "web_search", "max_uses": question.searches}
        return {
            "max_tokens": question.max_tokens,
            "messages": [{"role": "user", "content": question.user}],
            "model": self.model,
            **({"output_config": form} if question.schema else {}),
            "system": question.system,
            **({} if question.temperature is None else {"temperature": question.temperature}),
            **({"tools": [search]} if question.searches else {}),
        }

    def _read(self, response: HttpResponse, address: str) -> Completion:
        if response.status != 200:
            raise refusal(response, self._secrets(), address)
        message = decoded(response.content)
        content = message.get("content")
        if not isinstance(content, list | str):
            raise ProviderHttpError(f"The answer of {address} is not a message. Check ANTHROPIC_BASE_URL.")
        usage, text = message.get("usage"), text_of(content)
        parts = [part for part in content if isinstance(part, dict)]
        cited = [page for part in parts for page in _pages(part.get("citations"))]
        found = [page for part in parts if part.get("type") == SEARCH_RESULT for page in _pages(part.get("content"))]
        return Completion(
            text=text or tool_text(content),
            is_thought=is_thought(text),
            input_tokens=count(usage, "input_tokens"),
            output_tokens=count(usage, "output_tokens"),
            stop_reason=str(message.get("stop_reason")),
            searches=count(usage.get("server_tool_use") if isinstance(usage, dict) else None, "web_search_requests"),
            pages=tuple(dict.fromkeys(cited or found))[:MOST_PAGES],
        )


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
        with self._lock:
            if self._client is None:
                credentials = sdk_credentials(self._environ)
                try:
                    from engine.judge.providers.sdk_client import SdkClient
                except ImportError as error:
                    reason = f"The judge's SDK cannot be loaded: {error.name}. Reinstall memsift."
                    raise ProviderHttpError(reason) from None
                self._client = SdkClient(credentials, PATH)
            client = self._client
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
        headers = {**HEADERS, **headers, "anthropic-version": API_VERSION}

        def sent(body: dict[str, Any]) -> HttpResponse:
            return post(url, headers, json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(), timeout_s)

        return self._asked(question, timeout_s, shown(url), sent)


def _pages(entries: object) -> list[WebSource]:
    pages = []
    for entry in entries if isinstance(entries, list) else []:
        url, title = (entry.get("url"), entry.get("title")) if isinstance(entry, dict) else (None, None)
        if not isinstance(url, str) or not url.startswith(("https://", "http://")) or len(url) > URL_LIMIT:
            continue
        # No character could end a link, or command a terminal.
        if url.isascii() and url.isprintable() and not any(character in " <>" for character in url):
            pages.append(WebSource(url, cut(title, PAGE_TITLE_LIMIT) if isinstance(title, str) else ""))
    return pages
