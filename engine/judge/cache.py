"""The judge's answers on disk: a question in the same words is neither asked nor paid for again.

One SQLite file for all roots. It is derived data: a file that is damaged or foreign is replaced. Where it cannot be
read or written, the judge is asked as if there were none. The hook has no cache, so this may load `sqlite3`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from engine.lean.sha256 import hex_digest
from engine.paths import cache_dir
from engine.stores.files import make_folder, make_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from engine.judge.provider import Provider, Question

    T = TypeVar("T")

APPLICATION, FORMAT = 0x6D736A63, 1
"""The marks of our files in SQLite's header: whose file it is, and how its table is laid out."""

TABLE = "create table answer(key text primary key, opinions text not null) without rowid"
MADE = f"begin immediate; {TABLE}; pragma application_id={APPLICATION}; pragma user_version={FORMAT}; commit;"

MAX_BYTES = 256 * 1024 * 1024
"""A larger file, of about 600,000 answers, loses half of them when a process opens it."""

BUSY_SECONDS = 2.0
MAX_FAILURES = 3
"""After MAX_FAILURES failures to read, or to write, a process leaves the database alone."""


def cache_file(environ: Mapping[str, str]) -> str:
    return os.path.join(cache_dir(environ), "judge.db")


def cache_key(provider: Provider, template_hash: str, question: Question, sample: int, digests: Sequence[str]) -> str:
    """64 hex digits over everything that an answer depends on.

    The request's text holds prompt, turns and candidates as they are sent. *digests* are those of the candidates in the
    same order: a memory with another text is another question.
    """
    who = [provider.name, provider.fingerprint, provider.model]
    how: list[object] = [template_hash, question.max_tokens, sample]
    if question.temperature is not None:
        how.append(question.temperature)
    return hex_digest(json.dumps([*who, *how, question.user, list(digests)]))


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock file at *path* against other processes. SQLite frees it when this process ends.

    Raises OperationalError if it is not free within BUSY_SECONDS, and OSError if it cannot be made.
    """
    make_private(path)
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as lock:
        lock.execute("begin exclusive")
        yield


class Cache:
    """The cache at *path*, opened at its first use. Safe for threads and processes. Never raises.

    With *refresh* its answers are not read but replaced. It may grow over *max_bytes* while it is open. An answer
    that comes after `close` is kept, too: the file is opened for it alone.
    """

    def __init__(self, path: str, *, refresh: bool = False, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._refresh = refresh
        self._lock = Lock()
        self._db: sqlite3.Connection | None = None
        self._is_closed = False
        self._failures = {"read": MAX_FAILURES if refresh else 0, "write": 0}

    def text(self, key: str) -> str | None:
        """The text under *key*, if there is one."""
        row = self._try("read", lambda db: db.execute("select opinions from answer where key = ?", (key,)).fetchone())
        return str(row[0]) if row else None

    def keep(self, key: str, text: str) -> None:
        """Keep *text* under *key*. An earlier text stays, unless the cache is refreshed."""
        sql = f"insert or {'replace' if self._refresh else 'ignore'} into answer values (?, ?)"
        self._try("write", lambda db: db.execute(sql, (key, text)))

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._close()

    def _try(self, kind: str, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """The result of *work*, on a new file if the old one proves damaged; None where it cannot be done."""
        with self._lock:
            for is_suspect in (False, True):
                try:
                    if self._failures[kind] < MAX_FAILURES:
                        self._db = self._db or _opened(self._path, self._max_bytes, is_suspect=is_suspect)
                        return work(self._db)
                except (sqlite3.OperationalError, OSError):  # locked, full or not writable
                    self._failures[kind] += 1
                    return None
                except sqlite3.DatabaseError:
                    self._close()
                finally:
                    if self._is_closed:
                        self._close()
        return None

    def _close(self) -> None:
        db, self._db = self._db, None
        if db:
            db.close()


def _opened(path: str, max_bytes: int, *, is_suspect: bool) -> sqlite3.Connection:
    """The database at *path*, replaced unless it is ours and, if *is_suspect*, whole. Raises DatabaseError or
    OSError."""
    folder = os.path.dirname(path)
    make_folder(folder)
    if not os.access(folder, os.W_OK):
        return _connected(f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    with locked(f"{path}.lock"):
        make_private(path)  # a judge's reasons quote memories
        if not _is_usable(path, is_suspect=is_suspect):
            _replace(path)
        if os.stat(path).st_size > max_bytes:  # a busy file keeps everything for now
            with closing(_connected(path)) as db, suppress(sqlite3.OperationalError):
                db.execute("delete from answer where random() < 0")  # a half, because no answer has a time
                db.execute("vacuum")
        db = _connected(path)
        try:
            db.execute("pragma synchronous=off")  # an answer outlives the process that wrote it, if not a power cut
        except sqlite3.Error:
            db.close()
            raise
        return db


def _connected(path: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=uri)


def _is_usable(path: str, *, is_suspect: bool) -> bool:
    if not os.path.exists(path):
        return False
    with closing(_connected(path)) as db:
        try:
            marks = [db.execute(f"pragma {name}").fetchone()[0] for name in ("application_id", "user_version")]
            is_ours = marks == [APPLICATION, FORMAT]
            return is_ours and (not is_suspect or db.execute("pragma quick_check").fetchone()[0] == "ok")
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            return False


def _replace(path: str) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(path + suffix)
    make_private(path)
    with closing(_connected(path)) as db:
        db.executescript(MADE)
