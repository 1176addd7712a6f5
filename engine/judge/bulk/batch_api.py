"""Anthropic's Message Batches API through the SDK: half the price, up to a day of waiting. Importing loads the SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anthropic import Anthropic, AnthropicError, APIStatusError

from engine.errors import ProviderCancelledError, ProviderError, ProviderHttpError, ProviderTimeoutError
from engine.judge.providers.credentials import known_secrets, presentable, sdk_credentials
from engine.judge.providers.http import HttpResponse
from engine.judge.providers.messages_api import read_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeVar

    from engine.judge.provider import Completion

    T = TypeVar("T")


class BatchApi:
    """Submits batches, looks whether they have ended, and fetches their results.

    Raises MissingKeyError without a key, and ProviderHttpError from every method.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._sdk = Anthropic(**sdk_credentials(environ), max_retries=4)
        self._secrets = known_secrets(environ)

    def submit(self, bodies: Mapping[str, dict[str, Any]]) -> str:
        """The id of a new batch. *bodies* are requests by custom id (up to 64 characters of A-Z, a-z, 0-9, _ and -)."""
        requests: list[Any] = [{"custom_id": name, "params": body} for name, body in bodies.items()]
        return self._ask(lambda: self._sdk.messages.batches.create(requests=requests).id)

    def is_ended(self, batch_id: str) -> bool:
        return self._ask(lambda: self._sdk.messages.batches.retrieve(batch_id).processing_status) == "ended"

    def results(self, batch_id: str) -> dict[str, Completion | ProviderError]:
        """The answer or error of each request of an ended batch, by its custom id."""
        return self._ask(lambda: dict(self._results(batch_id)))

    def close(self) -> None:
        self._sdk.close()

    def _results(self, batch_id: str) -> Iterator[tuple[str, Completion | ProviderError]]:
        for item in self._sdk.messages.batches.results(batch_id):
            yield item.custom_id, self._result(item.result)

    def _result(self, result: Any) -> Completion | ProviderError:
        try:
            if result.type == "succeeded":
                return read_answer(HttpResponse(200, result.message.to_json().encode()), self._secrets)
            if result.type == "errored":
                message = presentable(result.error.error.message, self._secrets)
                return ProviderHttpError(f"The batch could not answer this: {message}")
        except ProviderError as error:
            return error
        if result.type == "expired":
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
        except (AnthropicError, OSError, ValueError) as error:
            raise ProviderHttpError(f"The batch API cannot be asked ({type(error).__name__}).") from None
