"""What a `stat` says of a file or folder: whether it is still the one that was read."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engine.lean.sqlite import Connection

    Stamp = tuple[int, int, int]
    """Size in bytes (-1 without a file), modification and change time in ns."""

ABSENT = (-1, 0, 0)
UNSETTLED = -1
"""A change time that no file has: its file may change without a new time, so it is read again."""

TICK_NS, COARSE_TICK_NS = 50_000_000, 2_100_000_000
"""Two writes within this time may get the same time: a tick of the kernel and more, or 2 s where times are whole
seconds."""


def stamp(path: str | bytes) -> Stamp:
    """The stamp of a file, with links followed."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ABSENT
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def settled_stamp(path: str | bytes) -> Stamp:
    """The stamp to store for a file that is read now. For a file that changed just now, one that never fits again.

    A change in the future, after a clock was set back, is settled: the next change cannot get the same time before the
    clock has caught up, and then it is within the tick again.
    """
    now_ns = time.time_ns()
    found = stamp(path)
    size, modified, changed = found
    tick = COARSE_TICK_NS if modified % 1_000_000_000 == 0 else TICK_NS
    return (size, modified, UNSETTLED) if size >= 0 and abs(now_ns - changed) < tick else found


def is_fresh(db: Connection, root: str) -> bool:
    """Whether no folder and no list of *root* changed since it was read: a few `stat` calls.

    It sees any file that comes, goes or is renamed into place, but no file that is rewritten where it is.
    """
    places = db.execute("select name, size, mtime, ctime from place").fetchall()
    return bool(places) and all(stamp(os.path.join(root, os.fsdecode(name))) == tuple(known) for name, *known in places)
