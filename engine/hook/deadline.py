"""The hook's deadline: a thread that ends the process, because nothing else can.

A check between stages does not see a query that takes too long, and neither a signal handler in Python nor an exception
gets through to a file system that does not answer. SQLite and the system calls release the interpreter's lock, so the
thread runs whatever the main one waits for; starting it costs 0.1 ms.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_EVERY_S = 0.05
"""Longer than most prompts take: to look takes the interpreter from the thread that answers."""
LAST_WORDS_S = 0.1


class Watchdog:
    """Ends the process with code 0 after a time, once `last_words` were given 0.1 s to log why.

    An answer is printed under `printing` and so never cut in half; after it the process ends without last words.
    """

    def __init__(self, seconds: float, last_words: Callable[[], None]) -> None:
        self.printing = allocate_lock()
        self._has_answered = False
        self._last_words = last_words
        self._started = monotonic()
        self._seconds = seconds
        start_new_thread(self._watch, ())

    def allow(self, seconds: float) -> None:
        """Move the deadline to *seconds* after the start."""
        self._seconds = seconds

    def answered(self) -> None:
        """There is nothing left to say."""
        self._has_answered = True

    def _watch(self) -> None:
        while (left := self._started + self._seconds - monotonic()) > 0:
            sleep(min(left, LOOK_EVERY_S))
        with self.printing:
            if not self._has_answered:
                self._say_last_words()
            os._exit(0)

    def _say_last_words(self) -> None:
        """In a thread of their own: the log may lie on the very disk that does not answer."""
        said = allocate_lock()
        said.acquire()
        start_new_thread(self._speak, (said.release,))
        said.acquire(timeout=LAST_WORDS_S)

    def _speak(self, done: Callable[[], None]) -> None:
        try:
            self._last_words()
        finally:
            done()
