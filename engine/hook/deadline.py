"""The hook's deadline: a thread that ends the process, and behind it an alarm with which the kernel ends it.

A check between stages cannot interrupt a slow query, and an exception or a signal handler cannot interrupt a file
system that does not answer. A thread can: SQLite and system calls release the interpreter's lock while they wait. A
regular expression does not. So the alarm keeps the default action of its signal, which needs no Python.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from signal import ITIMER_REAL, SIG_DFL, SIG_UNBLOCK, SIGALRM, pthread_sigmask, setitimer, signal
elif os.name != "nt":  # the module `signal` is slow to load
    from _signal import ITIMER_REAL, SIG_DFL, SIG_UNBLOCK, SIGALRM, pthread_sigmask, setitimer, signal

HAS_ALARM = os.name != "nt"
"""Windows has none."""

LOOK_EVERY_S = 0.05
"""Seconds between two looks at the deadline, which can be moved meanwhile."""

LAST_WORDS_S = 0.1
ALARM_S = 0.5
"""Seconds after the deadline in which the thread can end the process. After them the alarm does."""


class Watchdog:
    """Ends the process with exit code 0 after *seconds*. Before that, *last_words* has 0.1 s to log the reason.

    An answer is printed while `printing` is held, so that it is never cut in half. A process that never lets the thread
    run ends by the signal SIGALRM: the shell command around it ends with 0.
    """

    def __init__(self, seconds: float, last_words: Callable[[], None]) -> None:
        self.printing = allocate_lock()
        self._has_answered = False
        self._last_words = last_words
        self._started = monotonic()
        if HAS_ALARM:
            # The process may have inherited another action, or a mask that holds the signal back.
            signal(SIGALRM, SIG_DFL)
            pthread_sigmask(SIG_UNBLOCK, (SIGALRM,))
        self.allow(seconds)
        start_new_thread(self._watch, ())

    def allow(self, seconds: float) -> None:
        """Move the deadline to *seconds* after the start."""
        self._seconds = seconds
        self._set_alarm(max(0.0, self._started + seconds - monotonic()) + ALARM_S)

    def answered(self) -> None:
        """The answer is printed from now on: at the deadline no last words are said, and there is no alarm."""
        self._has_answered = True
        self._set_alarm(0)

    def _set_alarm(self, seconds: float) -> None:
        if HAS_ALARM:
            setitimer(ITIMER_REAL, seconds)

    def _watch(self) -> None:
        while (left := self._started + self._seconds - monotonic()) > 0:
            sleep(min(left, LOOK_EVERY_S))
        with self.printing:
            if not self._has_answered:  # in another thread: the log may lie on the disk that does not answer
                said = allocate_lock()
                said.acquire()
                start_new_thread(self._speak, (said.release,))
                said.acquire(timeout=LAST_WORDS_S)
            os._exit(0)

    def _speak(self, done: Callable[[], None]) -> None:
        try:
            self._last_words()
        finally:
            done()
