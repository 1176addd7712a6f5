"""What a judge needs of a model: one call, text in, text out."""

from __future__ import annotations

from engine.judge.verdict import LIVE
from engine.lean.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol
else:
    Protocol = object

END_TURN, MAX_TOKENS, REFUSAL = "end_turn", "max_tokens", "refusal"
"""Stop reasons that the judge knows, in the words of the Anthropic Messages API."""


class Question(Record):
    """One request: instructions, data, the JSON schema of the answer, and how many tokens it may take."""

    system: str
    user: str
    schema: Mapping[str, Any]
    max_tokens: int


class Completion(Record):
    """A model's answer. Token counts are 0 where the provider gives none; `source` is one of verdict.SOURCES."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    stop_reason: str = END_TURN
    source: str = LIVE


class Provider(Protocol):
    """A model behind one call. Safe to call from several threads at once.

    Every method raises only subclasses of `engine.errors.ProviderError`, whose messages hold no secret.
    """

    @property
    def name(self) -> str:
        """The provider, such as "anthropic"."""

    @property
    def model(self) -> str:
        """The model, as the provider names it."""

    @property
    def fingerprint(self) -> str:
        """What else tells its answers from another's of the same name and model, or empty. No secret."""

    def prepare(self) -> None:
        """Check what a call needs and load it, so that no call's time pays for it. Cheap after the first time.

        Raises MissingKeyError where there is no key, ProviderError where something else is missing.
        """

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """The model's answer to *question*, by its schema where the provider can enforce one.

        *timeout_s* is wall time in seconds over the whole call.
        """

    def close(self) -> None:
        """Give back what is held between calls. A call under way may end with ProviderCancelledError."""
