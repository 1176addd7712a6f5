"""A call in a thread of its own, to be waited for no longer than a deadline."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from engine.judge.deadline import Deadline


class Later:
    """A call in a thread of its own: one that may hang, as a name lookup does for half a minute where no name server
    answers, or one that has something to do meanwhile, as reading the system's certificates has.
    """

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._outcome: tuple[Any, Exception | None] = (None, None)
        self._done = allocate_lock()
        self._done.acquire()
        start_new_thread(self._run, ())

    def result(self, deadline: Deadline) -> Any:
        """What the call returned or raised; TimeoutError if it takes longer than the deadline."""
        if not self._done.acquire(timeout=deadline.check()):
            raise TimeoutError
        value, error = self._outcome
        if error:
            raise error
        return value

    def _run(self) -> None:
        try:
            self._outcome = (self._call(), None)
        except Exception as error:  # noqa: BLE001 - raised in the thread that asks for the result
            self._outcome = (None, error)
        finally:
            self._done.release()
