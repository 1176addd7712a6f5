"""The Anthropic SDK's client, and its Message Batches API: half the price, up to a day of waiting.

Importing this loads the SDK.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from anthropic import Anthropic, APIConnectionError, APIStatusError, APITimeoutError, DefaultHttpxClient
from httpx2 import SyncByteStream

from engine.errors import ProviderCancelledError, ProviderError, ProviderHttpError, ProviderTimeoutError
from engine.judge.providers.credentials import known_secrets, presentable, sdk_credentials
from engine.judge.providers.http import ANSWER_BYTES, HttpResponse, Unpacker, below, no_connection, seconds, too_large
from engine.judge.providers.messages_api import PATH, decoded, message_of, read_message

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import TypeVar

    from httpx2 import Response

    from engine.judge.provider import Completion

    T = TypeVar("T")

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


class BatchApi:
    """Submits batches, looks whether they have ended, and fetches their results.

    Raises MissingKeyError without a key, and ProviderHttpError from every method.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._sdk = bounded_sdk(sdk_credentials(environ), max_retries=4, follow_redirects=True)
        self._secrets = known_secrets(environ)

    def submit(self, bodies: Mapping[str, dict[str, Any]]) -> str:
        """The id of a new batch. *bodies* are requests by custom id (up to 64 characters of A-Z, a-z, 0-9, _ and -)."""
        requests: list[Any] = [{"custom_id": name, "params": body} for name, body in bodies.items()]
        return self._ask(lambda: self._sdk.messages.batches.create(requests=requests).id)

    def is_ended(self, batch_id: str) -> bool:
        return self._ask(lambda: self._sdk.messages.batches.retrieve(batch_id).processing_status) == "ended"

    def results(self, batch_id: str, names: Collection[str]) -> dict[str, Completion | ProviderError]:
        """The answers and errors of an ended batch, by custom id: those of *names* that it has."""
        return self._ask(lambda: {name: result for name, result in self._results(batch_id) if name in names})

    def close(self) -> None:
        self._sdk.close()

    def _results(self, batch_id: str) -> Iterator[tuple[str, Completion | ProviderError]]:
        with self._sdk.messages.batches.with_streaming_response.results(batch_id) as response:
            for item in map(decoded, _lines(response.iter_bytes())):
                if isinstance(result := item.get("result"), dict):
                    yield str(item.get("custom_id")), self._result(result)

    def _result(self, result: dict[str, Any]) -> Completion | ProviderError:
        kind = result.get("type")
        try:
            if kind == "succeeded":
                return read_message(result.get("message"))
        except ProviderError as error:
            return error
        if kind == "errored":
            reason = presentable(_reason(result) or "no reason given", self._secrets)
            return ProviderHttpError(f"The batch could not answer this: {reason}")
        if kind == "expired":
            return ProviderTimeoutError("The batch expired before this was answered.")
        return ProviderCancelledError("The batch was cancelled before this was answered.")

    def _ask(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except APIStatusError as error:
            message = presentable(error.message, self._secrets)
            raise ProviderHttpError(
                f"The batch API answered {error.status_code}: {message}", error.status_code
            ) from None
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001 - the SDK also raises AttributeError and pydantic's errors
            if isinstance(error.__cause__, ProviderError):
                raise error.__cause__ from None
            raise ProviderHttpError(f"The batch API cannot be asked ({type(error).__name__}).") from None


def _reason(result: dict[str, Any]) -> str:
    """The text of an errored result. The API wraps its error twice."""
    return message_of(result.get("error")) or message_of(result)


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The lines in *chunks*. Raises ProviderHttpError for a line that is larger than an answer may be."""
    line = bytearray()
    for chunk in chunks:
        for number, part in enumerate(chunk.split(b"\n")):
            if number:
                yield bytes(line)
                line.clear()
            line += part
            if len(line) > ANSWER_BYTES:
                raise too_large()
    yield bytes(line)
