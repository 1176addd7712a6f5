"""How many jobs ask a judge at once: a server on a person's machine answers one question at a time."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
