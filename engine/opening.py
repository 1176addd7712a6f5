"""Opening the index of a root: up to date for the app and the commands, in time for the hook.

The code that updates an index is imported only if the index is behind. Most prompts find it fresh.
"""

from __future__ import annotations

import os
import sys
import time

from engine.lean.sqlite import BUSY_SECONDS, DAMAGE, DatabaseError, for_reading, for_writing
from engine.paths import cache_dir, config_file, root_key, trust_file
from engine.search.database import check, is_openable
from engine.search.index import BEHIND, UNBUILT, Index, index_in_memory
from engine.stores.files import MAX_FILE_BYTES, has_locks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set
    from typing import Any

    from engine.memory import Corpus, Memory, MemorySummary
    from engine.search.sync import PhraseSource

INDEX_FILE = "index.db"
WAIT_SECONDS = 60.0
"""How long the app waits for another process that writes the index. After that it builds an index in memory."""

SYNC_SHARE = 0.5
"""The share of its deadline that the hook spends on updating the index."""

LOCK_SHARE = 0.1
"""The share of its deadline that the hook waits for another process that updates the index."""

SMALL, SMALL_FIRST = 5000, 300
"""The largest index that the hook updates itself, in memories; the largest root that it indexes first, in files."""

SMALL_BYTES = 20_000
"""A file of more bytes counts as several: it may hold many memories."""

KEEP_SECONDS = 1.0

MOST_PARTS = 500
"""Memories in a file that the hook reads again. In larger files it checks only the memories that it would show."""

UPDATE = "import sys; sys.path.insert(0, sys.argv[1]); from engine.opening import main; main(*sys.argv[2:])"


def index_file(root: str, environ: Mapping[str, str]) -> str:
    return os.path.join(cache_dir(environ), root_key(root), INDEX_FILE)


def open_index(root: str, environ: Mapping[str, str]) -> Index:
    """The index of *root*, up to date with every file; in memory where the cache cannot be used. Raises RootError."""
    from engine.quality.decisions import follow_rereading
    from engine.search.sync import discard, is_damage
    from engine.stores.roots import readable_root

    resolved = readable_root(root)
    path = index_file(resolved, environ)

    def recover(error: Exception) -> Index:
        if is_damage(error):
            discard(path)
        return open_index(resolved, environ)

    try:
        _update(path, resolved, environ, wait_s=_longest_wait(path), merges=True)
        index = _open(path, resolved, environ, recover=recover)
        try:
            follow_rereading(index, environ)
        except (*DAMAGE, OSError):
            index.close()
            raise
        return index
    except (*DAMAGE, OSError):
        return _index_in_memory(resolved, environ)


def _longest_wait(path: str) -> float:
    """How long the app waits for another writer, in seconds. Where files have no locks, none is ever seen to end."""
    return WAIT_SECONDS if has_locks(os.path.dirname(path)) else 0.0


def index_of(
    corpus: Corpus,
    module: str = "fts5",
    is_accepted: Callable[[MemorySummary], bool] = lambda _: False,
    phrases: Mapping[str, Sequence[str]] | None = None,
) -> Index:
    """The index of *corpus*, in memory: see `index_in_memory`. The safety scan gives the risk of its memories."""
    from engine.quality.safety.gate import early_risk, risk

    return index_in_memory(corpus, early_risk, risk, module, is_accepted, phrases or {})


def _update(path: str, root: str, environ: Mapping[str, str], **how: Any) -> bool:
    """As `engine.search.sync.update`, with the risk of the memories. Few prompts need it, so it is loaded only then."""
    from engine.quality.safety.gate import early_risk
    from engine.search.sync import update

    return update(path, root, early_risk, phrases=_phrases_of(root, environ), **how)


def _phrases_of(root: str, environ: Mapping[str, str]) -> PhraseSource:
    """The phrases of a root that count: in a root that is neither the user's own nor trusted, only the user's own."""
    from engine.phrases.file import phrases_files, read_phrases
    from engine.search.sync import PhraseSource
    from engine.settings.roots import is_own_root

    files = phrases_files(root, environ)
    watched = (*files, trust_file(environ), config_file(environ)) if any(map(os.path.lexists, files)) else files

    def read() -> Mapping[str, Sequence[str]]:
        found = read_phrases(root, environ)
        if not found.rows or is_own_root(root, environ):
            return found.counted
        return read_phrases(root, environ, is_own=False).counted

    return PhraseSource(watched, read)


def make_scan(path: str) -> Callable[[list[Memory]], dict[str, float]]:
    """The safety scan of memories, as a function: digest -> risk, which the index at *path* keeps, if it can.

    The index is written at most once in KEEP_SECONDS: writing a risk takes longer than the scan. A last call without
    memories writes the rest. Threads may share the function.
    """
    found: list[tuple[float, str, str]] = []
    written = -KEEP_SECONDS

    def scan(memories: list[Memory]) -> dict[str, float]:
        from engine.quality.safety.gate import risk

        nonlocal written
        new = [(risk(memory), memory.summary.id, memory.summary.digest) for memory in memories]
        found.extend(new)
        if found and (not memories or time.monotonic() > written + KEEP_SECONDS):
            kept = found[:]
            del found[: len(kept)]  # what a thread adds in between may be lost, and is then scanned once more
            try:
                db = for_writing(path, wait_s=0.0)
                try:
                    db.execute("begin immediate")
                    db.executemany("update memory set risk = ? where id = ? and digest = ?", kept)
                    db.execute("commit")
                finally:
                    db.close()
            except DAMAGE:
                pass
            written = time.monotonic()
        return {digest: scanned for scanned, _, digest in new}

    return scan


def files_to_build(root: str, environ: Mapping[str, str]) -> int:
    """The number of files that the first index of *root* is built from; 0 if there is an index, or no root."""
    resolved = os.path.realpath(root)
    is_first = os.path.isdir(resolved) and not os.path.exists(index_file(resolved, environ))
    return len(_names(resolved)) if is_first else 0


def _names(root: str) -> Set[str]:
    """The files that may hold memories; empty for a root that cannot be read."""
    from engine.stores.registry import store_of

    try:
        return store_of(root).listing(root).names
    except OSError:
        return frozenset()


def build(
    root: str, environ: Mapping[str, str], tell: Callable[[int, int], None], is_over: Callable[[], bool] = lambda: False
) -> None:
    """Build the index of *root*, and tell the number of files that were read, and of all. The next opening finds it.

    Nothing is kept if *is_over* ends the work. An index that cannot be written is left to `open_index`.
    """
    from engine.search.sync import OutOfTimeError, Watch

    resolved = os.path.realpath(root)
    try:
        _update(index_file(resolved, environ), resolved, environ, wait_s=0.0, watch=Watch(tell, is_over))
    except (*DAMAGE, OSError, OutOfTimeError):
        return


def reread(root: str, environ: Mapping[str, str], names: Set[bytes] | None = None) -> bool:
    """Bring the index file of *root* up to date with the files *names*, or with all; False where that is impossible.

    An index that is open on the file sees the new state at its next question.
    """
    path = index_file(root, environ)
    try:
        _update(path, root, environ, wait_s=_longest_wait(path), only=names, merges=True)
    except (*DAMAGE, OSError):
        return False
    return True


def hook_index(root: str, environ: Mapping[str, str], deadline_s: float) -> Index | None:
    """The index for one prompt; None if there is none yet, and a process builds it. It is ready within *deadline_s* s.

    If a few `stat` calls show that a small index is behind, it is updated now. Of a large one, the fresh part is shown,
    and a process of its own updates it. In both cases a changed file is read again before its memory is shown. Raises
    only errors of reading the root.
    """
    path = index_file(root, environ)
    index = _open_existing(path, root, environ, deadline_s)
    if index is not None and index.is_fresh():
        return index
    if index is None and os.path.exists(path) and is_openable(path):
        from engine.search.sync import is_locked

        if is_locked(path):  # another process builds it
            return None
    if not (_is_small(root) if index is None else len(index) <= SMALL and index.most_in_a_file() <= MOST_PARTS):
        start_update(path, root)
        return _mark_behind(index)
    if index is not None:
        index.close()
    return _update_in_time(path, root, environ, deadline_s)


def empty_index(root: str) -> Index:
    """An index without memories, in the place of one that there is not yet."""
    from engine.memory import Corpus

    index = index_of(Corpus(root, ()))
    index.lag = UNBUILT
    return index


def _mark_behind(index: Index | None) -> Index | None:
    if index is not None:
        index.lag = BEHIND
    return index


def _is_small(root: str) -> bool:
    """Whether a first index is soon built: of few files, none of which can hold many memories."""
    folders, left = [root], SMALL_FIRST
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders += [] if entry.name.startswith(".") else [entry.path]
                    else:
                        size = entry.stat(follow_symlinks=False).st_size
                        left -= 1 + (size // SMALL_BYTES if size <= MAX_FILE_BYTES else 0)  # a larger one is not read
                    if left < 0:  # to list very many files takes too long
                        return False
        except OSError:
            continue
    return True


def start_update(path: str, root: str) -> None:
    """Start a process that updates the index and may outlive this one. It finds installed packages, such as PyYAML."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    command = [sys.executable, "-I", "-c", UPDATE, package, path, root]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    try:
        os.posix_spawn(sys.executable, command, dict(os.environ), file_actions=nothing, setsid=True)
    except (OSError, NotImplementedError):
        return


def main(path: str, root: str) -> None:
    """Update the index at low priority, unless another process does. `start_update` runs this in its own process."""
    try:
        os.nice(10)
        _update(path, root, os.environ, wait_s=0.0, merges=True)
        open_index(root, os.environ).close()  # decisions follow memories that are now read differently
    except (*DAMAGE, OSError):
        return


def _update_in_time(path: str, root: str, environ: Mapping[str, str], deadline_s: float) -> Index | None:
    """The updated index. Without time, or while another process writes it, the index as it is.

    If no index can be written, one in memory.
    """
    from engine.search.sync import OutOfTimeError, Watch, is_busy

    until = time.monotonic() + SYNC_SHARE * deadline_s
    try:
        is_over = Watch(is_over=lambda: time.monotonic() > until)
        if _update(path, root, environ, wait_s=LOCK_SHARE * deadline_s, watch=is_over):
            start_update(path, root)
    except OutOfTimeError:
        start_update(path, root)
    except (*DAMAGE, OSError) as error:
        if not is_busy(error, path) and _is_small(root):
            return _index_in_memory(root, environ)
    else:
        return _open_existing(path, root, environ, deadline_s)
    return _mark_behind(_open_existing(path, root, environ, deadline_s))


def _index_in_memory(root: str, environ: Mapping[str, str]) -> Index:
    from engine.stores.roots import read_corpus

    accepts, phrases = _acceptance_rule(root, environ), _phrases_of(root, environ).read()
    return index_of(read_corpus(root), is_accepted=accepts, phrases=phrases)


def _acceptance_rule(root: str, environ: Mapping[str, str]) -> Callable[[MemorySummary], bool]:
    """Whether a risky memory of *root* may be injected. The decisions are read when a prompt finds such a memory."""

    def is_accepted(memory: MemorySummary) -> bool:
        from engine.quality.decisions import may_be_injected, verdict_on
        from engine.settings.roots import is_own_root

        verdict = verdict_on(root, memory.id, memory.digest, environ)
        return may_be_injected(memory.risk, verdict, is_own=is_own_root(root, environ))

    return is_accepted


def _loading_rule(root: str, environ: Mapping[str, str]) -> Callable[[MemorySummary], bool]:
    """Whether Claude Code loads a memory of *root* by itself: instructions, and its own MEMORY.md."""

    def is_loaded(memory: MemorySummary) -> bool:
        from engine.agents.claude_code.auto_memory import client_loads
        from engine.agents.registry import default_agent
        from engine.stores.registry import NOTES_LIST

        is_list = os.path.basename(memory.file) == NOTES_LIST
        return client_loads(root, environ) if is_list else default_agent().loads_file(memory.file, "", environ)

    return is_loaded


def _open_existing(path: str, root: str, environ: Mapping[str, str], deadline_s: float) -> Index | None:
    """The index at *path* for the hook; None if it cannot be used."""
    wait_s = LOCK_SHARE * deadline_s

    def recover(error: Exception) -> Index:
        from engine.search.sync import discard, is_damage

        if is_damage(error):
            discard(path)
            start_update(path, root)
        return empty_index(root)

    def renew(index: Index, names: set[bytes]) -> Index | None:
        if index.count_in(names) > MOST_PARTS:
            start_update(path, root)
            _mark_behind(index)
            return None
        try:
            if _update(path, root, environ, wait_s=wait_s, only=names):
                start_update(path, root)
        except (*DAMAGE, OSError):
            return _index_in_memory(root, environ) if _is_small(root) else None
        return _open_existing(path, root, environ, deadline_s)

    try:
        return _open(path, root, environ, min(BUSY_SECONDS, wait_s), recover=recover, renew=renew)
    except DAMAGE:
        return None


def _open(path: str, root: str, environ: Mapping[str, str], wait_s: float = BUSY_SECONDS, **rules: Any) -> Index:
    """The index at *path*, with *rules* of `Index`. Raises one of DAMAGE."""
    if not is_openable(path):
        raise DatabaseError("the index is no file")
    db = for_reading(path, wait_s=wait_s)
    try:
        check(db, root)
        index = Index(db, root, scan=make_scan(path), **rules)
        index.is_accepted, index.is_loaded = _acceptance_rule(root, environ), _loading_rule(root, environ)
        return index
    except DAMAGE:
        db.close()
        raise
