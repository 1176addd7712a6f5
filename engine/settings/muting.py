"""Muting: a person lets the hook inject nothing for a while, in one session or in all. The root's state holds it."""

from __future__ import annotations

import time

from engine.lean.json_text import dumps, loads
from engine.paths import mute_file
from engine.stores.files import read_regular, remove, write_whole

MAX_BYTES = 10_000
EVERY_SESSION = ""
SESSION_S = 30 * 86400
"""For how long a session is muted: it will be over by then."""


def mute(folder: str, until: float, session_id: str = EVERY_SESSION) -> None:
    """Let the hook inject nothing in a session until *until* (seconds since 1970). Raises OSError."""
    write_whole(mute_file(folder), dumps({"until": until, "session": session_id}).encode())


def unmute(folder: str) -> None:
    """Let the hook inject memories again. Raises OSError."""
    remove(mute_file(folder))


def muted_session(folder: str, now: float) -> str | None:
    """The id of the session that is muted, or EVERY_SESSION; None if none is. A file that is not ours mutes nothing."""
    try:
        row = loads(read_regular(mute_file(folder), MAX_BYTES).decode("utf-8"))
        return str(row["session"]) if now < float(row["until"]) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def is_muted(folder: str, session_id: str) -> bool:
    """Whether the hook injects nothing in this session now."""
    return muted_session(folder, time.time()) in (EVERY_SESSION, session_id)
