"""The hook's log: a line of JSON per decision, in the root's state folder.

A process that the deadline's alarm ends cannot write its line. So each process leaves a line in `sessions/unfinished`
before it searches, in a file with the time of the alarm in its name. A process that ends by itself removes its line. A
line that is left after that time is moved into the log by the next start of the hook.
"""

from __future__ import annotations

import os
import time

from engine.lean.json_text import dumps
from engine.lean.record import fields
from engine.stores.files import open_private, read_regular, remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.retrieval import Retrieval

LOG_FILE = "activity.jsonl"
MAX_LOG_BYTES = 20_000_000
MAX_REASON = 500
LOGGED = ("provider", "model", "depth", "template_hash", "status", "input_tokens", "output_tokens", "cost_usd")
"""Fields of a judgement."""

NOTHING_FOUND, ALL_DROPPED = "nothing matched", "every candidate was dropped"
NO_INDEX = "no index yet"
NOTHING_IN_OLD = "nothing matched in an index that is behind the files"
ENDED = "ended by the alarm, or by another program"
"""The reason in a line that a process left and did not take away."""

UNFINISHED = os.path.join("sessions", "unfinished")


class Activity:
    """The log's line about one decision, filled in while the decision is made. *clock* is in seconds."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._started = self._last = clock()
        self._row: dict[str, object] = {"injected": []}
        self._stages: dict[str, float] = {}
        self._left = ""

    def stage(self, name: str) -> None:
        """End the stage *name*: the time since the last call belongs to it."""
        now = self._clock()
        self._stages[name] = round((now - self._last) * 1000, 2)
        self._last = now

    def elapsed_s(self) -> float:
        return self._clock() - self._started

    def note(self, **fields: object) -> None:
        """Add fields to the line."""
        self._row |= fields

    def note_retrieval(self, retrieval: Retrieval, characters: int, nothing: str = NOTHING_FOUND) -> None:
        """Add the injected memories, and the stage that dropped each of the others. *nothing*: why there are none."""
        self.note(
            system=retrieval.system,
            injected=[candidate.memory.id for candidate in retrieval.injected],
            candidates=[
                {"id": candidate.memory.id, "score": round(candidate.score, 4), "dropped_by": candidate.dropped_by}
                for candidate in retrieval.candidates
            ],
            fallback=retrieval.fallback,
            characters=characters,
        )
        if judgement := retrieval.judgement:
            logged = {name: value for name, value in fields(judgement).items() if name in LOGGED}
            self.note(judge={**logged, "ms": round(judgement.elapsed_ms, 1)})
        if not characters:
            self.note_reason(ALL_DROPPED if retrieval.candidates else nothing)

    def note_reason(self, reason: str) -> None:
        """Add the reason why nothing was injected: the prompt was skipped, or something failed."""
        self.note(reason=reason[:MAX_REASON])

    def leave(self, folder: str, seconds: float) -> None:
        """Leave the line for the next start of the hook, in case this process is ended within *seconds* from its start.

        OSError is ignored, as in `append`.
        """
        over_ms = 1 + int(1000 * (time.time() + max(0.0, seconds - self.elapsed_s())))
        path = os.path.join(folder, UNFINISHED, f"{over_ms}-{os.getpid()}")
        try:
            with open(path, "wb", opener=open_private) as file:
                file.write(self._line(None, seconds * 1000, reason=ENDED))
            self._left = path
        except OSError:
            pass

    def append(self, folder: str, at: float | None = None) -> None:
        """Write the line to the log in *folder*. OSError is ignored: the answer matters more than the log.

        *at*: the time of the decision in seconds since 1970, by default now.
        """
        _append(folder, self._line(at, self.elapsed_s() * 1000))
        if self._left:
            try:  # noqa: SIM105 - contextlib is slow to load
                remove(self._left)
            except OSError:
                pass

    def _line(self, at: float | None, ms: float, **more: object) -> bytes:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        row = {"time": stamp, **self._row, **more, "stages_ms": self._stages, "ms": round(ms, 1)}
        return f"{dumps(row)}\n".encode()


def append_unfinished(folder: str) -> None:
    """Move the lines of processes that were ended into the log in *folder*. OSError is ignored."""
    place = os.path.join(folder, UNFINISHED)
    try:
        for name in os.listdir(place):
            over_ms, _, _ = name.partition("-")
            if over_ms.isdecimal() and int(over_ms) <= 1000 * time.time():
                path = os.path.join(place, name)
                line = read_regular(path, MAX_LOG_BYTES)
                os.unlink(path)
                _append(folder, line)
    except OSError:
        pass


def _append(folder: str, line: bytes) -> None:
    """Add a line by a single write, so that the lines of two processes never mix. OSError is ignored.

    A log that grew too large is renamed first.
    """
    path, flags = os.path.join(folder, LOG_FILE), os.O_RDWR | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = open_private(path, flags)
        if os.fstat(descriptor).st_size > MAX_LOG_BYTES:
            os.close(descriptor)
            os.replace(path, path + ".1")
            descriptor = open_private(path, flags)
        try:
            # A full disk may have cut the last line. Beside a line that another process is just writing, the line
            # break makes an empty line, which does no harm.
            size = os.fstat(descriptor).st_size
            is_cut = size and os.pread(descriptor, 1, size - 1) != b"\n"
            os.write(descriptor, b"\n" + line if is_cut else line)
        finally:
            os.close(descriptor)
    except OSError:
        pass
