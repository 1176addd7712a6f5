"""A provider that may not be asked here, and says why."""

from __future__ import annotations

from engine.errors import ProviderRefusedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.judge.provider import Completion, Question


class UnavailableProvider:
    """Stands in for the provider *name*; every call is refused with *reason*, a sentence for people."""

    fingerprint = ""

    def __init__(self, name: str, model: str, reason: str) -> None:
        self.name = name
        self.model = model
        self._reason = reason

    def prepare(self) -> None:
        raise ProviderRefusedError(self._reason)

    def complete(self, question: Question, timeout_s: float) -> Completion:  # noqa: ARG002
        raise ProviderRefusedError(self._reason)

    def close(self) -> None:
        """Nothing is held between calls."""
