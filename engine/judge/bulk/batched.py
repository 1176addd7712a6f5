"""A provider whose answers are collected first and given later, when a batch has them."""

from __future__ import annotations

from threading import Lock

from engine.errors import ProviderCancelledError, ProviderError
from engine.judge.providers.messages_api import encoded, request_body
from engine.judge.verdict import CACHE
from engine.lean.record import replace
from engine.lean.sha256 import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from engine.judge.provider import Completion, Provider, Question


class BatchedProvider:
    """Gives *provider*'s answers from batches. What no batch has answered is wanted, and the call is cancelled.

    A request is named after its contents (64 hex digits), and so is the same request in the next process. Its tokens
    are counted when the answer is first given; after that it is as from a cache.
    """

    def __init__(self, provider: Provider) -> None:
        self.name = provider.name
        self.model = provider.model
        self.fingerprint = provider.fingerprint
        self._lock = Lock()
        self._answers: dict[str, Completion | ProviderError] = {}
        self._wanted: dict[str, dict[str, Any]] = {}

    def prepare(self) -> None:
        """There is nothing to load."""

    def close(self) -> None:
        """Nothing is held but answers."""

    def complete(self, question: Question, timeout_s: float) -> Completion:  # noqa: ARG002
        """See `Provider.complete`. Raises ProviderCancelledError for what is wanted, or the error of the batch."""
        body = request_body(self.model, question)
        name = digest(encoded(body)).hex()
        with self._lock:
            answer = self._answers.get(name)
            if answer is None:
                self._wanted[name] = body
                raise ProviderCancelledError("This waits for its batch.")
            if not isinstance(answer, ProviderError):
                self._answers[name] = replace(answer, input_tokens=0, output_tokens=0, source=CACHE)
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    def take_wanted(self) -> dict[str, dict[str, Any]]:
        """The request bodies that were asked for and are not there, by name; from now on none is."""
        with self._lock:
            wanted, self._wanted = self._wanted, {}
            return wanted

    def give(self, answers: Mapping[str, Completion | ProviderError]) -> None:
        with self._lock:
            self._answers.update(answers)
