"""A SQLite file of the user's own data: opened, changed and explained in one way."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engine.stores.files import has_locks, make_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from engine.errors import MemsiftError

BUSY_SECONDS = 10.0
"""How long to wait for another process that writes the file."""

NO_LOCKS = "its file system has no locks, so two programs could spoil it"


class PrivateDatabase:
    """The file at *path*, for its owner alone. Close it after use. Threads may use it one at a time.

    *make* makes the tables that are missing. *explained* gives the error for people, from an error of SQLite or of the
    disk. Every method raises it.
    """

    def __init__(
        self, path: str, make: Callable[[sqlite3.Connection], object], explained: Callable[[Exception], MemsiftError]
    ) -> None:
        self._explained = explained
        with self._explaining():
            if not has_locks(os.path.dirname(path)):  # asked first: an empty file would count as a damaged one
                raise OSError(NO_LOCKS)
            make_private(path)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            try:
                make(self._db)
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        self._db.close()

    def rows(self, sql: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        """The rows that a query finds."""
        with self._explaining():
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction. It is undone if an exception ends it."""
        with self._explaining():
            self._db.execute("begin immediate")
            try:
                yield self._db
                self._db.execute("commit")
            except BaseException:
                if self._db.in_transaction:  # a commit that a full disk refuses may leave it open
                    self._db.execute("rollback")
                raise

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise self._explained(error) from None


def storable(value: Any) -> Any:
    """*value* as SQLite can hold it: lone surrogates, which transcripts do contain, become question marks."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
