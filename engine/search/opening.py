"""Opening the index of a root: up to date for the app and the commands, in time for the hook.

The code that brings an index up to date is imported only where one is behind: most prompts find it fresh.
"""

from __future__ import annotations

import os
import sys
import time

from engine.lean.sqlite import BUSY_SECONDS, DAMAGE, DatabaseError, for_reading
from engine.paths import cache_dir, root_key
from engine.search.database import check, is_openable
from engine.search.index import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

INDEX_FILE = "index.db"
WAIT_SECONDS, BUILDS_WAITED = 5.0, 2
"""The app waits for another process that writes the index: so many seconds, and as long as so many builds take. Then it
builds an index in memory."""

SYNC_SHARE = 0.5
"""The share of its deadline that the hook gives to bringing the index up to date."""

LOCK_SHARE = 0.1
"""The share of it that the hook waits for another process that does the same."""

SCAN_SECONDS, BUILD_SECONDS = 12e-6, 1.2e-3
"""Upper bounds for one memory: to see that its file did not change, and to read it into the index."""

UPDATE = "import sys; sys.path.insert(0, sys.argv[1]); from engine.search.opening import main; main(*sys.argv[2:])"


def index_file(root: str, environ: Mapping[str, str]) -> str:
    return os.path.join(cache_dir(environ), root_key(root), INDEX_FILE)


def open_index(root: str, environ: Mapping[str, str]) -> Index:
    """The index of *root*, up to date with every file; in memory where the cache cannot be used. Raises RootError."""
    from engine.search.sync import discard, is_damage, update
    from engine.stores.roots import read_corpus, readable_root

    resolved = readable_root(root)
    path = index_file(resolved, environ)

    def recover(error: Exception) -> Index:
        if is_damage(error):
            discard(path)
        return open_index(resolved, environ)

    try:
        update(path, resolved, wait_s=WAIT_SECONDS + BUILDS_WAITED * build_seconds(resolved), merges=True)
        return _opened(path, resolved, recover)
    except (*DAMAGE, OSError):
        return Index(read_corpus(resolved))


def hook_index(
    root: str, environ: Mapping[str, str], deadline_s: float, clock: Callable[[], float] = time.monotonic
) -> Index | None:
    """An index to answer one prompt from, within *deadline_s* seconds; None if there is none yet.

    Where a few `stat` calls show that it is behind, it is brought up to date; without the time for that, a process of
    its own does it, and the index answers as it is. Either way changed files are read again before they are shown.
    Raises only errors of reading the root into memory.
    """
    until = clock() + SYNC_SHARE * deadline_s
    path = index_file(root, environ)
    index = _existing(path, root, deadline_s)
    if index and index.is_fresh():
        return index
    if (len(index) * SCAN_SECONDS if index else build_seconds(root)) > SYNC_SHARE * deadline_s:
        start_update(path, root)
        return index
    if index:
        index.close()
    return _updated(path, root, deadline_s, lambda: until - clock())


def build_seconds(root: str) -> float:
    """How long it takes at most to read the memories of *root* and to index them."""
    from engine.stores.files import is_inside
    from engine.stores.registry import store_of

    try:
        places = [os.path.join(root, place) for place in store_of(root).places(())]
        folders = [place for place in places if os.path.isdir(place) and is_inside(root, place)]
        return sum(len(os.listdir(folder)) for folder in folders) * BUILD_SECONDS
    except OSError:
        return 0.0


def start_update(path: str, root: str) -> None:
    """Let a process of its own bring the index up to date, even after this process ended."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    command = [sys.executable, "-I", "-S", "-c", UPDATE, package, path, root]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    try:
        os.posix_spawn(sys.executable, command, dict(os.environ), file_actions=nothing, setsid=True)
    except (OSError, NotImplementedError):
        return


def main(path: str, root: str) -> None:
    """The process that `start_update` starts. It gives way: in time, and to a process that writes the index already."""
    from engine.search.sync import update

    try:
        os.nice(10)
        update(path, root, wait_s=0.0, merges=True)
    except (*DAMAGE, OSError):
        return


def _updated(path: str, root: str, deadline_s: float, seconds_left: Callable[[], float]) -> Index | None:
    """The index, brought up to date; as it is, where there is no time or another process writes it.

    Where no index can be written, one in memory.
    """
    from engine.search.sync import OutOfTimeError, is_busy, update

    try:
        update(path, root, wait_s=LOCK_SHARE * deadline_s, is_over=lambda: seconds_left() < 0)
    except OutOfTimeError:
        start_update(path, root)
    except (*DAMAGE, OSError) as error:
        if not is_busy(error) and (index := _in_memory(root, seconds_left())):
            return index
    return _existing(path, root, deadline_s)


def _in_memory(root: str, seconds_left: float) -> Index | None:
    """An index in memory; None where there is no time to read the root."""
    from engine.stores.roots import read_corpus

    return Index(read_corpus(root)) if build_seconds(root) <= seconds_left else None


def _existing(path: str, root: str, deadline_s: float) -> Index | None:
    """The index at *path* for the hook; None if there is none that can be used."""
    wait_s = LOCK_SHARE * deadline_s

    def recover(error: Exception) -> Index:
        from engine.memory import Corpus
        from engine.search.sync import discard, is_damage

        if is_damage(error):
            discard(path)
            start_update(path, root)
        return Index(Corpus(root, ()))

    def renew(names: set[bytes]) -> Index | None:
        from engine.search.sync import update

        try:
            update(path, root, wait_s=wait_s, only=names)
        except (*DAMAGE, OSError):
            return _in_memory(root, SYNC_SHARE * deadline_s)
        return _existing(path, root, deadline_s)

    try:
        return _opened(path, root, recover, renew, wait_s=min(BUSY_SECONDS, wait_s))
    except DAMAGE:
        return None


def _opened(
    path: str,
    root: str,
    recover: Callable[[Exception], Index],
    renew: Callable[[set[bytes]], Index | None] | None = None,
    *,
    wait_s: float = BUSY_SECONDS,
) -> Index:
    if not is_openable(path):
        raise DatabaseError("the index is no file")
    db = for_reading(path, wait_s=wait_s)
    try:
        check(db, root)
        return Index.over(db, root, recover=recover, renew=renew)
    except DAMAGE:
        db.close()
        raise
