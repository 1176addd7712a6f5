"""The Anthropic SDK's client, kept from call to call. Importing this loads the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anthropic import APIConnectionError, APIStatusError, APITimeoutError, AsyncAnthropic, DefaultAsyncHttpxClient
from httpx2 import AsyncByteStream

from engine.errors import ProviderError, ProviderHttpError
from engine.judge.providers.event_loop import EventLoop
from engine.judge.providers.http_post import ANSWER_BYTES, HttpResponse, seconds, too_large

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from httpx2 import Response


class SdkClient:
    """Posts to the Messages API from any thread, on connections that it keeps. One deadline holds over a call."""

    def __init__(self, key: str | None, token: str | None, url: str | None) -> None:
        self._loop = EventLoop()
        self._sdk = AsyncAnthropic(
            api_key=key,
            auth_token=token,
            base_url=url,
            max_retries=0,
            default_headers={"accept-encoding": "identity"},
            http_client=DefaultAsyncHttpxClient(follow_redirects=False, event_hooks={"response": [_bound]}),
        )

    def post(self, body: dict[str, Any], timeout_s: float) -> HttpResponse:
        """The answer, whatever its status. Raises TimeoutError, ProviderHttpError or ProviderCancelledError."""
        return self._loop.run(lambda: self._post(body, timeout_s), timeout_s)

    def close(self) -> None:
        self._loop.close(self._sdk.close)

    async def _post(self, body: dict[str, Any], timeout_s: float) -> HttpResponse:
        try:
            answer = await self._sdk.messages.with_raw_response.create(**body, timeout=timeout_s)
            return _read(answer.http_response)
        except APITimeoutError:
            raise TimeoutError from None
        except APIStatusError as error:
            return _read(error.response)
        except APIConnectionError as error:
            raise _connection_error(error) from None


def _read(response: Response) -> HttpResponse:
    return HttpResponse(response.status_code, response.content, seconds(response.headers.get("retry-after")))


def _connection_error(error: APIConnectionError) -> ProviderError:
    cause = error.__cause__
    if isinstance(cause, ProviderError):
        return cause
    host = error.request.url.host or "the API"
    return ProviderHttpError(f"No connection to {host} ({type(cause or error).__name__}). Check the network.")


async def _bound(response: Response) -> None:
    """Let no more be read of *response* than an answer can have."""
    response.stream = _Bounded(response.stream)  # type: ignore[arg-type]


class _Bounded(AsyncByteStream):
    def __init__(self, stream: AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > ANSWER_BYTES:
                raise too_large()
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
