"""Anthropic's Message Batches API through the SDK: half the price, up to a day of waiting. Importing loads the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anthropic import APIStatusError

from engine.errors import ProviderCancelledError, ProviderError, ProviderHttpError, ProviderTimeoutError
from engine.judge.providers.credentials import known_secrets, presentable, sdk_credentials
from engine.judge.providers.http import ANSWER_BYTES, too_large
from engine.judge.providers.messages_api import decoded, message_of, read_message
from engine.judge.providers.sdk_client import bounded_sdk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import TypeVar

    from engine.judge.provider import Completion

    T = TypeVar("T")


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
