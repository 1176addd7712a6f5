"""What tokens cost, where that is known."""

from __future__ import annotations

import pytest

from engine.judge.prices import cost_usd


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        ("claude-haiku-4-5", 6.0),
        ("claude-haiku-4-5-20251001", 6.0),
        ("claude-sonnet-4-5", 18.0),
        ("claude-opus-4-5", 30.0),
        ("claude-opus-4-1", 90.0),
        ("claude-opus-4-20250514", 90.0),
        ("claude-3-5-haiku-latest", 4.8),
    ],
)
def test_a_million_tokens_each_way_cost_what_the_table_says(model: str, usd: float) -> None:
    assert cost_usd("anthropic", model, 1_000_000, 1_000_000) == pytest.approx(usd)
    assert cost_usd("anthropic-http", model, 1_000_000, 1_000_000) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("provider", "model", "tokens"),
    [
        ("anthropic", "claude-haiku-9", 100),
        ("anthropic", "", 100),
        ("anthropic", "claude-haiku-4-5", 0),
        ("claude-cli", "claude-haiku-4-5", 100),
        ("openai", "claude-haiku-4-5", 100),
    ],
)
def test_a_cost_that_is_not_known_is_not_guessed(provider: str, model: str, tokens: int) -> None:
    assert cost_usd(provider, model, tokens, tokens) is None
