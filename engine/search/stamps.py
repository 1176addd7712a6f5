"""What a `stat` says of a file or folder: whether it is still the one that was read, or the one that was written."""

from __future__ import annotations

import os

from engine.stores.files import is_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    Stamp = tuple[int, int, int]
    """Size in bytes (-1 for what is not there), modification and change time in ns."""

ABSENT = (-1, 0, 0)
UNSETTLED = -1
"""A change time that no file has: what was read may have changed since without its times telling."""

TICK_NS, COARSE_TICK_NS = 50_000_000, 2_100_000_000
"""Within how long two writes may get the same time: a kernel's tick and more, or where times are whole seconds 2 s."""

SEAL_NS = 10**18
"""The modification time of a sealed file: 2001-09-09 01:46:40 UTC, which systems of whole even seconds hold too."""


def stamp(path: str | bytes) -> Stamp:
    """The stamp of a file, with links followed."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ABSENT
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def settled(found: Stamp, now_ns: int) -> Stamp:
    """The stamp to store for what is read after *now_ns*; for what changed just then, one that never fits again.

    A clock that was set back shows a change in the future: that is settled as well, because the next change cannot get
    the same time before the clock has caught up, and then it is within the tick again.
    """
    size, modified, changed = found
    tick = COARSE_TICK_NS if modified % 1_000_000_000 == 0 else TICK_NS
    return (size, modified, UNSETTLED) if size >= 0 and abs(now_ns - changed) < tick else found


def seal(path: str) -> None:
    """Mark a file as whole: whoever writes into it after this, or cuts it, leaves another time. OSError."""
    os.utime(path, ns=(SEAL_NS, SEAL_NS))


def is_sealed(path: str, *, or_empty: bool = False) -> bool:
    """Whether *path* is a file into which nobody wrote since it was sealed; *or_empty*: or one that holds nothing."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return or_empty
    return is_regular(found) and (found.st_mtime_ns == SEAL_NS or (or_empty and not found.st_size))


def at_rest(index: str, now_ns: int) -> Stamp | None:
    """The stamp of an index that can be read without locks, because it gets another one before anything in it changes.

    None where it changed a moment ago, or its log holds something.
    """
    found = settled(stamp(index), now_ns)
    is_at_rest = found[2] != UNSETTLED and is_whole(index) and stamp(f"{index}-wal")[0] <= 0
    return found if is_at_rest else None


def is_whole(index: str) -> bool:
    """Whether an index is as its last writer left it. Beside it may lie an empty log, which a reader made."""
    return is_sealed(f"{index}-wal", or_empty=True) and is_sealed(index) and not os.path.lexists(f"{index}-journal")
