"""The memories that each Claude Code session was given already, so that the hook does not repeat itself.

A memory counts as given while the conversation holds the prompt that it was given with. A `/compact` and a `/rewind`
take prompts out of it, and another program can block a prompt. The transcript tells; of a `/rewind`, it tells only once
the next prompt was sent.

The files lie in 256 folders. A new session removes old files in its own folder only, so it never reads a long list.

Where several settings run the hook, a file in the folder `answered` says which prompt one of them answers already.
"""

from __future__ import annotations

import os
import time

from engine.lean.json_text import dumps, loads
from engine.lean.sha256 import hex_digest
from engine.retrieval import Session, memory_key
from engine.stores.files import open_private, read_regular, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.retrieval import Candidate

MAX_AGE_S = 30 * 86400
"""Age at which the file of a session is removed."""

MAX_BYTES = 10_000_000
"""A larger file is not one of ours: a memory takes some 300 bytes."""

SAME_PROMPT_S, SAME_TEXT_S = 60.0, 2.0
"""For how long a prompt counts as answered. Without the id of a prompt, a person may send the same text again."""


def load_session(folder: str, session_id: str, living: Callable[[], frozenset[str] | None]) -> Session:
    """The session as saved. Without an id, or if the file cannot be read, it has no memories.

    *living* gives the prompts that the conversation holds; None if that is not known: then all that was given counts.
    """
    given = _read(folder, session_id) if session_id else None
    if not given:
        return Session(is_new=given is None)
    names = living()
    held = {name: row for name, row in given.items() if names is None or not names.isdisjoint(row[1:])}
    return Session({name: row[0] for name, row in held.items()}, held, is_new=False)


def save_session(
    folder: str, session_id: str, session: Session, added: tuple[Candidate, ...], prompt: tuple[str, str] = ("", "")
) -> None:
    """Add the memories of *added*, given with *prompt* (its id and hash). OSError is ignored: one may be repeated."""
    if not session_id or not added:
        return
    given = {**session.given, **{memory_key(found.memory): (found.memory.digest, *prompt) for found in added}}
    path = _path(folder, session_id)
    try:
        write_whole(path, dumps({"given": given}).encode(), lasts=False)
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


def _prune(folder: str, oldest: float) -> None:
    """Remove the files that were last written before *oldest* (seconds since the epoch)."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)


def _read(folder: str, session_id: str) -> dict[str, tuple[str, str, str]] | None:
    """The key of a memory -> its digest, and the id and hash of the prompt that it was given with."""
    try:
        content = loads(read_regular(_path(folder, session_id), MAX_BYTES).decode("utf-8"))
        return {str(name): (str(a), str(b), str(c)) for name, (a, b, c) in content["given"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _path(folder: str, session_id: str) -> str:
    """The file of a session. Its name is a hash, because a session id may hold slashes and dots."""
    name = hex_digest(session_id)[:32]
    return os.path.join(folder, "sessions", name[:2], f"{name[2:]}.json")
