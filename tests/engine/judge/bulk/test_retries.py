"""Waiting where a server says so: how long, how often, and for what."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from engine.errors import ProviderCancelledError, ProviderError, ProviderHttpError, ProviderTimeoutError
from engine.judge.bulk.retries import RetryingProvider
from engine.judge.provider import Completion, Question
from tests.engine.judge.cases import AnsweringProvider

if TYPE_CHECKING:
    from engine.judge.provider import Provider

QUESTION = Question("system", "user", {}, 256)
DONE = Completion("done")


def limited(retry_after_s: float | None) -> ProviderHttpError:
    return ProviderHttpError("slow down", 429, retry_after_s)


class World:
    """A provider that gives or raises *replies* in turn, and a clock that moves when somebody waits."""

    def __init__(self, *replies: Completion | ProviderError, retries: int = 4) -> None:
        self.now = 100.0
        self.waits: list[float] = []
        self._replies = list(replies)
        self.provider = self.answering()
        self.patient = RetryingProvider(
            self.provider, retries, clock=lambda: self.now, wait=self.wait, chance=lambda: 0.5
        )

    def answering(self) -> AnsweringProvider:
        def answer(*_: str) -> Completion:
            reply = self._replies.pop(0)
            if isinstance(reply, ProviderError):
                raise reply
            return reply

        provider = AnsweringProvider(answer)
        provider.fingerprint = "print"  # type: ignore[attr-defined]
        return provider

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now += seconds
        return False

    def ask(self) -> Completion:
        return self.patient.complete(QUESTION, 3.0)


def test_it_stands_for_the_provider_that_it_asks() -> None:
    world = World(DONE)
    assert (world.patient.name, world.patient.model, world.patient.fingerprint) == ("answering", "function", "print")
    assert (world.ask(), world.waits, world.provider.timeouts) == (DONE, [], [3.0])


def test_it_comes_back_when_the_server_says() -> None:
    world = World(limited(7.0), limited(2.0), DONE)
    assert (world.ask(), world.waits) == (DONE, [7.0, 2.0])


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_without_a_time_each_wait_is_twice_the_one_before(status: int) -> None:
    world = World(*[ProviderHttpError("later", status)] * 3, DONE)
    assert (world.ask(), world.waits) == (DONE, [0.1875, 0.375, 0.75])


def test_the_retries_are_bounded_and_the_last_error_is_what_comes_of_it() -> None:
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
def test_what_does_not_pass_is_not_asked_again(error: ProviderError) -> None:
    world = World(error, DONE)
    with pytest.raises(type(error)):
        world.ask()
    assert world.waits == []


def test_a_rate_limit_with_a_time_holds_for_every_call() -> None:
    world = World(limited(9.0), limited(9.0), DONE, retries=1)
    with pytest.raises(ProviderHttpError):
        world.ask()
    assert world.now == 109.0
    world = World(limited(9.0), DONE, DONE)
    world.patient._hold(limited(9.0), 9.0)  # what another thread was told
    assert world.ask() == DONE
    assert world.waits == [9.0, 9.0]


def test_a_server_that_is_overloaded_holds_nobody_else() -> None:
    world = World(DONE)
    world.patient._hold(ProviderHttpError("overloaded", 529, 5.0), 5.0)
    assert (world.ask(), world.waits) == (DONE, [])


def test_closing_ends_a_wait() -> None:
    def patience(provider: Provider) -> RetryingProvider:
        return RetryingProvider(provider, 4)

    patient = patience(World(limited(30.0), DONE).provider)
    threading.Timer(0.05, patient.close).start()
    with pytest.raises(ProviderCancelledError):
        patient.complete(QUESTION, 3.0)
