"""Run a function on many items in several threads, and stop early without losing finished results."""

from __future__ import annotations

from contextlib import nullcontext
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engine.judge.bulk.retries import Pace

T = TypeVar("T")
R = TypeVar("R")

GRACE_S = 0.5
"""How long `close` waits for threads that are still working."""


class Workers(Generic[T, R]):
    """Runs *work* on *items* in *count* threads. Iterate once for (position, result), in order of completion.

    An exception in *work* is raised while iterating. The threads do not keep a process alive. With a *count* of 0 the
    iterating thread does the work itself: for pure computation that is faster than threads that take turns. *pace* may
    let fewer threads work at a time.
    """

    def __init__(self, work: Callable[[T], R], items: Sequence[T], count: int, pace: Pace | None = None) -> None:
        self._work = work
        self._pace = pace
        self._left = iter(enumerate(items))
        self._lock = Lock()
        self._is_finishing = False
        self.is_interrupted = False
        self._done: SimpleQueue[tuple[int, R] | Exception | None] = SimpleQueue()
        self._threads = [Thread(target=self._run, daemon=True) for _ in range(count)]

    def __iter__(self) -> Iterator[tuple[int, R]]:
        for thread in self._threads:
            thread.start()
        yield from self._from_threads() if self._threads else self._from_here()

    def finish(self) -> None:
        """Start no more items. Results of running items still come."""
        self._is_finishing = True

    def interrupt(self) -> None:
        """Start no more items and wait for none: only finished results still come. A signal handler may call this."""
        self._is_finishing = self.is_interrupted = True
        self._done.put(None)

    def close(self) -> None:
        """Start no more items, and wait up to GRACE_S for the threads."""
        self.finish()
        until = monotonic() + GRACE_S
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, until - monotonic()))

    def _from_here(self) -> Iterator[tuple[int, R]]:
        for position, item in self._left:
            if self._is_finishing:
                return
            yield position, self._work(item)

    def _from_threads(self) -> Iterator[tuple[int, R]]:
        """Results from the queue. None means that a thread ended, or an interrupt came."""
        running = len(self._threads)
        while running:
            try:
                arrived = self._done.get(block=not self.is_interrupted)
            except Empty:
                return
            if isinstance(arrived, Exception):
                raise arrived
            if arrived is None:
                running -= 1
            else:
                yield arrived

    def _run(self) -> None:
        is_left = True
        while is_left and not self._is_finishing:
            with self._pace.turn(lambda: self._is_finishing) if self._pace else nullcontext():
                is_left = not self._is_finishing and self._has_done_next()
        self._done.put(None)

    def _has_done_next(self) -> bool:
        """Work on the next item; False if there is none."""
        with self._lock:
            following = next(self._left, None)
        if following is None:
            return False
        position, item = following
        try:
            self._done.put((position, self._work(item)))
        except Exception as error:  # noqa: BLE001 - raised again while iterating
            self._done.put(error)
        return True
