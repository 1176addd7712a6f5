"""What the judge said, on disk: what was asked once in the same words is neither asked nor paid for again.

One SQLite file for all roots. It is derived data: a file that is damaged or not ours is made anew, and where it cannot
be read or written the judge is asked as if there were none.
"""

from __future__ import annotations

import os
from _thread import allocate_lock

from engine.judge.outcome import Outcome
from engine.judge.verdict import CACHE, DECISIONS, OK, Opinion
from engine.lean.json_text import dumps, loads
from engine.lean.sha256 import hex_digest
from engine.lean.sqlite import BUSY_SECONDS, DAMAGE, DatabaseError, for_reading, for_writing
from engine.paths import cache_dir
from engine.search.lock import BusyError, Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeVar

    from engine.judge.provider import Provider, Question
    from engine.lean.sqlite import Connection

    T = TypeVar("T")

APPLICATION, FORMAT = 0x6D736A63, 1
"""What a file says of itself in SQLite's header: that it is ours, and how its table is laid out."""

TABLE = f"""
begin immediate;
create table answer(key text primary key, opinions text not null) without rowid;
pragma application_id={APPLICATION};
pragma user_version={FORMAT};
commit;
"""

MAX_BYTES = 256 * 1024 * 1024
"""Above this, half of the answers make way when a process opens the cache: about 600,000 have come together then."""

PATIENCE = 3
"""Refusals of the database, each after BUSY_SECONDS at worst, before a process stops to read or to write it."""


def cache_file(environ: Mapping[str, str]) -> str:
    return os.path.join(cache_dir(environ), "judge.db")


def cache_key(provider: Provider, template_hash: str, question: Question, sample: int, digests: Sequence[str]) -> str:
    """64 hex digits over everything that an answer depends on.

    The request's text holds prompt, turns and candidates as they are sent; *digests* are those of the candidates in the
    same order, so that a memory whose text changed is asked about again. No temperature is ever sent.
    """
    who = [provider.name, provider.fingerprint, provider.model]
    how = [template_hash, question.max_tokens, sample]
    return hex_digest(dumps([*who, *how, question.user, list(digests)]))


class Cache:
    """The cache at *path*, opened when it is first used. Safe for threads and processes. Never raises.

    *refresh*: what it holds is not read, but replaced. It may come to hold more than *max_bytes* while it is open.
    """

    def __init__(self, path: str, *, refresh: bool = False, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._refresh = refresh
        self._lock = allocate_lock()
        self._db: Connection | None = None
        self._refusals = {"read": PATIENCE if refresh else 0, "write": 0}

    def outcome(self, key: str, shown: tuple[int, ...], ask: Callable[[], Outcome]) -> Outcome:
        """What is kept under *key* about the positions *shown*, in their order; else what *ask* comes to.

        An answer is kept, an error never is.
        """
        said = self._try("read", lambda db: _read(db, key, len(shown)))
        if said:
            return Outcome(OK, opinions=dict(zip(shown, said, strict=True)), source=CACHE)
        outcome = ask()
        if outcome.status == OK:
            text = _text(outcome.opinions[position] for position in shown)
            self._try("write", lambda db: _write(db, key, text, replace=self._refresh))
        return outcome

    def close(self) -> None:
        with self._lock:
            self._close()

    def _try(self, kind: str, work: Callable[[Connection], T]) -> T | None:
        """What *work* gives, with a new file in place of one that turns out damaged; None where it cannot be done."""
        with self._lock:
            for is_suspect in (False, True):
                try:
                    if self._refusals[kind] < PATIENCE:
                        self._db = self._db or _opened(self._path, self._max_bytes, is_suspect=is_suspect)
                        return work(self._db)
                except (*DAMAGE, OSError, BusyError) as error:
                    if type(error) is not DatabaseError:  # its subclasses mean locked, full or not writable
                        self._refusals[kind] += 1
                        return None
                    self._close()
        return None

    def _close(self) -> None:
        db, self._db = self._db, None
        if db:
            db.close()


def _read(db: Connection, key: str, count: int) -> list[Opinion] | None:
    row = db.execute("select opinions from answer where key = ?", (key,)).fetchone()
    try:
        opinions = [Opinion(*each) for each in loads(row[0])] if row else []
    except (ValueError, TypeError, RecursionError):
        return None
    is_whole = len(opinions) == count and all(one.decision in DECISIONS for one in opinions)
    return opinions if is_whole else None


def _write(db: Connection, key: str, text: str, *, replace: bool) -> None:
    db.execute(f"insert or {'replace' if replace else 'ignore'} into answer values (?, ?)", (key, text))


def _text(opinions: Iterable[Opinion]) -> str:
    return dumps([[one.decision, one.confidence, one.reasoning] for one in opinions])


def _opened(path: str, max_bytes: int, *, is_suspect: bool) -> Connection:
    """The database at *path*, made anew unless it is ours and, if *is_suspect*, whole. Raises DatabaseError, OSError or
    BusyError."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        _make_folder(folder)
    if not os.access(folder, os.W_OK):
        return for_reading(path, immutable=True)
    with Lock(f"{path}.lock", BUSY_SECONDS):
        found = _existing(path, is_suspect=is_suspect)
        if found is None:
            _discard(path)
            found = _made(path)
        found.execute("pragma synchronous=off")  # an answer outlives the process that wrote it, if not a power cut
        if os.stat(path).st_size > max_bytes:
            _forget_half(found)
        return found


def _forget_half(db: Connection) -> None:
    """A random half: nobody keeps note of when an answer was asked for. Where it cannot be done now, it waits."""
    try:
        db.execute("delete from answer where random() < 0")
        db.execute("vacuum")
    except DAMAGE as error:
        if type(error) is DatabaseError:
            db.close()
            raise


def _make_folder(folder: str) -> None:
    from os import makedirs

    makedirs(folder, exist_ok=True)


def _existing(path: str, *, is_suspect: bool) -> Connection | None:
    """The database that is there, if it is ours and can be read."""
    if not os.path.exists(path):
        return None
    db = None
    try:
        db = for_writing(path)
        said = (db.execute("pragma application_id").fetchone()[0], db.execute("pragma user_version").fetchone()[0])
        is_ours = said == (APPLICATION, FORMAT)
        if is_ours and (not is_suspect or db.execute("pragma quick_check").fetchone()[0] == "ok"):
            return db
    except DAMAGE as error:
        if type(error) is not DatabaseError:
            if db:
                db.close()
            raise
    if db:
        db.close()
    return None


def _made(path: str) -> Connection:
    db = for_writing(path)
    try:
        db.executescript(TABLE)
        os.chmod(path, 0o600)  # a judge's reasons quote memories
    except (*DAMAGE, OSError):
        db.close()
        raise
    return db


def _discard(path: str) -> None:
    for name in (path, f"{path}-journal", f"{path}-wal", f"{path}-shm"):
        if os.path.lexists(name):
            os.unlink(name)
