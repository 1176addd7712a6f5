"""The limits on asking a judge: agreement, cost, the number of questions at once, and asking again."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, Event

import pytest

from engine.errors import ProviderCancelledError, ProviderError, ProviderHttpError, ProviderTimeoutError
from engine.judge.limits import Limits
from engine.judge.prices import OVERHEAD_TOKENS, cost_usd
from engine.judge.provider import Completion, Provider, Question
from tests.engine.judge.cases import MODEL, AnsweringProvider

QUESTION = Question("s" * 300, "u" * 198, {}, 256)
MOST = (OVERHEAD_TOKENS + 500 + 5 * 256) / 1e6
"""The largest cost of QUESTION in US dollars. It has 500 bytes with its schema `{}`."""

DONE = Completion("done", 120, 9)
COST = cost_usd("anthropic", MODEL, 120, 9) or 0.0
LATE = ProviderTimeoutError("late")


class Priced(AnsweringProvider):
    """A provider whose price is known. It gives or raises *replies* in turn, and then DONE."""

    name = "anthropic"
    model = MODEL

    def __init__(self, *replies: Completion | ProviderError) -> None:
        super().__init__(lambda *_: self.reply())
        self._replies = list(replies)

    def reply(self) -> Completion:
        reply = self._replies.pop(0) if self._replies else DONE
        if isinstance(reply, ProviderError):
            raise reply
        return reply


def limited(retry_after_s: float | None) -> ProviderHttpError:
    return ProviderHttpError("slow down", 429, retry_after_s)


class World:
    """A provider with *replies*, and a clock that moves with each wait. `meanwhile` is called during the first wait."""

    def __init__(self, *replies: Completion | ProviderError, retries: int = 4) -> None:
        self.now = 100.0
        self.waits: list[float] = []
        self.meanwhile: Callable[[], object] | None = None
        self.provider = Priced(*replies)
        self.provider.fingerprint = "print"
        limits = Limits(retries=retries, clock=lambda: self.now, wait=self.wait, chance=lambda: 0.5)
        self.retrying = limits.around(self.provider)

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()
        self.now += seconds
        return False

    def ask(self) -> Completion:
        return self.retrying.complete(QUESTION, 3.0)


def test_it_asks_again_when_the_server_says_else_after_twice_the_wait_and_a_late_answer_once() -> None:
    world = World(DONE, limited(7.0), limited(2.0), DONE)
    assert (world.retrying.name, world.retrying.model, world.retrying.fingerprint) == ("anthropic", MODEL, "print")
    assert (world.ask(), world.waits, world.provider.timeouts) == (DONE, [], [3.0])
    assert (world.ask(), world.waits) == (DONE, [7.0, 2.0])
    for status in (429, 500, 502, 503, 504, 529):
        world = World(*[ProviderHttpError("later", status)] * 3, DONE)
        assert (world.ask(), world.waits) == (DONE, [0.1875, 0.375, 0.75]), status
    world = World(LATE)
    assert (world.ask(), world.waits) == (DONE, [])
    for world in (World(LATE, LATE), World(LATE, retries=0)):
        with pytest.raises(ProviderTimeoutError):
            world.ask()


def test_the_retries_are_bounded_and_an_error_that_does_not_pass_is_not_asked_again() -> None:
    for error, retries, waits in [
        (ProviderHttpError("the last", 529, 1.0), 4, [1.0] * 4),
        (limited(1.0), 0, []),
        (ProviderHttpError("bad request", 400), 4, []),
        (ProviderHttpError("bad key", 401), 4, []),
        (ProviderHttpError("no such model", 404), 4, []),
        (ProviderHttpError("no connection"), 4, []),
        (limited(3600.0), 4, []),
    ]:
        world = World(*[limited(1.0)] * len(waits), error, retries=retries)
        with pytest.raises(ProviderHttpError, match=str(error)):
            world.ask()
        assert world.waits == waits, error


@pytest.mark.parametrize(("status", "waits"), [(429, [9.0, 9.0]), (529, [9.0])], ids=["rate limit", "overload"])
def test_only_a_rate_limit_with_a_time_holds_for_every_call(status: int, waits: list[float]) -> None:
    world = World(ProviderHttpError("not now", status, 9.0))
    world.meanwhile = world.ask  # as another thread would, while this one waits
    assert world.ask() == DONE
    assert world.waits == waits


def test_closing_ends_a_wait_and_nothing_more_is_asked() -> None:
    retrying = Limits().around(Priced(limited(30.0)))
    threading.Timer(0.05, retrying.close).start()
    for _ in range(2):
        with pytest.raises(ProviderCancelledError):
            retrying.complete(QUESTION, 3.0)


# The number of questions at once, by how the server fares


class Paced(Limits):
    """Limits without retries, whose clock a server moves."""

    def __init__(self, at_once: int) -> None:
        self.now = 0.0
        super().__init__(at_once, 0, clock=lambda: self.now)

    def after(self, answers: int, elapsed_s: float = 1.0, reply: ProviderError | None = None) -> int:
        """How many may be asked at once after a number of replies in a row, each within a limit of ten seconds."""

        def answer(*_: str) -> Completion:
            self.now += elapsed_s
            if reply:
                raise reply
            return DONE

        provider = self.around(AnsweringProvider(answer))
        for _ in range(answers):
            with suppress(ProviderError):
                provider.complete(QUESTION, 10.0)
        return self.now_at_once


def test_answers_in_time_let_more_jobs_run_and_a_rate_limit_halves_the_number() -> None:
    limits = Paced(8)
    assert [limits.after(answers) for answers in (0, 1, 1, 4, 99)] == [2, 2, 4, 8, 8]
    assert limits.after(1, reply=limited(None)) == 4
    assert [limits.after(4), limits.after(5)] == [5, 6]
    assert limits.after(5, reply=LATE) == 1
    assert Paced(8).after(99, elapsed_s=6.0) == 2, "late answers let no more run"
    assert Limits(1).now_at_once == 1


def test_calls_that_fail_together_halve_the_number_once() -> None:
    limits, together = Paced(8), Barrier(4, timeout=5)
    limits.after(6)

    def answer(*_: str) -> Completion:
        together.wait()
        raise limited(None)

    provider = limits.around(AnsweringProvider(answer))
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(provider.complete, QUESTION, 10.0) for _ in range(4)]
        assert all(isinstance(one.exception(5), ProviderHttpError) for one in asked)
    assert limits.now_at_once == 4


# The agreement of a person, and the cost


def test_nobody_is_asked_before_an_agreement_whose_limit_holds_for_the_whole_start() -> None:
    limits = Limits(asks_first=True)
    assert not limits.needs_agreement
    for _ in range(2):
        provider = limits.around(Priced())
        assert limits.needs_agreement
        with pytest.raises(ProviderCancelledError, match="you have not agreed"):
            provider.complete(QUESTION, 3.0)
        limits.agree(1.0)
        assert provider.complete(QUESTION, 3.0) == DONE
        assert not limits.needs_agreement
    assert limits.text == f"judge: ${2 * COST:.4f} of $1.00"
    limits = Limits(asks_first=True)
    provider = limits.around(Priced())
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


def capped(most_usd: float, provider: Provider) -> tuple[Limits, Provider]:
    limits = Limits(16, 0, most_usd)
    return limits, limits.around(provider)


def test_it_asks_until_the_next_call_could_be_too_much_and_what_may_have_been_billed_counts() -> None:
    limits, provider = capped(MOST + 3.5 * COST, Priced())
    for _ in range(4):
        assert provider.complete(QUESTION, 3.0) == DONE
    assert limits.spent_usd == pytest.approx(4 * COST)
    assert not limits.is_spent
    with pytest.raises(ProviderCancelledError, match=r"has cost \$0\.0007"):
        provider.complete(QUESTION, 3.0)
    assert limits.is_spent
    cut, no_usage = ProviderHttpError("cut off"), Completion("no usage")
    for reply, cost in [(limited(None), 0.0), (cut, MOST), (LATE, MOST), (no_usage, MOST)]:
        limits, provider = capped(1.0, Priced(reply))
        with suppress(ProviderError):
            provider.complete(QUESTION, 3.0)
        assert limits.spent_usd == pytest.approx(cost), reply


def test_calls_under_way_are_waited_for_rather_than_given_up() -> None:
    both, begun = Barrier(2, timeout=5), Event()

    def answer(*_: str) -> Completion:
        if not begun.is_set():
            begun.set()
            both.wait()
        return DONE

    provider = Priced()
    provider._answer = answer
    _, within = capped(MOST + 2 * COST, provider)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(within.complete, QUESTION, 3.0)
        assert begun.wait(5)
        second = pool.submit(within.complete, QUESTION, 3.0)  # does not fit while the first may cost MOST
        both.wait()
        assert (first.result(5), second.result(5)) == (DONE, DONE)


def test_many_threads_never_cost_more_than_they_may() -> None:
    limits, provider = capped(MOST + 20.5 * COST, Priced())

    def ask(_: int) -> bool:
        with suppress(ProviderCancelledError):
            return bool(provider.complete(QUESTION, 3.0))
        return False

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(ask, range(200))) == 21
    assert limits.spent_usd == pytest.approx(21 * COST)
