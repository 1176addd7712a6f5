"""Building the index of a root on disk and bringing it up to date.

What survives a killed writer, and why it is done so. The first build and every update is one write transaction in the
one file: a reader sees what was before it or what is after it, and SQLite rolls back what a killed process left. A
file built aside and renamed into place would not be safer: SQLite finds its journal by the database's name, and a
journal that a killed writer left would be played into the new file. The first build keeps a rollback journal, which
costs nothing while the file is empty; then the file goes over to a write-ahead log, in which a reader never waits for
a writer. All writers take a lock of their own first, which dies with the process; so a file that turns out damaged or
foreign is deleted by one process alone.

What survives damage. SQLite sees it in what it reads only if it makes no sense: a term that was overwritten within the
full-text tables is one that no memory has. So a writer that is done seals its files (`engine.search.stamps`), and a
file without its seal is never asked: the next writer builds it anew.
"""

from __future__ import annotations

import os
import sys

from engine.lean.sqlite import DAMAGE, DatabaseError, for_writing
from engine.search import schema
from engine.search.lock import BusyError, Lock
from engine.search.stamps import is_whole, seal
from engine.search.sync import OutOfTimeError, never, sync
from engine.stores.files import is_inside
from engine.stores.registry import store_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.lean.sqlite import Connection

SIDE_FILES = ("-journal", "-wal", "-shm")
SYNC_SHARE = 0.5
"""How much of its deadline the hook gives to bringing the index up to date."""

LOCK_SHARE = 0.1
"""How much of it, to waiting for another process that does the same."""

SCAN_SECONDS, BUILD_SECONDS = 12e-6, 1.2e-3
"""What a memory costs at most: to see that it did not change, and to read it into the index."""

NOT_DAMAGED = (3, 5, 6, 7, 8, 9, 13, 14)
"""SQLite's PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, FULL, CANTOPEN: deleting the file would not help."""

IO_ERROR, SHORT_READ, READ_ERROR = 10, 522, 266
FAILURES = (*DAMAGE, OSError, BusyError, OutOfTimeError)

UPDATE = "import sys; sys.path.insert(0, sys.argv[1]); from engine.search.updating import main; main(*sys.argv[2:])"


def update(path: str, root: str, *, wait_s: float, may_count: bool = True, is_over: Callable[[], bool] = never) -> None:
    """Build or update the index at *path*; one that is damaged, foreign or of another version is built anew.

    Raises DatabaseError, OSError, BusyError, OutOfTimeError; the index is what it was, then.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with Lock(f"{path}.lock", wait_s):
        if not is_whole(path):
            _discard(path)
        try:
            _update(path, root, may_count, is_over)
        except DAMAGE as error:
            if not _is_damage(error):
                raise
            _discard(path)
            _update(path, root, may_count, is_over)
        finally:
            _seal(path)


def takes_too_long(root: str, known: int | None, deadline_s: float) -> bool:
    """Whether the hook must leave the update to another process. *known*: memories in the index, None without one."""
    expected = build_seconds(root) if known is None else known * SCAN_SECONDS
    return expected > SYNC_SHARE * deadline_s


def build_seconds(root: str) -> float:
    """How long it takes at most to read the memories of *root* and index them."""
    return _count(root) * BUILD_SECONDS


def update_in_time(path: str, root: str, deadline_s: float, is_over: Callable[[], bool]) -> bool:
    """Update the index within the hook's share of its deadline; False where another process has to.

    Raises DatabaseError and OSError; the index is what it was, then.
    """
    try:
        update(path, root, wait_s=LOCK_SHARE * deadline_s, may_count=False, is_over=is_over)
    except (BusyError, OutOfTimeError):
        start_update(root, path)
        return False
    return True


def start_update(root: str, path: str) -> None:
    """Let a process of its own bring the index up to date. Nothing waits for it, and it needs nothing of this one."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    command = [sys.executable, "-I", "-S", "-c", UPDATE, package, root, path]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    try:
        os.posix_spawn(sys.executable, command, dict(os.environ), file_actions=nothing, setsid=True)
    except (OSError, NotImplementedError):
        return


def main(root: str, path: str) -> None:
    """The process that `start_update` starts. It gives way: to a process that writes the index already, and in time."""
    try:
        os.nice(10)
        update(path, root, wait_s=0.0)
    except FAILURES:
        pass


def try_to_discard(path: str) -> None:
    """Delete an index that is damaged, unless another process is at it."""
    try:
        with Lock(f"{path}.lock", 0.0):
            _discard(path)
    except (OSError, BusyError):
        pass


def _update(path: str, root: str, may_count: bool, is_over: Callable[[], bool]) -> None:
    db = for_writing(path)
    try:
        db.execute("begin immediate")
        if not db.execute("select 1 from sqlite_master").fetchone():
            schema.create(db, root)
        elif not schema.is_ours(db, root):
            raise DatabaseError("the index is not of this root or version")
        sync(db, root, may_count=may_count, is_over=is_over)
        db.execute("commit")
        if db.execute("pragma journal_mode").fetchone()[0] != "wal":
            _go_over_to_log(db)
    finally:
        db.close()


def _go_over_to_log(db: Connection) -> None:
    try:
        db.execute("pragma journal_mode = wal")
    except DatabaseError:
        return


def _is_damage(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 1)
    return code in (SHORT_READ, READ_ERROR) or code & 0xFF not in (*NOT_DAMAGED, IO_ERROR)


def _seal(path: str) -> None:
    for written in (path, f"{path}-wal"):
        if os.path.exists(written):
            seal(written)


def _discard(path: str) -> None:
    """Delete an index. The file goes first: SQLite deletes a journal without a database, and plays none back."""
    for suffix in ("", *SIDE_FILES):
        if os.path.lexists(path + suffix):
            os.unlink(path + suffix)


def _count(root: str) -> int:
    """About how many memories *root* has."""
    try:
        places = [os.path.join(root, place) for place in store_of(root).places(())]
        return sum(len(os.listdir(place)) for place in places if os.path.isdir(place) and is_inside(root, place))
    except OSError:
        return 0
