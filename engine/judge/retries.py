"""Asking again after an error that passes, such as a rate limit: for runs of many prompts, never for the hook."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from threading import Condition, Event, Lock
from typing import TYPE_CHECKING

from engine.errors import ProviderCancelledError, ProviderHttpError, ProviderTimeoutError
from engine.judge.provider import CANCELLED, AroundProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.judge.provider import Completion, Provider, Question

RATE_LIMITED = 429
PASSING = (RATE_LIMITED, 500, 502, 503, 504, 529)
"""HTTP statuses that may be different after a while. 529 is Anthropic's status for overload."""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.25, 60.0
"""Without a `retry-after` each wait is twice the last, shortened by a random part of up to half. A server that asks
for a longer wait than the longest is not asked again."""


class RetryingProvider(AroundProvider):
    """Asks *provider* again, up to *retries* times, after an error that passes.

    A rate limit holds for the key: if the server names a time, all calls wait for it. The timeout of a call holds for
    each attempt. *clock* is in seconds; *wait* takes seconds, and returns whether `close` was called meanwhile;
    *chance* gives 0..1. *pace* learns how the server fares.
    """

    def __init__(
        self,
        provider: Provider,
        retries: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], bool] | None = None,
        chance: Callable[[], float] = random.random,
        pace: Pace | None = None,
    ) -> None:
        super().__init__(provider)
        self._retries = retries
        self._clock = clock
        self._closed = Event()
        self._wait = wait or self._closed.wait
        self._chance = chance
        self._pace = pace
        self._lock = Lock()
        self._held_until = 0.0

    def close(self) -> None:
        """Close the provider; a call that waits ends with ProviderCancelledError."""
        self._closed.set()
        super().close()

    def complete(self, question: Question, timeout_s: float) -> Completion:
        """See `Provider.complete`. Raises the last error."""
        attempt = 0
        while True:
            self._sleep(self._held_until - self._clock())
            try:
                return self._paced(question, timeout_s)
            except ProviderHttpError as error:
                wait_s = self._wait_s(error, attempt)
                if attempt == self._retries or error.http_status not in PASSING or wait_s > LONGEST_WAIT_S:
                    raise
                self._hold(error, wait_s)
            self._sleep(wait_s)
            attempt += 1

    def _paced(self, question: Question, timeout_s: float) -> Completion:
        if self._pace is None:
            return self._provider.complete(question, timeout_s)
        troubles, began = self._pace.troubles, self._clock()
        try:
            completion = self._provider.complete(question, timeout_s)
        except (ProviderTimeoutError, ProviderHttpError) as error:
            if isinstance(error, ProviderTimeoutError) or error.http_status == RATE_LIMITED:
                self._pace.slowed(troubles)
            raise
        self._pace.answered(self._clock() - began, timeout_s)
        return completion

    def _wait_s(self, error: ProviderHttpError, attempt: int) -> float:
        if error.retry_after_s is not None:
            return error.retry_after_s
        return min(FIRST_WAIT_S * float(2**attempt), LONGEST_WAIT_S) * (1 - self._chance() / 2)

    def _hold(self, error: ProviderHttpError, wait_s: float) -> None:
        """Let every call wait, if *error* is a rate limit with a time."""
        if error.http_status == RATE_LIMITED and error.retry_after_s is not None:
            with self._lock:
                self._held_until = max(self._held_until, self._clock() + wait_s)

    def _sleep(self, seconds: float) -> None:
        if seconds > 0 and self._wait(seconds):
            raise ProviderCancelledError(CANCELLED)


FIRST = 2
"""Jobs at once while nothing is known of the server."""

IN_TIME = 0.5
"""An answer within this part of its time limit says that the server has room for more."""

POLL_S = 0.1


class Pace:
    """Lets up to *most* jobs run at once, and at first only FIRST. Safe for threads.

    After as many answers in time as jobs run at once, it is twice as many, and one more at a time after the first
    trouble. A timeout or a rate limit halves the number, once for all calls that were under way.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.limit = min(FIRST, most)
        self.troubles = 0
        self._running = self._in_time = 0
        self._changed = Condition()

    @contextmanager
    def turn(self, is_over: Callable[[], bool]) -> Iterator[None]:
        """The time in which a job runs. It begins when a further job may run, or when *is_over*."""
        with self._changed:
            while self._running >= self.limit and not is_over():
                self._changed.wait(POLL_S)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify()

    def answered(self, elapsed_s: float, timeout_s: float) -> None:
        """Note an answer after *elapsed_s* of the *timeout_s* that it had."""
        with self._changed:
            self._in_time = self._in_time + 1 if elapsed_s <= IN_TIME * timeout_s else 0
            if self._in_time >= self.limit:
                self._in_time = 0
                self.limit = min(self._most, self.limit + (1 if self.troubles else self.limit))
                self._changed.notify_all()

    def slowed(self, troubles: int) -> None:
        """Note a timeout or a rate limit of a call that began when there were *troubles*."""
        with self._changed:
            if troubles == self.troubles:
                self.troubles += 1
                self.limit = max(1, self.limit // 2)
                self._in_time = 0
