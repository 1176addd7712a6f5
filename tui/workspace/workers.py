"""Work in several threads, its results as they come; stopping early loses nothing that is done."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")
R = TypeVar("R")

GRACE_S = 0.5
"""How long `close` waits for threads that are in the middle of something."""


class Workers(Generic[T, R]):
    """Runs *work* on *items* in *count* threads. Iterate once, for (position, result) in order of completion.

    What *work* raises is raised there. The threads do not keep a process alive. With a *count* of 0 the work is done
    between two results, by whoever iterates: one thread that computes is faster than two that take turns.
    """

    def __init__(self, work: Callable[[T], R], items: Sequence[T], count: int) -> None:
        self._work = work
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
        """Begin nothing more; what is under way still comes."""
        self._is_finishing = True

    def interrupt(self) -> None:
        """Begin nothing more and wait for nothing: only what is done now still comes. May be called by a signal."""
        self._is_finishing = self.is_interrupted = True
        self._done.put(None)

    def close(self) -> None:
        """Begin nothing more, and wait a moment for the threads."""
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
        """A thread that ends sends None, as does an interrupt; after that, what has come by then is all."""
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
        while not self._is_finishing:
            with self._lock:
                following = next(self._left, None)
            if following is None:
                break
            position, item = following
            try:
                self._done.put((position, self._work(item)))
            except Exception as error:  # noqa: BLE001 - raised where the results are read
                self._done.put(error)
        self._done.put(None)
