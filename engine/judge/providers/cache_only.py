"""A provider that is not asked: its judge answers from the cache, or not at all."""

from __future__ import annotations

from engine.errors import ProviderRefusedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.judge.provider import Completion, Provider, Question


class CacheOnlyProvider:
    """Stands in for *provider*, called *known_as* on the command line, under the same name and model; needs no key."""

    def __init__(self, provider: Provider, known_as: str) -> None:
        self.name = provider.name
        self.model = provider.model
        self.fingerprint = provider.fingerprint
        self._known_as = known_as

    def prepare(self) -> None:
        """There is nothing to load."""

    def complete(self, question: Question, timeout_s: float) -> Completion:  # noqa: ARG002
        raise ProviderRefusedError(
            f"The cache holds no answer of {self.name} ({self.model}) to this, and --judge none asks nobody. Ask once "
            f"with --judge {self._known_as}, or name the judge that was asked in MEMSIFT_JUDGE and MEMSIFT_JUDGE_MODEL."
        )

    def close(self) -> None:
        """Nothing is held between calls."""
