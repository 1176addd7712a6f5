"""Reading the hook's log: each decision, and what happened to each memory. Nothing here changes the ranking."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from engine.conversations.activity import LOG_FILE
from engine.lean.record import Record
from engine.lean.sha256 import hex_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from io import FileIO

    from engine.prompt import Prompt

SILENT, SLOW, FALLBACK = FILTERS = ("silent", "slow", "fallback")
"""Nothing was injected; it took SLOW_MS or more; the judge could not answer, or SQLite has no full-text search."""

SLOW_MS = 500.0


class LoggedPrompt(Record):
    """A line of the log. `prompt` is empty unless the user lets prompts be logged. `dropped`: (memory id, stage).

    `agent` is the one that the hook's command names; empty for the default.
    """

    time: str
    prompt_sha256: str
    prompt: str
    session_id: str
    system: str
    injected: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...]
    reason: str
    fallback: str
    characters: int
    ms: float
    agent: str = ""

    def is_of(self, kind: str) -> bool:
        """Whether one of FILTERS holds."""
        if kind == SLOW:
            return self.ms >= SLOW_MS
        return bool(self.fallback) if kind == FALLBACK else not self.injected


class Log(Record):
    """The decisions, oldest first, and the number of lines that could not be read."""

    decisions: tuple[LoggedPrompt, ...]
    broken: int = 0

    @property
    def prompts(self) -> int:
        """The decisions about prompts for which memories were looked for."""
        return sum(bool(decision.system) for decision in self.decisions)


class MemoryLedger(Record):
    """What the log says about a memory. `dropped` counts the stages that dropped it. Times are as in the log."""

    injected: int
    first: str
    last: str
    dropped: tuple[tuple[str, int], ...]


def read_log(*folders: str) -> Log:
    """The logs in state folders as one, with the parts that were renamed when they grew too large.

    An absent log is empty. The hook logs a decision over several roots once, in the folder of the first.
    """
    paths = [os.path.join(folder, name) for folder in folders for name in (f"{LOG_FILE}.1", LOG_FILE)]
    return _log((line for path in paths for line in _lines(path)), in_order=len(folders) < 2)


class LogTail:
    """The log in the state folder *folder* as it grows. A log that is not there yet is waited for."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, LOG_FILE)
        self._file: FileIO | None = None
        self._begun = b""

    def lines(self) -> Iterator[str]:
        """The lines since the last call, at first all. A line that is not yet written to its end comes later.

        The rest of a log that was renamed when it grew too large comes before the lines of its successor.
        """
        yield from self._unread()
        with contextlib.suppress(OSError):
            found, opened = os.stat(self._path), os.fstat(self._file.fileno()) if self._file else None
            is_same = self._file and opened and os.path.samestat(found, opened) and self._file.tell() <= found.st_size
            if not is_same:  # another file than the open one, or one that was cut
                self.close()
                self._file = open(self._path, "rb", buffering=0)  # noqa: SIM115 - stays open for the next call
                yield from self._unread()

    def close(self) -> None:
        if self._file:
            self._file.close()
        self._file, self._begun = None, b""

    def _unread(self) -> Iterator[str]:
        *whole, self._begun = (self._begun + (self._file.readall() if self._file else b"")).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in whole)


def new_decisions(tails: Sequence[LogTail]) -> Log:
    """The decisions that several logs got since the last call, oldest first."""
    return _log((line for tail in tails for line in tail.lines()), in_order=len(tails) < 2)


def ledger(memory_id: str, decisions: Iterable[LoggedPrompt]) -> MemoryLedger:
    """The ledger of one memory."""
    all_decisions = tuple(decisions)
    times = [decision.time for decision in all_decisions if memory_id in decision.injected]
    stages = Counter(stage for decision in all_decisions for name, stage in decision.dropped if name == memory_id)
    first, last = (times[0], times[-1]) if times else ("", "")
    return MemoryLedger(len(times), first, last, tuple(sorted(stages.items())))


def injections(decisions: Iterable[LoggedPrompt]) -> dict[str, int]:
    """Memory id -> how often it was injected."""
    return Counter(name for decision in decisions for name in decision.injected)


def last_injected(decisions: Sequence[LoggedPrompt], prompts: Iterable[Prompt]) -> Prompt | None:
    """The prompt of the newest decision that injected memories. The log knows it by its hash."""
    by_hash = {hex_digest(prompt.text): prompt for prompt in prompts}
    found = (by_hash.get(decision.prompt_sha256) for decision in reversed(decisions) if decision.injected)
    return next(filter(None, found), None)


def _log(lines: Iterable[str], *, in_order: bool) -> Log:
    decisions, broken = [], 0
    for line in lines:
        if decision := _decision(line):
            decisions.append(decision)
        else:
            broken += bool(line.strip())
    return Log(tuple(decisions if in_order else sorted(decisions, key=lambda decision: decision.time)), broken)


def _lines(path: str) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from file
    except OSError:
        return


def _decision(line: str) -> LoggedPrompt | None:
    """The decision in a line; None for a line that was cut or is not of the log."""
    try:
        row: Any = json.loads(line)
        candidates = row.get("candidates", [])
        names = ("prompt_sha256", "prompt", "session_id", "system", "reason", "fallback", "agent")
        return LoggedPrompt(
            time=str(row["time"]),
            injected=tuple(str(memory_id) for memory_id in row.get("injected", ())),
            dropped=tuple(
                (str(candidate["id"]), str(candidate["dropped_by"]))
                for candidate in candidates
                if candidate.get("dropped_by")
            ),
            characters=int(row.get("characters", 0)),
            ms=float(row.get("ms", 0.0)),
            **{name: str(row.get(name, "")) for name in names},
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
