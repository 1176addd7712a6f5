"""What a `stat` says of a file or folder: whether it is still the one that was read."""

from __future__ import annotations

from engine import lean_os as os

TYPE_CHECKING = False
if TYPE_CHECKING:
    Stamp = tuple[int, int, int]
    """Size in bytes (-1 for what is not there), modification and change time in ns."""

ABSENT = (-1, 0, 0)
UNSETTLED = -1
"""A change time that no file has: what was read may have changed since without its times telling."""

TICK_NS, COARSE_TICK_NS = 50_000_000, 2_100_000_000
"""Within how long two writes may get the same time: a kernel's tick and more, or where times are whole seconds 2 s."""


def stamp(path: str) -> Stamp:
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
