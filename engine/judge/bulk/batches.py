"""The batches that were submitted and not yet done with, so that a process that died is gone on with by the next."""

from __future__ import annotations

import os

from engine.errors import ConfigError
from engine.lean.json_text import dumps, loads
from engine.paths import cache_dir
from engine.search.lock import BusyError, Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    Entries = dict[str, frozenset[str]]

WAIT_S = 5.0


def batches_file(environ: Mapping[str, str]) -> str:
    return os.path.join(cache_dir(environ), "batches.jsonl")


class Ledger:
    """Batch ids and the names of their requests, as JSON lines at *path*. Safe for processes.

    Raises ConfigError where it cannot be written: a batch that is not in it would be paid for twice.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def pending(self) -> dict[str, frozenset[str]]:
        """The names of the requests of each batch, oldest first. A line that cannot be read is left out."""
        try:
            with open(self._path, encoding="utf-8") as lines:
                return dict(filter(None, map(_entry, lines)))
        except OSError:
            return {}

    def add(self, batch_id: str, names: Iterable[str]) -> None:
        self._change(lambda entries: {**entries, batch_id: frozenset(names)})

    def forget(self, batch_ids: Collection[str]) -> None:
        self._change(lambda entries: {one: names for one, names in entries.items() if one not in batch_ids})

    def check(self) -> None:
        """Raise ConfigError now rather than after something was submitted."""
        self._change(lambda entries: entries)

    def _change(self, change: Callable[[Entries], Entries]) -> None:
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            with Lock(f"{self._path}.lock", WAIT_S):
                text = "".join(map(_line, change(self.pending()).items()))
                with open(f"{self._path}.new", "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(f"{self._path}.new", self._path)
        except (OSError, BusyError) as error:
            raise ConfigError(
                f"{self._path} cannot be written ({type(error).__name__}), which --batch needs."
            ) from None


def _line(entry: tuple[str, frozenset[str]]) -> str:
    return f"{dumps({'id': entry[0], 'names': sorted(entry[1])})}\n"


def _entry(line: str) -> tuple[str, frozenset[str]] | None:
    try:
        entry = loads(line)
        return str(entry["id"]), frozenset(map(str, entry["names"]))
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
