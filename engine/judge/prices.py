"""Prices of tokens, from https://platform.claude.com/docs/en/about-claude/pricing (base tokens, as read in 2026).

A model that is not in the table has no known price: its calls cost None, which is not a guess.
"""

from __future__ import annotations

from engine.judge.verdict import CACHE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.judge.verdict import CallOutcome

PRICES = {
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-sonnet-4": (3.0, 15.0),
    "claude-opus-4-6": (5.0, 25.0),
    "claude-opus-4-5": (5.0, 25.0),
    "claude-opus-4-1": (15.0, 75.0),
    "claude-opus-4-0": (15.0, 75.0),
    "claude-opus-4-2025": (15.0, 75.0),
    "claude-3-7-sonnet": (3.0, 15.0),
    "claude-3-5-haiku": (0.8, 4.0),
    "claude-3-haiku": (0.25, 1.25),
}
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
