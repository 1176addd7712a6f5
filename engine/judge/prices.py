"""Prices of tokens, from https://platform.claude.com/docs/en/about-claude/pricing (base tokens, as read in 2026).

A model that is not in the table has no known price: its calls cost None, which is not a guess.
"""

from __future__ import annotations

import json

from engine.judge.verdict import CACHE
from engine.lean.sections import read_sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.judge.provider import Question
    from engine.judge.verdict import CallOutcome

_LINES = (line.split() for _, lines in read_sections(__file__, "prices.txt") for line in lines)
PRICES = {name: (float(given), float(got)) for name, given, got in _LINES}
"""US dollars for a million input and a million output tokens, by the beginning of a model's name."""

SEARCH_USD = 0.01
"""US dollars for a web search, beside the tokens of its pages."""

BILLED_BY_TOKEN = ("anthropic", "anthropic-http")
"""Providers to which the table applies."""


def outcome_usd(provider: str, model: str, outcome: CallOutcome) -> float | None:
    """US dollars for *outcome*; None where that is not known.

    0 for an answer from the cache, which was paid for when it was asked.
    """
    if outcome.source == CACHE:
        return 0.0
    full = cost_usd(provider, model, outcome.input_tokens, outcome.output_tokens)
    return None if full is None else full + outcome.searches * SEARCH_USD


def cost_usd(provider: str, model: str, input_tokens: int, output_tokens: int) -> float | None:
    """US dollars for the tokens of one judgement; None where the price or the number of tokens is not known."""
    price = next((price for family, price in PRICES.items() if model.startswith(family)), None)
    if price is None or provider not in BILLED_BY_TOKEN or not input_tokens:
        return None
    price_in, price_out = price
    return (input_tokens * price_in + output_tokens * price_out) / 1_000_000


BYTES_A_TOKEN = 4
"""For an estimate: bytes of English text in a token."""

OVERHEAD_TOKENS = 500
"""Added by the API to each request: roles, and the instruction to answer by a schema."""

CONTEXT_TOKENS = 200_000
"""The largest input of a model. Each web search sends everything again, with pages of an unknown size."""


def most_usd(provider: str, model: str, question: Question) -> float | None:
    """The largest possible cost of *question*, in US dollars; None where the price is not known."""
    texts = (question.system, question.user, json.dumps(dict(question.schema)))
    most = OVERHEAD_TOKENS + sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)  # no token is shorter
    if question.searches:
        most = (question.searches + 1) * CONTEXT_TOKENS
    cost = cost_usd(provider, model, most, question.max_tokens)
    return None if cost is None else cost + question.searches * SEARCH_USD
