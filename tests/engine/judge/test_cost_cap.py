"""A limit on the cost of a judge that is never crossed."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from engine.errors import ConfigError, ProviderCancelledError, ProviderError, ProviderHttpError, ProviderTimeoutError
from engine.judge.prices import OVERHEAD_TOKENS, CostCapProvider, cost_usd
from engine.judge.provider import Completion, Question
from tests.engine.judge.cases import MODEL, AnsweringProvider

QUESTION = Question("s" * 300, "u" * 198, {}, 256)
MOST = (OVERHEAD_TOKENS + 500 + 5 * 256) / 1e6
"""The largest cost of QUESTION in US dollars. It has 500 bytes with its schema `{}`."""

CHEAP = Completion("done", 120, 9)
COST = cost_usd("anthropic", MODEL, 120, 9) or 0.0


class Priced(AnsweringProvider):
    name = "anthropic"
    model = MODEL
    fingerprint = ""


def capped(most_usd: float, *replies: Completion | ProviderError) -> CostCapProvider:
    left = list(replies)

    def answer(*_: str) -> Completion:
        reply = left.pop(0) if left else CHEAP
        if isinstance(reply, ProviderError):
            raise reply
        return reply

    return CostCapProvider(Priced(answer), most_usd)


def test_it_asks_until_the_next_call_could_be_too_much() -> None:
    provider = capped(MOST + 3.5 * COST)
    for _ in range(4):
        assert provider.complete(QUESTION, 3.0) == CHEAP
    assert provider.spent_usd == pytest.approx(4 * COST)
    assert not provider.is_spent
    with pytest.raises(ProviderCancelledError, match=r"has cost \$0\.0007"):
        provider.complete(QUESTION, 3.0)
    assert provider.is_spent
    assert provider.spent_usd < MOST + 3.5 * COST


@pytest.mark.parametrize(
    ("reply", "cost"),
    [
        (ProviderHttpError("slow down", 429), 0.0),
        (ProviderHttpError("cut off"), MOST),
        (ProviderTimeoutError("late"), MOST),
        (Completion("no usage"), MOST),
    ],
    ids=["refused", "cut", "late", "no usage"],
)
def test_what_may_have_been_billed_counts_in_full(reply: Completion | ProviderError, cost: float) -> None:
    provider = capped(1.0, reply)
    if isinstance(reply, ProviderError):
        with pytest.raises(type(reply)):
            provider.complete(QUESTION, 3.0)
    else:
        provider.complete(QUESTION, 3.0)
    assert provider.spent_usd == pytest.approx(cost)


def test_calls_under_way_are_waited_for_rather_than_given_up() -> None:
    both = Barrier(2, timeout=5)
    begun = Event()

    def answer(*_: str) -> Completion:
        if not begun.is_set():
            begun.set()
            both.wait()
        return CHEAP

    provider = CostCapProvider(Priced(answer), MOST + 2 * COST)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(provider.complete, QUESTION, 3.0)
        assert begun.wait(5)
        second = pool.submit(provider.complete, QUESTION, 3.0)  # does not fit while the first may cost MOST
        both.wait()
        assert (first.result(5), second.result(5)) == (CHEAP, CHEAP)


def test_many_threads_never_cost_more_than_they_may() -> None:
    limit = MOST + 20.5 * COST
    provider = capped(limit)

    def ask(_: int) -> bool:
        try:
            return bool(provider.complete(QUESTION, 3.0))
        except ProviderCancelledError:
            return False

    with ThreadPoolExecutor(16) as pool:
        answered = sum(pool.map(ask, range(200)))
    assert answered == 21
    assert provider.spent_usd == pytest.approx(21 * COST)


def test_closing_ends_those_that_wait() -> None:
    provider = capped(1.0)
    provider.close()
    with pytest.raises(ProviderCancelledError):
        provider.complete(QUESTION, 3.0)


@pytest.mark.parametrize(("name", "model"), [("anthropic", "claude-unheard-of"), ("scripted", MODEL)])
def test_an_unknown_price_is_refused_with_a_sentence(name: str, model: str) -> None:
    provider = Priced(lambda *_: CHEAP)
    provider.name, provider.model = name, model
    with pytest.raises(ConfigError, match=r"--max-cost needs the price of .*, which is not known"):
        CostCapProvider(provider, 1.0)
