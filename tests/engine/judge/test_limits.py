"""The limits on asking a judge: agreement, cost, the number of questions at once, and asking again."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, Event

import pytest

from engine.errors import ConfigError, ProviderCancelledError, ProviderError, ProviderHttpError, ProviderTimeoutError
from engine.judge.limits import Limits
from engine.judge.prices import OVERHEAD_TOKENS, cost_usd
from engine.judge.provider import Completion, Provider, Question
from tests.engine.judge.cases import MODEL, AnsweringProvider

SHORT = Question("system", "user", {}, 256)
DONE = Completion("done")

QUESTION = Question("s" * 300, "u" * 198, {}, 256)
MOST = (OVERHEAD_TOKENS + 500 + 5 * 256) / 1e6
"""The largest cost of QUESTION in US dollars. It has 500 bytes with its schema `{}`."""

CHEAP = Completion("done", 120, 9)
COST = cost_usd("anthropic", MODEL, 120, 9) or 0.0


class Priced(AnsweringProvider):
    name = "anthropic"
    model = MODEL
    fingerprint = ""


def limited(retry_after_s: float | None) -> ProviderHttpError:
    return ProviderHttpError("slow down", 429, retry_after_s)


class World:
    """A provider that gives or raises *replies* in turn, and a clock that moves with each wait.

    `meanwhile` is called during the first wait.
    """

    def __init__(self, *replies: Completion | ProviderError, retries: int = 4) -> None:
        self.now = 100.0
        self.waits: list[float] = []
        self.meanwhile: Callable[[], object] | None = None
        self._replies = list(replies)
        self.provider = self.answering()
        limits = Limits(retries=retries, clock=lambda: self.now, wait=self.wait, chance=lambda: 0.5)
        self.retrying = limits.around(self.provider)

    def answering(self) -> AnsweringProvider:
        def answer(*_: str) -> Completion:
            reply = self._replies.pop(0)
            if isinstance(reply, ProviderError):
                raise reply
            return reply

        provider = AnsweringProvider(answer)
        provider.fingerprint = "print"
        return provider

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()
        self.now += seconds
        return False

    def ask(self) -> Completion:
        return self.retrying.complete(SHORT, 3.0)


def test_it_stands_for_the_provider_that_it_asks() -> None:
    world = World(DONE)
    assert (world.retrying.name, world.retrying.model, world.retrying.fingerprint) == ("answering", "function", "print")
    assert (world.ask(), world.waits, world.provider.timeouts) == (DONE, [], [3.0])


def test_it_asks_again_when_the_server_says() -> None:
    world = World(limited(7.0), limited(2.0), DONE)
    assert (world.ask(), world.waits) == (DONE, [7.0, 2.0])


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_without_a_time_each_wait_is_twice_the_one_before(status: int) -> None:
    world = World(*[ProviderHttpError("later", status)] * 3, DONE)
    assert (world.ask(), world.waits) == (DONE, [0.1875, 0.375, 0.75])


def test_the_retries_are_bounded_and_the_last_error_is_raised() -> None:
    world = World(*[limited(1.0)] * 4, ProviderHttpError("the last", 529), DONE)
    with pytest.raises(ProviderHttpError, match="the last"):
        world.ask()
    assert world.waits == [1.0] * 4
    without = World(limited(1.0), DONE, retries=0)
    with pytest.raises(ProviderHttpError):
        without.ask()
    assert without.waits == []


@pytest.mark.parametrize(
    "error",
    [
        ProviderHttpError("bad request", 400),
        ProviderHttpError("no such model", 404),
        ProviderHttpError("bad key", 401),
        ProviderHttpError("no connection"),
        limited(3600.0),
    ],
    ids=["400", "404", "401", "no connection", "an hour"],
)
def test_an_error_that_does_not_pass_is_not_asked_again(error: ProviderError) -> None:
    world = World(error, DONE)
    with pytest.raises(type(error)):
        world.ask()
    assert world.waits == []


@pytest.mark.parametrize(("status", "waits"), [(429, [9.0, 9.0]), (529, [9.0])], ids=["rate limit", "overload"])
def test_only_a_rate_limit_with_a_time_holds_for_every_call(status: int, waits: list[float]) -> None:
    world = World(ProviderHttpError("not now", status, 9.0), DONE, DONE)
    world.meanwhile = world.ask  # as another thread would, while this one waits
    assert world.ask() == DONE
    assert world.waits == waits


def test_closing_ends_a_wait() -> None:
    retrying = Limits().around(World(limited(30.0), DONE).provider)
    threading.Timer(0.05, retrying.close).start()
    with pytest.raises(ProviderCancelledError):
        retrying.complete(SHORT, 3.0)


def test_a_late_answer_is_asked_for_once_more() -> None:
    late = ProviderTimeoutError("late")
    world = World(late, DONE)
    assert (world.ask(), world.waits) == (DONE, [])
    for world in (World(late, late, DONE), World(late, DONE, retries=0)):
        with pytest.raises(ProviderTimeoutError):
            world.ask()


# The number of questions at once, by how the server fares


class Paced(Limits):
    """Limits without retries, whose clock a server moves."""

    def __init__(self, at_once: int) -> None:
        self.now = 0.0
        super().__init__(at_once, 0, clock=lambda: self.now)


def after(limits: Paced, answers: int, elapsed_s: float = 1.0, reply: ProviderError | None = None) -> int:
    """How many may be asked at once after a number of replies in a row, each within a limit of ten seconds."""

    def answer(*_: str) -> Completion:
        limits.now += elapsed_s
        if reply:
            raise reply
        return DONE

    provider = limits.around(AnsweringProvider(answer))
    for _ in range(answers):
        with suppress(ProviderError):
            provider.complete(SHORT, 10.0)
    return limits.now_at_once


def test_answers_in_time_let_more_jobs_run_and_late_ones_do_not() -> None:
    limits = Paced(8)
    assert after(limits, 0) == 2
    assert [after(limits, 1), after(limits, 1), after(limits, 4), after(limits, 99)] == [2, 4, 8, 8]
    assert after(Paced(8), 99, elapsed_s=6.0) == 2
    assert Limits(1).now_at_once == 1


def test_a_rate_limit_halves_the_number_and_it_grows_slowly_again() -> None:
    limits = Paced(8)
    after(limits, 6)
    assert after(limits, 1, reply=limited(None)) == 4
    assert [after(limits, 4), after(limits, 5)] == [5, 6]
    assert after(limits, 5, reply=ProviderTimeoutError("late")) == 1


def test_calls_that_fail_together_halve_the_number_once() -> None:
    limits, together = Paced(8), Barrier(4, timeout=5)
    after(limits, 6)

    def answer(*_: str) -> Completion:
        together.wait()
        raise limited(None)

    provider = limits.around(AnsweringProvider(answer))
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(provider.complete, SHORT, 10.0) for _ in range(4)]
        assert all(isinstance(one.exception(5), ProviderHttpError) for one in asked)
    assert limits.now_at_once == 4


# The agreement of a person


def test_nobody_is_asked_before_the_agreement_and_a_new_judge_needs_a_new_one() -> None:
    limits = Limits(asks_first=True)
    assert not limits.needs_agreement
    for _ in range(2):
        provider = limits.around(Priced(lambda *_: CHEAP))
        assert limits.needs_agreement
        with pytest.raises(ProviderCancelledError, match="you have not agreed"):
            provider.complete(QUESTION, 3.0)
        limits.agree(1.0)
        assert provider.complete(QUESTION, 3.0) == CHEAP
        assert not limits.needs_agreement
    assert limits.text == f"judge: ${2 * COST:.4f} of $1.00"


def test_the_limit_of_an_agreement_holds_for_the_whole_start() -> None:
    limits = Limits(asks_first=True)
    provider = limits.around(Priced(lambda *_: CHEAP))
    limits.agree(MOST)
    provider.complete(QUESTION, 3.0)
    with pytest.raises(ProviderCancelledError):
        provider.complete(QUESTION, 3.0)
    assert limits.needs_agreement
    limits.agree(MOST + 1.5 * COST)
    provider.complete(QUESTION, 3.0)
    assert limits.spent_usd == pytest.approx(2 * COST)
    limits.agree(None)
    provider.complete(QUESTION, 3.0)
    assert limits.text == "judge: 3 calls"


# The cost


def capped(most_usd: float, *replies: Completion | ProviderError) -> tuple[Limits, Provider]:
    left = list(replies)

    def answer(*_: str) -> Completion:
        reply = left.pop(0) if left else CHEAP
        if isinstance(reply, ProviderError):
            raise reply
        return reply

    limits = Limits(16, 0, most_usd)
    return limits, limits.around(Priced(answer))


def test_it_asks_until_the_next_call_could_be_too_much() -> None:
    limits, provider = capped(MOST + 3.5 * COST)
    for _ in range(4):
        assert provider.complete(QUESTION, 3.0) == CHEAP
    assert limits.spent_usd == pytest.approx(4 * COST)
    assert not limits.is_spent
    with pytest.raises(ProviderCancelledError, match=r"has cost \$0\.0007"):
        provider.complete(QUESTION, 3.0)
    assert limits.is_spent
    assert limits.spent_usd < MOST + 3.5 * COST


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
    limits, provider = capped(1.0, reply)
    if isinstance(reply, ProviderError):
        with pytest.raises(type(reply)):
            provider.complete(QUESTION, 3.0)
    else:
        provider.complete(QUESTION, 3.0)
    assert limits.spent_usd == pytest.approx(cost)


def test_calls_under_way_are_waited_for_rather_than_given_up() -> None:
    both = Barrier(2, timeout=5)
    begun = Event()

    def answer(*_: str) -> Completion:
        if not begun.is_set():
            begun.set()
            both.wait()
        return CHEAP

    provider = Limits(2, 0, MOST + 2 * COST).around(Priced(answer))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(provider.complete, QUESTION, 3.0)
        assert begun.wait(5)
        second = pool.submit(provider.complete, QUESTION, 3.0)  # does not fit while the first may cost MOST
        both.wait()
        assert (first.result(5), second.result(5)) == (CHEAP, CHEAP)


def test_many_threads_never_cost_more_than_they_may() -> None:
    limit = MOST + 20.5 * COST
    limits, provider = capped(limit)

    def ask(_: int) -> bool:
        try:
            return bool(provider.complete(QUESTION, 3.0))
        except ProviderCancelledError:
            return False

    with ThreadPoolExecutor(16) as pool:
        answered = sum(pool.map(ask, range(200)))
    assert answered == 21
    assert limits.spent_usd == pytest.approx(21 * COST)


def test_a_closed_provider_asks_nothing_more() -> None:
    _, provider = capped(1.0)
    provider.close()
    with pytest.raises(ProviderCancelledError):
        provider.complete(QUESTION, 3.0)


@pytest.mark.parametrize(("name", "model"), [("anthropic", "claude-unheard-of"), ("scripted", MODEL)])
def test_an_unknown_price_is_refused_with_a_sentence(name: str, model: str) -> None:
    provider = Priced(lambda *_: CHEAP)
    provider.name, provider.model = name, model
    with pytest.raises(ConfigError, match=r"--max-cost needs the price of .*, which is not known"):
        Limits(limit_usd=1.0).around(provider)
