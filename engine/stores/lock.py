"""The lock on a root, against two programs that change its memories at the same time.

Processes of memsift exclude each other by a file lock, which the system frees when a process dies. Other programs know
a folder in the root: the program that makes it holds the lock. A folder older than a minute was left behind, and is
removed. memsift notes which folder it made, so it need not wait for the folder of a memsift that was killed.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.errors import RootLockedError
from engine.paths import state_dir
from engine.stores.files import open_private

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WAIT_S, STALE_S, POLL_S = 5.0, 60.0, 0.02
NOTE_BYTES = 64
LOCK_FILE = "writing.lock"


@contextmanager
def locked(root: str, folder: str, environ: Mapping[str, str], wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock on *root*, which is resolved. *folder*: the name of the other programs' lock in it, or empty.

    *wait_s*: how long to wait for another holder. Raises RootLockedError.
    """
    deadline = time.monotonic() + wait_s
    path = os.path.join(state_dir(root, environ), LOCK_FILE)
    try:
        note = open_private(path, os.O_RDWR)  # its content names the folder that a memsift made
    except OSError as error:
        raise RootLockedError(f"The lock file {path} cannot be made ({error.strerror}). Check its folder.") from None
    try:
        _wait_for_file(note, root, deadline)
        if folder:
            _make(os.path.join(root, folder), note, deadline)
        try:
            yield
        finally:
            if folder:
                _remove(os.path.join(root, folder), note)
    finally:
        os.close(note)


def _wait_for_file(note: int, root: str, deadline: float) -> None:
    from fcntl import LOCK_EX, LOCK_NB, flock

    while True:
        try:
            return flock(note, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise RootLockedError(f"Another memsift is changing {root}. Try again when it has finished.") from None
            time.sleep(POLL_S)
        except OSError as error:
            raise RootLockedError(
                f"The state folder of {root} cannot be locked ({error.strerror}), so nothing was changed: another "
                "memsift could be at work there. XDG_STATE_HOME names a folder on another disk."
            ) from None


def _make(path: str, note: int, deadline: float) -> None:
    """Make the lock folder and note its identity. Waits for another holder. Raises RootLockedError."""
    earlier = os.pread(note, NOTE_BYTES, 0)
    while True:
        try:
            os.mkdir(path)
        except FileExistsError:
            if _is_abandoned(path, earlier):
                continue
            if time.monotonic() >= deadline:
                problem = f"Another program is changing these memories: it holds {path}. Try again."
                raise RootLockedError(f"{problem} A lock older than {STALE_S:.0f} seconds is taken over.") from None
            time.sleep(POLL_S)
        except OSError as error:
            place = os.path.dirname(path)
            raise RootLockedError(f"{place} cannot be written ({error.strerror}). Nothing was changed.") from None
        else:
            os.pwrite(note, _identity(path), 0)
            return


def _is_abandoned(path: str, noted: bytes) -> bool:
    """Remove the lock folder if its holder is dead; whether it is gone. *noted*: the note of an earlier memsift."""
    try:
        if noted != _identity(path) and time.time() - os.lstat(path).st_mtime <= STALE_S:
            return False
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _remove(path: str, note: int) -> None:
    """Remove the lock folder, unless another program has taken it over."""
    try:
        if _identity(path) == os.pread(note, NOTE_BYTES, 0):
            os.rmdir(path)
    except OSError:
        pass
    os.ftruncate(note, 0)


def _identity(path: str) -> bytes:
    """Inode and time of the lock folder, as a note."""
    found = os.lstat(path)
    return f"{found.st_ino} {found.st_mtime_ns}".encode().ljust(NOTE_BYTES)
