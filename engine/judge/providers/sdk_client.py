"""The Anthropic SDK's client. Importing this loads the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from anthropic import Anthropic, APIConnectionError, APIStatusError, APITimeoutError, DefaultHttpxClient
from httpx2 import SyncByteStream

from engine.errors import ProviderError, ProviderTimeoutError
from engine.judge.providers.http import ANSWER_BYTES, HttpResponse, Unpacker, below, no_connection, seconds, too_large
from engine.judge.providers.messages_api import PATH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from httpx2 import Response


RESULTS, RESULTS_BYTES = "/results", 200_000_000
"""The end of the URL for the results of a batch, and their largest size: 10,000 answers of 20 kB."""


def bounded_sdk(credentials: Mapping[str, Any], *, max_retries: int, follow_redirects: bool) -> Anthropic:
    """The SDK, which gives an error for an answer that is larger, packed or unpacked, than an answer may be."""
    client = DefaultHttpxClient(follow_redirects=follow_redirects, event_hooks={"response": [_bound]})
    headers, more = {"accept-encoding": "identity"}, dict(credentials)
    if more.get("base_url"):
        address, _, query = below(more["base_url"], PATH).partition("?")
        more |= {"base_url": address.removesuffix(PATH), "default_query": dict(parse_qsl(query))}
    return Anthropic(**more, max_retries=max_retries, default_headers=headers, http_client=client)


class SdkClient:
    """Posts to the Messages API from any thread, on connections that it keeps until `close`."""

    def __init__(self, credentials: Mapping[str, Any]) -> None:
        self._sdk = bounded_sdk(credentials, max_retries=0, follow_redirects=False)

    def post(self, body: dict[str, Any], timeout_s: float) -> HttpResponse:
        """The answer, whatever its status; *timeout_s* bounds each step alone. Raises ProviderTimeoutError or
        ProviderHttpError."""
        try:
            known = {name: value for name, value in body.items() if name != "temperature"}  # not in its signature
            extra = {name: body[name] for name in body.keys() - known.keys()}
            answer = self._sdk.messages.with_raw_response.create(**known, extra_body=extra, timeout=timeout_s)
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
    return no_connection(str(error.request.url), cause or error)


def _bound(response: Response) -> None:
    """Unpack the answer here, because the SDK's client has no limit: it gets a stream without compression."""
    most = RESULTS_BYTES if response.url.path.endswith(RESULTS) else ANSWER_BYTES
    unpacker = Unpacker(response.headers.pop("content-encoding", None), most)
    response.stream = _Bounded(response.stream, unpacker, most)  # type: ignore[arg-type]


class _Bounded(SyncByteStream):
    def __init__(self, stream: SyncByteStream, unpacker: Unpacker, most: int) -> None:
        self._stream = stream
        self._unpacker = unpacker
        self._most = most

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            if size > self._most:
                raise too_large(self._most)
            yield from self._unpacker.add(chunk)
        self._unpacker.end()

    def close(self) -> None:
        self._stream.close()
