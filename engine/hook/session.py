"""The memories that each Claude Code session was given already, so that the hook does not repeat itself.

A `/compact` removes injected text from the conversation but keeps the session id. So the session starts over when its
transcript shows a compaction since the last prompt. The file of a session says how far the transcript was read.

The files lie in 256 folders. A new session removes old files in its own folder only, so it never reads a long list.

Where several settings run the hook, a file in the folder `answered` says which prompt one of them answers already.
"""

from __future__ import annotations

import os
import time

from engine.lean.json_text import dumps, loads
from engine.lean.record import Record
from engine.lean.sha256 import hex_digest
from engine.stores.files import open_private, open_regular, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

    from engine.retrieval import Candidate

MAX_AGE_S = 30 * 86400
"""Age at which the file of a session is removed."""

MAX_BYTES = 10_000_000
"""A larger file is not one of ours: a memory takes 100 bytes."""

SAME_PROMPT_S, SAME_TEXT_S = 60.0, 2.0
"""For how long a prompt counts as answered. Without the id of a prompt, a person may send the same text again."""

WORTH_REMEMBERING_BYTES = 1_000_000
"""Growth of a transcript from which on its position is saved even if nothing was injected."""

_BOUNDARY = b'"compact_boundary"'
_BOUNDARIES = (b'"subtype":' + _BOUNDARY, b'"subtype": ' + _BOUNDARY)
_BLOCK_BYTES = 1 << 20


class Session(Record):
    """`injected`: memory id -> digest of its content at that time.

    `transcript_bytes` is how far the transcript was searched for a compaction, `scanned_bytes` the part of it that
    was searched now.
    """

    injected: Mapping[str, str]
    transcript_bytes: int = 0
    scanned_bytes: int = 0
    is_new: bool = True


def load_session(folder: str, session_id: str, transcript_path: str = "") -> Session:
    """The session as saved. Without an id, after a compaction, or if the file cannot be read, it has no memories."""
    known = _read(folder, session_id) if session_id else None
    if known is None:
        return Session({}, transcript_size(transcript_path) if transcript_path else 0)
    if not transcript_path:
        return known
    is_over, position = compacted(transcript_path, known.transcript_bytes)
    scanned = abs(position - known.transcript_bytes)
    return Session({} if is_over else known.injected, position, scanned, is_new=False)


def save_session(folder: str, session_id: str, session: Session, added: tuple[Candidate, ...]) -> None:
    """Add the memories of *added*. OSError is ignored: in the worst case a memory is repeated."""
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


def is_first(folder: str, session_id: str, prompt_id: str, prompt_sha256: str) -> bool:
    """Whether no other process answers this prompt; this one does from now on.

    The client starts all entries of its settings at the same time, so the first to make the prompt's file answers.
    Without a session, or a folder that can be written, nothing is known of others.
    """
    if not session_id:
        return True
    path = os.path.join(folder, "sessions", "answered", hex_digest(f"{session_id}\0{prompt_id}\0{prompt_sha256}")[:32])
    try:  # noqa: SIM105 - contextlib is slow to load
        _prune(os.path.dirname(path), time.time() - (SAME_PROMPT_S if prompt_id else SAME_TEXT_S))
    except OSError:
        pass
    try:
        os.close(open_private(path, os.O_WRONLY | os.O_EXCL))
    except FileExistsError:
        return False
    except OSError:
        pass
    return True


def transcript_size(transcript_path: str) -> int:
    """Size in bytes; 0 for a transcript that does not exist."""
    try:
        return os.stat(transcript_path).st_size
    except (OSError, ValueError):
        return 0


def compacted(transcript_path: str, start: int) -> tuple[bool, int]:
    """Whether the conversation was compacted after byte *start* of its file, and the *start* for the next time.

    Bytes are searched, rows are not parsed. A file that became shorter holds another conversation and counts as
    compacted. A missing file, or a device, gives (False, *start*).
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
    """Remove the files that were last written before *oldest* (seconds since the epoch)."""
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
    """Write a file aside and rename it, so that no other process reads half of it. Raises OSError."""
    temporary = f"{path}.{os.getpid()}"
    descriptor = open_private(temporary, os.O_WRONLY | os.O_TRUNC)
    try:
        if os.write(descriptor, text.encode()) < len(text):
            raise OSError("the disk is full")
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
    finally:
        os.close(descriptor)


def _path(folder: str, session_id: str) -> str:
    """The file of a session. Its name is a hash, because a session id may hold slashes and dots."""
    name = hex_digest(session_id)[:32]
    return os.path.join(folder, "sessions", name[:2], f"{name[2:]}.json")


def _scan(file: BinaryIO, start: int) -> tuple[bool, int]:
    """Whether a boundary follows, and the byte where the next scan begins: before a row that is only half written."""
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
