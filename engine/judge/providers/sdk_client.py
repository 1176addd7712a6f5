"""The Anthropic SDK's client. Importing this loads the SDK."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from anthropic import Anthropic, APIConnectionError, APIStatusError, APITimeoutError, DefaultHttpxClient
from httpx2 import ByteStream, SyncByteStream

from engine.errors import ProviderError, ProviderTimeoutError
from engine.judge.providers.http import ANSWER_BYTES, HttpResponse, below, no_connection, seconds, too_large, unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from httpx2 import Response


class SdkClient:
    """Posts to the Messages API from any thread, on connections that it keeps until `close`.

    It gives an error for an answer that is larger, packed or unpacked, than an answer may be. *path*: that of the API.
    """

    def __init__(self, credentials: Mapping[str, Any], path: str) -> None:
        client = DefaultHttpxClient(follow_redirects=False, event_hooks={"response": [_bound]})
        headers, more = {"accept-encoding": "identity"}, dict(credentials)
        if more.get("base_url"):
            address, _, query = below(more["base_url"], path).partition("?")
            more |= {"base_url": address.removesuffix(path), "default_query": dict(parse_qsl(query))}
        self._sdk = Anthropic(**more, max_retries=0, default_headers=headers, http_client=client)

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
            cause = error.__cause__
            if isinstance(cause, ProviderError):
                raise cause from None
            raise no_connection(str(error.request.url), cause or error) from None

    def close(self) -> None:
        self._sdk.close()


def _read(response: Response) -> HttpResponse:
    return HttpResponse(response.status_code, response.content, seconds(response.headers.get("retry-after")))


def _bound(response: Response) -> None:
    """Read and unpack the answer here, because the SDK's client has no limit: it gets a stream without compression."""
    content, stream = b"", response.stream
    assert isinstance(stream, SyncByteStream)
    with closing(stream):
        for chunk in stream:
            content += chunk
            if len(content) > ANSWER_BYTES:
                raise too_large()
    response.stream = ByteStream(unpacked(content, response.headers.pop("content-encoding", None)))
