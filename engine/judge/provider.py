"""What a judge needs of a model: one call, text in, text out."""

from __future__ import annotations

from engine.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol
else:
    Protocol = object

END_TURN, MAX_TOKENS, REFUSAL = "end_turn", "max_tokens", "refusal"
"""Stop reasons that the judge knows, in the words of the Anthropic Messages API."""


@record
class Completion:
    """A model's answer. Token counts are 0 where the provider gives none."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    stop_reason: str = END_TURN


class Provider(Protocol):
    """A model behind one call. Safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """The provider, such as "anthropic"."""

    @property
    def model(self) -> str:
        """The model, as the provider names it."""

    def complete(self, system: str, user: str, schema: Mapping[str, Any], timeout_s: float) -> Completion:
        """The model's answer to *user* under *system*, as JSON of *schema* where the provider can enforce one.

        *timeout_s* is wall time in seconds over the whole call. Raises only subclasses of
        `engine.errors.ProviderError`, whose messages hold no secret.
        """
