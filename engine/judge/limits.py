"""The limits on asking a judge: whether at all, for how much, how many questions at once, and how often again."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from threading import Condition, Event
from typing import TYPE_CHECKING

from engine.errors import (
    ConfigError,
    ProviderCancelledError,
    ProviderError,
    ProviderHttpError,
    ProviderRefusedError,
    ProviderTimeoutError,
)
from engine.judge.prices import SEARCH_USD, cost_usd, most_usd
from engine.judge.provider import CANCELLED, Provider
from engine.judge.providers.registry import SCRIPTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.judge.provider import Completion, Question

RATE_LIMITED = 429
PASSING = (RATE_LIMITED, 500, 502, 503, 504, 529)
"""HTTP statuses that may be different after a while. 529 is Anthropic's status for overload."""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.25, 60.0
"""Without a `retry-after` each wait is twice the last, shortened by a random part of up to half. A server that asks
for a longer wait than the longest is not asked again."""

FIRST = 2
"""Jobs at the same time while nothing is known of the server."""

IN_TIME = 0.5
"""An answer within this part of its time limit says that the server has room for more."""

POLL_S = 0.1
RETRIES, AT_ONCE = 4, 8
NOT_AGREED = "The judge was not asked: you have not agreed to its cost since the app started."
NOT_CACHED = (
    "The cache has no answer of {0} ({1}) to this question. Run once with --judge {0}. If another judge gave the "
    "answers, name it in MEMSIFT_JUDGE and MEMSIFT_JUDGE_MODEL."
)
NO_PRICE = (
    "--max-cost needs the price of {} ({}), which is not known here. Leave the option out, or ask anthropic with a "
    "Claude model that has a known price."
)


class Limits:
    """One object for all questions of a run, or of a start of the app. Safe for threads.

    A job is a prompt or a memory to judge. It asks its questions one after the other.

    `calls` counts the questions, `spent_usd` is their cost in US dollars, and `is_spent` says that no further question
    fits below the limit of the cost.

    *asks_first*: no question is asked before `agree`. *is_cached_only*: none is ever asked; the cache still answers.
    *clock* is in seconds; *wait* takes seconds, and returns whether the provider was closed meanwhile; *chance* gives
    0..1.
    """

    def __init__(
        self,
        at_once: int = AT_ONCE,
        retries: int = RETRIES,
        limit_usd: float | None = None,
        *,
        asks_first: bool = False,
        is_cached_only: bool = False,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], bool] | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.at_once = self.now_at_once = at_once
        self.calls = 0
        self.spent_usd = 0.0
        self.is_spent = False
        self._retries, self._limit_usd = retries, limit_usd
        self.is_cached_only, self._asks_first = is_cached_only, asks_first
        self._is_agreed, self._is_used = not asks_first, False
        self._clock, self._chance, self._wait = clock, chance, wait
        self._held_until = 0.0
        self._running = self._in_time = self._troubles = 0
        self._reserved: list[float] = []
        self.changed = Condition()

    def around(self, provider: Provider) -> Provider:
        """*provider* within these limits. Each new provider needs a new agreement, a script none.

        Raises ConfigError for a limit of the cost and a model without a known price.
        """
        if not self._is_used:
            self.now_at_once = min(FIRST, self.at_once)
        self._is_used = not (self._asks_first and provider.name == SCRIPTED)
        self._is_agreed = not self._asks_first
        if not self._is_used:
            return provider
        if self._limit_usd is not None and cost_usd(provider.name, provider.model, 1, 1) is None:
            raise ConfigError(NO_PRICE.format(provider.name, provider.model))
        return _Limited(provider, self)

    # The agreement of a person

    @property
    def needs_agreement(self) -> bool:
        """Whether a judge is there that may not be asked: nobody agreed yet, or the limit is reached."""
        return self._is_used and (self.is_spent or not self._is_agreed)

    def agree(self, limit_usd: float | None) -> None:
        """Let the judge be asked until all calls of this start cost *limit_usd*; without a limit if that is None."""
        with self.changed:
            self._is_agreed, self.is_spent, self._limit_usd = True, False, limit_usd

    @property
    def text(self) -> str:
        """The running total, for the top bar; empty before the first call."""
        if not self.calls:
            return ""
        if self._limit_usd is None:
            return f"judge: {self.calls:,} calls"
        return f"judge: ${self.spent_usd:.4f} of ${self._limit_usd:,.2f}"

    # One question

    def complete(self, limited: _Limited, question: Question, timeout_s: float) -> Completion:
        """As `Provider.complete`, again after an error that passes, with the timeout for each attempt.

        A server may be slow at first, so a question without an answer in time is asked once more. A rate limit holds
        for the key: if the server names a time, all calls wait for it.

        Raises the last error, ProviderRefusedError where only the cache may answer, or ProviderCancelledError while
        nobody agreed, from the limit of the cost on, and once the provider is closed.
        """
        if self.is_cached_only:
            raise ProviderRefusedError(NOT_CACHED.format(limited.name, limited.model))
        if not self._is_agreed:
            raise ProviderCancelledError(NOT_AGREED)
        for attempt in range(self._retries + 1):
            self._sleep(self._held_until - self._clock(), limited.closed)
            try:
                return self._asked(limited, question, timeout_s)
            except ProviderTimeoutError:
                if attempt or not self._retries:
                    raise
                wait_s = 0.0
            except ProviderHttpError as error:
                usual_s = min(FIRST_WAIT_S * float(2**attempt), LONGEST_WAIT_S) * (1 - self._chance() / 2)
                wait_s = usual_s if error.retry_after_s is None else error.retry_after_s
                if attempt == self._retries or error.http_status not in PASSING or wait_s > LONGEST_WAIT_S:
                    raise
                if error.http_status == RATE_LIMITED and error.retry_after_s is not None:
                    self._held_until = max(self._held_until, self._clock() + wait_s)
            self._sleep(wait_s, limited.closed)
        raise AssertionError  # the last attempt returns or raises

    def _asked(self, limited: _Limited, question: Question, timeout_s: float) -> Completion:
        """One call, which is counted, paid for, and tells how the server fares.

        A call that the server refused costs nothing. A call that failed in another way may have been billed, and counts
        in full.
        """
        most = most_usd(limited.name, limited.model, question)
        troubles, began = self._troubles, self._clock()
        cost = reserved = self._reserve(most or 0.0, limited.closed)
        try:
            completion = limited.provider.complete(question, timeout_s)
            tokens = cost_usd(limited.name, limited.model, completion.input_tokens, completion.output_tokens)
            cost = tokens + completion.searches * SEARCH_USD if tokens else reserved
            self._answered(self._clock() - began, timeout_s)
            return completion
        except ProviderError as error:
            status = error.http_status if isinstance(error, ProviderHttpError) else None
            cost = 0.0 if status else cost
            if isinstance(error, ProviderTimeoutError) or status == RATE_LIMITED:
                with self.changed:
                    if troubles == self._troubles:  # once for all calls that were under way
                        self._troubles += 1
                        self.now_at_once = max(1, self.now_at_once // 2)
                        self._in_time = 0
            raise
        finally:
            with self.changed:
                self._reserved.remove(reserved)
                self.spent_usd += cost
                self.changed.notify_all()

    def _sleep(self, seconds: float, closed: Event) -> None:
        if seconds > 0 and (self._wait or closed.wait)(seconds):
            raise ProviderCancelledError(CANCELLED)

    # The cost

    def _reserve(self, most: float, closed: Event) -> float:
        """Set *most* US dollars, the largest possible cost of a call, aside for it.

        Where that does not fit, the call waits for calls under way, which cost less than was reserved. If there are
        none, the limit is reached.
        """
        with self.changed:
            while most and self._limit_usd is not None and not self.is_spent and not closed.is_set():
                if self.spent_usd + sum(self._reserved) + most <= self._limit_usd:
                    break
                if self._reserved:
                    self.changed.wait()
                else:
                    self.is_spent = True
                    self.changed.notify_all()
            if self.is_spent:
                raise ProviderCancelledError(f"The judge has cost ${self.spent_usd:.4f}, and may not cost more.")
            if closed.is_set():
                raise ProviderCancelledError(CANCELLED)
            self.calls += 1
            self._reserved.append(most)
            return most

    # The number of questions at once

    @contextmanager
    def turn(self, is_over: Callable[[], bool]) -> Iterator[None]:
        """The time in which a job asks its questions. It begins when a further job may run, or when *is_over*.

        At first FIRST jobs run at once. After as many answers in time as jobs run at once, it is twice as many, and one
        more at a time after the first trouble. A timeout or a rate limit halves the number, once for all calls that
        were under way.
        """
        with self.changed:
            while self._running >= self.now_at_once and not is_over():
                self.changed.wait(POLL_S)
            self._running += 1
        try:
            yield
        finally:
            with self.changed:
                self._running -= 1
                self.changed.notify_all()

    def _answered(self, elapsed_s: float, timeout_s: float) -> None:
        with self.changed:
            self._in_time = self._in_time + 1 if elapsed_s <= IN_TIME * timeout_s else 0
            if self._in_time >= self.now_at_once:
                self._in_time = 0
                self.now_at_once = min(self.at_once, self.now_at_once + (1 if self._troubles else self.now_at_once))
                self.changed.notify_all()


class _Limited(Provider):
    """A provider that is asked within limits, under its own name."""

    def __init__(self, provider: Provider, limits: Limits) -> None:
        self.name, self.model, self.fingerprint = provider.name, provider.model, provider.fingerprint
        self.provider, self.closed = provider, Event()
        self._limits = limits

    def hide(self, text: str) -> str:
        return self.provider.hide(text)

    def prepare(self) -> None:
        if not self._limits.is_cached_only:
            self.provider.prepare()

    def complete(self, question: Question, timeout_s: float) -> Completion:
        return self._limits.complete(self, question, timeout_s)

    def close(self) -> None:
        """End every wait: the calls raise ProviderCancelledError, as do all later ones."""
        self.closed.set()
        with self._limits.changed:
            self._limits.changed.notify_all()
        self.provider.close()
