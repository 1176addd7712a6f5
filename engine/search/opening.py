"""Opening the index of a root on disk: up to date for the app and the commands, fast for the hook.

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
import time

from engine.paths import cache_dir, root_key
from engine.search import schema
from engine.search.index import Index, in_memory_database
from engine.search.lock import BusyError, Lock, is_held
from engine.search.sqlite import DAMAGE, DatabaseError, for_reading, for_writing
from engine.search.stamps import is_sealed, seal
from engine.search.sync import OutOfTimeError, is_fresh, never, sync
from engine.stores.files import is_inside
from engine.stores.roots import read_corpus, readable_root, store_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.search.sqlite import Connection

INDEX_FILE = "index.db"
SIDE_FILES = ("-journal", "-wal", "-shm")
WAIT_SECONDS = 5.0
"""How long the app waits for another process that writes the index, before it builds one in memory."""

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

UPDATE = "import sys; sys.path.insert(0, sys.argv[1]); from engine.search.opening import main; main(*sys.argv[2:])"


def index_file(root: str, environ: Mapping[str, str]) -> str:
    return os.path.join(cache_dir(environ), root_key(root), INDEX_FILE)


def open_index(root: str, environ: Mapping[str, str]) -> Index:
    """The index of *root*, up to date with every file; in memory where the cache cannot be used. Raises RootError."""
    resolved = readable_root(root)
    path = index_file(resolved, environ)
    try:
        update(path, resolved, wait_s=WAIT_SECONDS)
        return _opened(path, resolved, recover=lambda: _rebuilt(path, resolved))
    except FAILURES:
        return Index(read_corpus(resolved))


def hook_index(
    root: str, environ: Mapping[str, str], deadline_s: float, clock: Callable[[], float] = time.monotonic
) -> Index | None:
    """An index to answer one prompt from, within *deadline_s* seconds; None if there is none yet.

    It is brought up to date if a few `stat` calls say that it is behind and there is time; else it answers from what
    it has (each memory is compared with its file before it is given out), and a process of its own brings it up to
    date. Raises nothing but what reading the root in memory would.
    """
    until = clock() + SYNC_SHARE * deadline_s
    path = index_file(root, environ)
    index = _existing(path, root)
    if index is not None and _is_fresh(index):
        return index
    expected = len(index) * SCAN_SECONDS if index is not None else _build_seconds(root)
    if expected > SYNC_SHARE * deadline_s:
        start_update(root, path)
        return index
    if index is not None:
        index.close()
    try:
        update(path, root, wait_s=LOCK_SHARE * deadline_s, may_count=False, is_over=lambda: clock() > until)
        index = _readable(path, root)
    except (BusyError, OutOfTimeError):
        start_update(root, path)
        return _existing(path, root)
    except FAILURES:
        index = None
    if index is None and _build_seconds(root) <= until - clock():
        return Index(read_corpus(root))
    return index if index is not None else _existing(path, root)


def catch_up(index: Index, environ: Mapping[str, str]) -> None:
    """Let an index that answered from files that had changed be brought up to date by another process."""
    if index.was_behind:
        start_update(index.root, index_file(index.root, environ))


def update(path: str, root: str, *, wait_s: float, may_count: bool = True, is_over: Callable[[], bool] = never) -> None:
    """Build or update the index at *path*; one that is damaged, foreign or of another version is built anew.

    Raises DatabaseError, OSError, BusyError, OutOfTimeError; the index is what it was, then.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with Lock(f"{path}.lock", wait_s):
        if not _is_whole(path):
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


def _is_whole(path: str) -> bool:
    """Whether the index is as its last writer left it. Beside it may lie an empty log, which a reader made."""
    is_logged_whole = is_sealed(f"{path}-wal", or_empty=True)
    return is_logged_whole and is_sealed(path) and not os.path.lexists(f"{path}-journal")


def _seal(path: str) -> None:
    for written in (path, f"{path}-wal"):
        if os.path.exists(written):
            seal(written)


def _discard(path: str) -> None:
    """Delete an index. The file goes first: SQLite deletes a journal without a database, and plays none back."""
    for suffix in ("", *SIDE_FILES):
        if os.path.lexists(path + suffix):
            os.unlink(path + suffix)


def _existing(path: str, root: str) -> Index | None:
    """The index at *path* as it is; None if there is none that can be trusted.

    The log that some process writes now is not sealed; what was committed before can be read all the same.
    """
    may_be_read = _is_whole(path) or (is_sealed(path) and is_held(f"{path}.lock"))
    return _readable(path, root) if may_be_read else None


def _readable(path: str, root: str) -> Index | None:
    """The index at *path*; None if it does not read."""
    try:
        return _opened(path, root, recover=lambda: _nothing(root, path), checked=True)
    except DAMAGE:
        return None


def _is_fresh(index: Index) -> bool:
    try:
        return is_fresh(index.database, index.root)
    except DAMAGE:
        return False


def _opened(path: str, root: str, *, recover: Callable[[], Connection], checked: bool = False) -> Index:
    is_writable = os.access(os.path.dirname(path), os.W_OK) or os.path.exists(f"{path}-wal")
    db = for_reading(path, immutable=not is_writable)
    try:
        if not schema.is_ours(db, root):
            raise DatabaseError("the index is not of this root or version")
        return Index.over(db, root, recover=recover, checked=checked)
    except DAMAGE:
        db.close()
        raise


def _rebuilt(path: str, root: str) -> Connection:
    """What stands in for a damaged index: one in memory. The file is left to the next who opens it."""
    _try_to_discard(path)
    return in_memory_database(read_corpus(root))


def _nothing(root: str, path: str) -> Connection:
    """What stands in for a damaged index where there is no time: nothing, while another process builds it anew."""
    from engine.memory import Corpus

    _try_to_discard(path)
    start_update(root, path)
    return in_memory_database(Corpus(root, ()))


def _try_to_discard(path: str) -> None:
    try:
        with Lock(f"{path}.lock", 0.0):
            _discard(path)
    except (OSError, BusyError):
        pass


def _build_seconds(root: str) -> float:
    """How long it takes at most to read the memories of *root* and index them."""
    return _count(root) * BUILD_SECONDS


def _count(root: str) -> int:
    """About how many memories *root* has."""
    try:
        places = [os.path.join(root, place) for place in store_of(root).places(())]
        return sum(len(os.listdir(place)) for place in places if os.path.isdir(place) and is_inside(root, place))
    except OSError:
        return 0
