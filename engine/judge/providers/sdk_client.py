"""The Anthropic SDK's client. Importing this loads the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anthropic import Anthropic, APIConnectionError, APIStatusError, APITimeoutError, DefaultHttpxClient
from httpx2 import SyncByteStream

from engine.errors import ProviderError, ProviderHttpError, ProviderTimeoutError
from engine.judge.providers.http import ANSWER_BYTES, HttpResponse, seconds, too_large

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from httpx2 import Response


class SdkClient:
    """Posts to the Messages API from any thread, on connections that it keeps until `close`."""

    def __init__(self, credentials: Mapping[str, Any]) -> None:
        client = DefaultHttpxClient(follow_redirects=False, event_hooks={"response": [_bound]})
        headers = {"accept-encoding": "identity"}
        self._sdk = Anthropic(**credentials, max_retries=0, default_headers=headers, http_client=client)

    def post(self, body: dict[str, Any], timeout_s: float) -> HttpResponse:
        """The answer, whatever its status; *timeout_s* bounds each step alone. Raises ProviderTimeoutError or
        ProviderHttpError."""
        try:
            answer = self._sdk.messages.with_raw_response.create(**body, timeout=timeout_s)
            return _read(answer.http_response)
        except APITimeoutError:
            raise ProviderTimeoutError(f"No answer within {timeout_s:g} s.") from None
        except APIStatusError as error:
            return _read(error.response)
        except APIConnectionError as error:
            raise _connection_error(error) from None

    def close(self) -> None:
        self._sdk.close()


def _read(response: Response) -> HttpResponse:
    return HttpResponse(response.status_code, response.content, seconds(response.headers.get("retry-after")))


def _connection_error(error: APIConnectionError) -> ProviderError:
    cause = error.__cause__
    if isinstance(cause, ProviderError):
        return cause
    host = error.request.url.host or "the API"
    return ProviderHttpError(f"No connection to {host} ({type(cause or error).__name__}). Check the network.")


def _bound(response: Response) -> None:
    """Let no more of *response* be read than the largest answer."""
    response.stream = _Bounded(response.stream)  # type: ignore[arg-type]


class _Bounded(SyncByteStream):
    def __init__(self, stream: SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            if size > ANSWER_BYTES:
                raise too_large()
            yield chunk

    def close(self) -> None:
        self._stream.close()
