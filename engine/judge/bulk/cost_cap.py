"""A provider that stops before it has cost more than it may."""

from __future__ import annotations

from threading import Condition

from engine.errors import ConfigError, ProviderCancelledError, ProviderError, ProviderHttpError
from engine.judge.prices import price_of
from engine.lean.json_text import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.judge.provider import Completion, Provider, Question

FRAME_TOKENS = 500
"""What an API puts around a request: roles, and the instruction to answer by a schema."""


class CostCapProvider:
    """Asks *provider* as long as the next call cannot bring the sum over *most_usd*. Safe for threads.

    Before a call the most that it can cost is set aside: a token for each byte of the request, and as many tokens out
    as it allows. Where that does not fit, the call waits for those under way, which cost less than was set aside for
    them; if there are none, it ends with ProviderCancelledError, as does every later one, and `is_spent` is True. A
    call that a server refused costs nothing; one that came to nothing in another way counts in full.

    Raises ConfigError where the price of the model is not known.
    """

    def __init__(self, provider: Provider, most_usd: float) -> None:
        self.name = provider.name
        self.model = provider.model
        self.fingerprint = provider.fingerprint
        self.is_spent = False
        self.spent_usd = 0.0
        self._provider = provider
        self._most_usd = most_usd
        self._reserved: list[float] = []
        self._changed = Condition()
        price = price_of(provider.name, provider.model)
        if price is None:
            raise ConfigError(
                f"--max-cost needs to know what {provider.name} ({provider.model}) costs, and its price is not known "
                "here. Leave the option out, or ask anthropic with a model of Claude's that has a known price."
            )
        self._price = price

    def prepare(self) -> None:
        self._provider.prepare()

    def close(self) -> None:
        """Close the provider, and let nobody wait or ask any more."""
        with self._changed:
            self.is_spent = True
            self._changed.notify_all()
        self._provider.close()

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`."""
        most = self._cost(_most_tokens(question), question.max_tokens)
        self._reserve(most)
        cost = most
        try:
            completion = self._provider.complete(question, timeout_s)
            if completion.input_tokens:
                cost = self._cost(completion.input_tokens, completion.output_tokens)
            return completion
        except ProviderError as error:
            if isinstance(error, ProviderHttpError) and error.http_status:
                cost = 0.0
            raise
        finally:
            self._settle(most, cost)

    def _cost(self, input_tokens: int, output_tokens: int) -> float:
        price_in, price_out = self._price
        return (input_tokens * price_in + output_tokens * price_out) / 1_000_000

    def _reserve(self, most: float) -> None:
        with self._changed:
            while not self.is_spent and self.spent_usd + sum(self._reserved) + most > self._most_usd:
                if not self._reserved:
                    self.is_spent = True
                    self._changed.notify_all()
                else:
                    self._changed.wait()
            if self.is_spent:
                raise ProviderCancelledError(f"The judge has cost ${self.spent_usd:.4f}, and may not cost more.")
            self._reserved.append(most)

    def _settle(self, most: float, cost: float) -> None:
        with self._changed:
            self._reserved.remove(most)
            self.spent_usd += cost
            self._changed.notify_all()


def _most_tokens(question: Question) -> int:
    """More tokens than the request has: none is shorter than a byte."""
    texts = (question.system, question.user, dumps(dict(question.schema)))
    return FRAME_TOKENS + sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
