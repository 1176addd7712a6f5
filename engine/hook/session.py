"""What each Claude Code session was given already, so that the hook does not repeat itself.

A `/compact` drops injected text but keeps the session id, so one that happened since starts the session over. The file
of a session remembers how much of the transcript was looked through: a long session is not read again at every prompt.

The files lie in 256 folders, and a session that begins removes the old ones in its own: to look at a thousand files
takes 3 ms, and who runs many sessions has 50,000 in a month.
"""

from __future__ import annotations

import os
import time

from engine.lean.json_text import dumps, loads
from engine.lean.record import Record
from engine.lean.sha256 import hex_digest
from engine.stores.files import open_regular, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

    from engine.retrieval import Candidate

MAX_AGE_S = 30 * 86400
"""Age at which the file of a session is removed."""

MAX_BYTES = 10_000_000
"""A session's file beyond this is none of ours: an entry is 100 bytes."""

WORTH_REMEMBERING_BYTES = 1_000_000
"""Growth of a transcript that is remembered even if nothing was injected: scanning it again would cost 0.7 ms."""

_BOUNDARY = b'"compact_boundary"'
_BOUNDARIES = (b'"subtype":' + _BOUNDARY, b'"subtype": ' + _BOUNDARY)
_BLOCK_BYTES = 1 << 20


class Session(Record):
    """What a session was given already: memory id -> digest of what it said then.

    `transcript_bytes` of its transcript were looked through for a compaction, `scanned_bytes` of them just now.
    """

    injected: Mapping[str, str]
    transcript_bytes: int = 0
    scanned_bytes: int = 0
    is_new: bool = True


def load_session(folder: str, session_id: str, transcript_path: str = "") -> Session:
    """The session's memories; none without an id, for a new session, after a compaction, or if it cannot be read."""
    known = _read(folder, session_id) if session_id else None
    if known is None:
        return Session({}, transcript_size(transcript_path) if transcript_path else 0)
    if not transcript_path:
        return known
    is_over, position = compacted(transcript_path, known.transcript_bytes)
    scanned = abs(position - known.transcript_bytes)
    return Session({} if is_over else known.injected, position, scanned, is_new=False)


def save_session(folder: str, session_id: str, session: Session, added: tuple[Candidate, ...]) -> None:
    """Add what was injected now; OSError is swallowed: the worst case is a repetition."""
    if not session_id or not (added or session.scanned_bytes > WORTH_REMEMBERING_BYTES):
        return
    injected = {**session.injected, **{one.memory.id: one.memory.digest for one in added}}
    text = dumps({"transcript_bytes": session.transcript_bytes, "injected": injected})
    path = _path(folder, session_id)
    try:
        _write(path, text)
        if session.is_new:
            _prune(os.path.dirname(path), time.time() - MAX_AGE_S)
    except OSError:
        pass


def transcript_size(transcript_path: str) -> int:
    """Bytes of a transcript; 0 for one that is not there."""
    try:
        return os.stat(transcript_path).st_size
    except (OSError, ValueError):
        return 0


def compacted(transcript_path: str, start: int) -> tuple[bool, int]:
    """Whether the conversation was compacted after byte *start* of its file, and the *start* for the next time.

    Scans bytes and parses nothing, at about 0.7 ms per MB. A file that became shorter holds another conversation, and
    counts as compacted; one that is not there, or no regular file, says nothing: (False, *start*).
    """
    try:
        with open_regular(transcript_path) as file:
            size = file.seek(0, os.SEEK_END)
            if size < start:
                return True, size
            file.seek(start)
            return _scan(file, start)
    except (OSError, ValueError):
        return False, start


def _prune(folder: str, oldest: float) -> None:
    """Remove the files of sessions last given something before *oldest* (seconds since the epoch)."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)


def _read(folder: str, session_id: str) -> Session | None:
    try:
        content = loads(read_regular(_path(folder, session_id), MAX_BYTES).decode("utf-8"))
        injected = {str(key): str(value) for key, value in content["injected"].items()}
        return Session(injected, max(0, int(content["transcript_bytes"])), is_new=False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _write(path: str, text: str) -> None:
    """Written aside and renamed, so that nobody reads half of it."""
    temporary = f"{path}.{os.getpid()}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except FileNotFoundError:
        _make_folder(os.path.dirname(path))
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if os.write(descriptor, text.encode()) < len(text):
            raise OSError("the disk is full")
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
    finally:
        os.close(descriptor)


def _make_folder(path: str) -> None:
    """Once for each of the 256; the folders above it, which take 1.5 ms more, are made for the first one alone."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        os.makedirs(path, mode=0o700, exist_ok=True)


def _path(folder: str, session_id: str) -> str:
    """A file name that no session id can lead elsewhere with."""
    name = hex_digest(session_id)[:32]
    return os.path.join(folder, "sessions", name[:2], f"{name[2:]}.json")


def _scan(file: BinaryIO, start: int) -> tuple[bool, int]:
    """Whether a boundary follows, and where the next scan must begin to see one that is half written now."""
    is_found, rest, end = False, b"", start
    while block := file.read(_BLOCK_BYTES):
        data, end = rest + block, end + len(block)
        last = max(_end_of(mark, data) for mark in _BOUNDARIES) if _BOUNDARY in data else 0
        is_found = is_found or last > 0
        rest = data[max(last, len(data) - len(_BOUNDARIES[-1]) + 1) :]
    return is_found, end - len(rest)


def _end_of(mark: bytes, data: bytes) -> int:
    position = data.rfind(mark)
    return position + len(mark) if position >= 0 else 0
