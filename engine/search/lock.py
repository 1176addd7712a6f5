"""A lock between processes that dies with its holder."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

POLL_SECONDS = 0.02


class BusyError(Exception):
    """Another process has the lock."""


def is_held(path: str) -> bool:
    """Whether some process has the lock at *path*."""
    try:
        with Lock(path, 0.0):
            return False
    except BusyError:
        return True
    except OSError:
        return False


class Lock:
    """Holds the lock file at *path* in a `with`. Raises BusyError after *wait_s* seconds, OSError without the file."""

    def __init__(self, path: str, wait_s: float) -> None:
        self._path = path
        self._wait_s = wait_s
        self._descriptor = -1

    def __enter__(self) -> None:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._wait()
        except BaseException:
            os.close(self._descriptor)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def _wait(self) -> None:
        until = time.monotonic() + self._wait_s
        while not self._is_taken():
            if time.monotonic() >= until:
                raise BusyError
            time.sleep(POLL_SECONDS)

    def _is_taken(self) -> bool:
        try:
            import fcntl  # Windows has none: there SQLite's own locks have to do

            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except ImportError:
            return True
        return True
