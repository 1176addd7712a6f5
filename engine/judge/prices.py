"""Prices of tokens, from https://platform.claude.com/docs/en/about-claude/pricing (base tokens, as read in 2026).

A model that is not in the table has no known price: its calls cost None, which is not a guess. And a limit on the cost
of a judge, which is never crossed.
"""

from __future__ import annotations

import json
from threading import Condition

from engine.errors import ConfigError, ProviderCancelledError, ProviderError, ProviderHttpError
from engine.judge.provider import AroundProvider
from engine.judge.verdict import CACHE
from engine.lean.sections import read_sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.judge.provider import Completion, Provider, Question
    from engine.judge.verdict import CallOutcome

_LINES = (line.split() for _, lines in read_sections(__file__, "prices.txt") for line in lines)
PRICES = {name: (float(given), float(got)) for name, given, got in _LINES}
"""US dollars for a million input and a million output tokens, by the beginning of a model's name."""

BATCH_SHARE = 0.5
"""The price of a token in a batch, as a share of the full price."""

SEARCH_USD = 0.01
"""US dollars for a web search, beside the tokens of its pages."""

BILLED_BY_TOKEN = ("anthropic", "anthropic-http")
"""Providers to which the table applies."""


def outcome_usd(provider: str, model: str, outcome: CallOutcome, share: float = 1.0) -> float | None:
    """US dollars for *outcome*, if *share* of the full price of a token is paid; None where that is not known.

    0 for an answer from the cache, which was paid for when it was asked.
    """
    if outcome.source == CACHE:
        return 0.0
    full = cost_usd(provider, model, outcome.input_tokens, outcome.output_tokens)
    return None if full is None else full * share + outcome.searches * SEARCH_USD


def cost_usd(provider: str, model: str, input_tokens: int, output_tokens: int) -> float | None:
    """US dollars for the tokens of one judgement; None where the price or the number of tokens is not known."""
    price = _price(provider, model)
    if price is None or not input_tokens:
        return None
    price_in, price_out = price
    return (input_tokens * price_in + output_tokens * price_out) / 1_000_000


def _price(provider: str, model: str) -> tuple[float, float] | None:
    family = next((family for family in PRICES if model.startswith(family)), None)
    return PRICES[family] if family and provider in BILLED_BY_TOKEN else None


OVERHEAD_TOKENS = 500
"""Added by the API to each request: roles, and the instruction to answer by a schema."""

CONTEXT_TOKENS = 200_000
"""The largest input of a model. Each web search sends everything again, with pages of an unknown size."""


class CostCapProvider(AroundProvider):
    """Asks *provider* only while the next call cannot bring the sum over *limit_usd*. Safe for threads.

    Before a call its largest possible cost is reserved: a token for each byte of the request, and the largest answer.
    With web searches it is the largest input of a model, once for each search and once more. Where that does not fit,
    the call waits for calls under way, which cost less than was reserved. If there are none, it ends with
    ProviderCancelledError, as does every later call, and `is_spent` is True. A call that the server refused costs
    nothing. A call that failed in another way may have been billed, and counts in full.

    Raises ConfigError where the price of the model is not known.
    """

    def __init__(self, provider: Provider, limit_usd: float) -> None:
        super().__init__(provider)
        self.is_spent = False
        self.spent_usd = 0.0
        self._limit_usd = limit_usd
        self._reserved: list[float] = []
        self._changed = Condition()
        if cost_usd(provider.name, provider.model, 1, 1) is None:
            raise ConfigError(
                f"--max-cost needs the price of {provider.name} ({provider.model}), which is not known here. Leave the "
                "option out, or ask anthropic with a Claude model that has a known price."
            )

    def close(self) -> None:
        """Close the provider, and refuse every call that waits or comes later."""
        with self._changed:
            self.is_spent = True
            self._changed.notify_all()
        super().close()

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`."""
        most = most_usd(self.name, self.model, question) or 0.0
        self._reserve(most)
        cost = most
        try:
            completion = self._provider.complete(question, timeout_s)
            tokens = cost_usd(self.name, self.model, completion.input_tokens, completion.output_tokens)
            cost = tokens + completion.searches * SEARCH_USD if tokens else most
            return completion
        except ProviderError as error:
            if isinstance(error, ProviderHttpError) and error.http_status:
                cost = 0.0
            raise
        finally:
            self._settle(most, cost)

    def _reserve(self, most: float) -> None:
        with self._changed:
            while not self.is_spent and self.spent_usd + sum(self._reserved) + most > self._limit_usd:
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


def most_usd(provider: str, model: str, question: Question) -> float | None:
    """The largest possible cost of *question*, in US dollars; None where the price is not known."""
    most = most_tokens(question) if not question.searches else (question.searches + 1) * CONTEXT_TOKENS
    cost = cost_usd(provider, model, most, question.max_tokens)
    return None if cost is None else cost + question.searches * SEARCH_USD


def most_tokens(question: Question) -> int:
    """An upper bound of the tokens in the request: no token is shorter than a byte."""
    texts = (question.system, question.user, json.dumps(dict(question.schema)))
    return OVERHEAD_TOKENS + sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
