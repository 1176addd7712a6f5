"""Opening the index of a root on disk: up to date for the app and the commands, fast for the hook.

What brings an index up to date is imported where one is behind: most prompts find it fresh.
"""

from __future__ import annotations

import os
import time

from engine.lean.sqlite import DAMAGE, DatabaseError, for_reading
from engine.paths import cache_dir, root_key
from engine.search import schema
from engine.search.index import Index, in_memory_database
from engine.search.recheck import is_fresh
from engine.search.stamps import at_rest, is_sealed, is_whole, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.lean.sqlite import Connection
    from engine.search.stamps import Stamp

INDEX_FILE = "index.db"
WAIT_SECONDS = 5.0
"""How long the app waits for another process that writes the index, before it looks how large the root is."""

BUILDS_WAITED = 2
"""Then it waits as long as so many builds take, and only then builds one in memory, which is lost when it ends: among
50,000 memories 49 s. What a hook started gives way to others: it took 54 s alone, 115 s beside a long test run."""


def index_file(root: str, environ: Mapping[str, str]) -> str:
    return os.path.join(cache_dir(environ), root_key(root), INDEX_FILE)


def open_index(root: str, environ: Mapping[str, str]) -> Index:
    """The index of *root*, up to date with every file; in memory where the cache cannot be used. Raises RootError."""
    from engine.search.updating import FAILURES
    from engine.stores.roots import read_corpus, readable_root

    resolved = readable_root(root)
    path = index_file(resolved, environ)
    try:
        _update_patiently(path, resolved)
        return _opened(path, resolved, recover=lambda: _rebuilt(path, resolved))
    except FAILURES:
        return Index(read_corpus(resolved))


def hook_index(
    root: str,
    environ: Mapping[str, str],
    deadline_s: float,
    clock: Callable[[], float] = time.monotonic,
    *,
    is_brief: bool = False,
) -> Index | None:
    """An index to answer one prompt from, within *deadline_s* seconds; None if there is none yet.

    It is brought up to date if a few `stat` calls say that it is behind and there is time; else it answers from what
    it has (each memory is compared with its file before it is given out), and a process of its own brings it up to
    date. *is_brief*: it is read for some milliseconds, so without locks where nobody writes; `catch_up` says if
    somebody began to. Raises nothing but what reading the root in memory would.
    """
    path = index_file(root, environ)
    index = _existing(path, root, is_brief=is_brief)
    return index if index is not None and _is_fresh(index) else _updated(index, path, root, deadline_s, clock)


def catch_up(
    index: Index, environ: Mapping[str, str], deadline_s: float, clock: Callable[[], float] = time.monotonic
) -> Index:
    """What to answer from again where *index* turned out to be behind, as after an edit that no folder shows.

    It is up to date if there is time for that within *deadline_s* seconds, and *index* is closed then; else it is
    *index* itself, and a process of its own brings it up to date. Where *index* was read without locks and somebody
    wrote into it meanwhile, it is closed, and what to answer from is the index as it is now.
    """
    is_overtaken = index.is_overtaken()
    if not (is_overtaken or index.was_behind):
        return index
    from engine.memory import Corpus

    path = index_file(index.root, environ)
    if is_overtaken:
        index.close()
        found = _readable(path, index.root)
    else:
        found = _updated(index, path, index.root, deadline_s, clock)
    return Index(Corpus(index.root, ())) if found is None else found


def _update_patiently(path: str, root: str) -> None:
    from engine.search.lock import BusyError
    from engine.search.updating import build_seconds, update

    try:
        update(path, root, wait_s=WAIT_SECONDS)
    except BusyError:
        update(path, root, wait_s=BUILDS_WAITED * build_seconds(root))


def _updated(index: Index | None, path: str, root: str, deadline_s: float, clock: Callable[[], float]) -> Index | None:
    """The index, brought up to date if there is time for it; None if there is none yet."""
    from engine.search import updating

    until = clock() + updating.SYNC_SHARE * deadline_s
    if updating.takes_too_long(root, None if index is None else len(index), deadline_s):
        updating.start_update(root, path)
        return index
    if index is not None:
        index.close()
    try:
        if not updating.update_in_time(path, root, deadline_s, is_over=lambda: clock() > until):
            return _existing(path, root)
        index = _readable(path, root)
    except updating.FAILURES:
        index = None
    return index if index is not None else _unwritten(path, root, until - clock())


def _unwritten(path: str, root: str, seconds: float) -> Index | None:
    """What to answer from where no index can be written: one in memory if that takes no more than *seconds*."""
    from engine.search.updating import build_seconds
    from engine.stores.roots import read_corpus

    return Index(read_corpus(root)) if build_seconds(root) <= seconds else _existing(path, root)


def _existing(path: str, root: str, *, is_brief: bool = False) -> Index | None:
    """The index at *path* as it is; None if there is none that can be trusted.

    The log that some process writes now is not sealed; what was committed before can be read all the same.
    """
    resting = at_rest(path, time.time_ns()) if is_brief else None
    index = _readable(path, root, resting) if resting else None
    if index is not None:
        return index
    return _readable(path, root) if is_whole(path) or (is_sealed(path) and _is_being_written(path)) else None


def _is_being_written(path: str) -> bool:
    from engine.search.lock import is_held

    return is_held(f"{path}.lock")


def _readable(path: str, root: str, resting: Stamp | None = None) -> Index | None:
    """The index at *path*; None if it does not read. It is read without locks where it rests with a certain stamp."""

    def is_overtaken() -> bool:
        return resting is not None and stamp(path) != resting

    def stand_in() -> Connection:
        return _empty(root) if is_overtaken() else _nothing(root, path)

    try:
        index = _opened(path, root, recover=stand_in, checked=True, immutable=resting is not None)
    except DAMAGE:
        return None
    index.is_overtaken = is_overtaken
    return index


def _is_fresh(index: Index) -> bool:
    try:
        return is_fresh(index.database, index.root)
    except DAMAGE:
        return False


def _opened(
    path: str, root: str, *, recover: Callable[[], Connection], checked: bool = False, immutable: bool = False
) -> Index:
    immutable = immutable or not (os.access(os.path.dirname(path), os.W_OK) or os.path.exists(f"{path}-wal"))
    db = for_reading(path, immutable=immutable, one_answer=checked)
    try:
        if not schema.is_ours(db, root):
            raise DatabaseError("the index is not of this root or version")
        return Index.over(db, root, recover=recover, checked=checked)
    except DAMAGE:
        db.close()
        raise


def _rebuilt(path: str, root: str) -> Connection:
    """What stands in for a damaged index: one in memory. The file is left to the next who opens it."""
    from engine.search.updating import try_to_discard
    from engine.stores.roots import read_corpus

    try_to_discard(path)
    return in_memory_database(read_corpus(root))


def _nothing(root: str, path: str) -> Connection:
    """What stands in for a damaged index where there is no time: nothing, while another process builds it anew."""
    from engine.search.updating import start_update, try_to_discard

    try_to_discard(path)
    start_update(root, path)
    return _empty(root)


def _empty(root: str) -> Connection:
    from engine.memory import Corpus

    return in_memory_database(Corpus(root, ()))
