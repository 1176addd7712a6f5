"""Asking again after an error that passes: after how long, how often, and after which errors."""

import threading
from collections.abc import Callable

import pytest

from engine.errors import ProviderCancelledError, ProviderError, ProviderHttpError, ProviderTimeoutError
from engine.judge.provider import Completion, Question
from engine.judge.retries import FIRST, Pace, RetryingProvider
from tests.engine.judge.cases import AnsweringProvider

QUESTION = Question("system", "user", {}, 256)
DONE = Completion("done")


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
        self.retrying = RetryingProvider(
            self.provider, retries, clock=lambda: self.now, wait=self.wait, chance=lambda: 0.5
        )

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
        return self.retrying.complete(QUESTION, 3.0)


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
        ProviderTimeoutError("late"),
        limited(3600.0),
    ],
    ids=["400", "404", "401", "no connection", "timeout", "an hour"],
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
    retrying = RetryingProvider(World(limited(30.0), DONE).provider, 4)
    threading.Timer(0.05, retrying.close).start()
    with pytest.raises(ProviderCancelledError):
        retrying.complete(QUESTION, 3.0)


# The number of questions at once, by how the server fares


def after(pace: Pace, answers: int, elapsed_s: float = 1.0) -> int:
    for _ in range(answers):
        pace.answered(elapsed_s, 10.0)
    return pace.limit


def test_answers_in_time_let_more_jobs_run_and_late_ones_do_not() -> None:
    pace = Pace(8)
    assert pace.limit == FIRST == 2
    assert [after(pace, 1), after(pace, 1), after(pace, 4), after(pace, 99)] == [2, 4, 8, 8]
    assert after(Pace(8), 99, elapsed_s=6.0) == 2
    assert Pace(1).limit == 1


def test_calls_that_fail_together_halve_the_number_once_and_it_grows_slowly_again() -> None:
    pace = Pace(8)
    after(pace, 6)
    before = pace.troubles
    for _ in range(8):
        pace.slowed(before)
    assert pace.limit == 4
    assert [after(pace, 4), after(pace, 5)] == [5, 6]
    for _ in range(5):
        pace.slowed(pace.troubles)
    assert pace.limit == 1
