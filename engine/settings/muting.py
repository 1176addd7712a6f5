"""Muting: a person lets the hook inject nothing for a while, in one session or in all. The root's state holds it."""

from __future__ import annotations

import os
import time

from engine.lean.json_text import dumps, loads
from engine.stores.files import read_regular, remove, write_whole

MUTE_FILE = "muted.json"
MAX_BYTES = 10_000
EVERY_SESSION = ""
SESSION_S = 30 * 86400
"""For how long a session is muted: it will be over by then."""


def mute(folder: str, until: float, session_id: str = EVERY_SESSION) -> None:
    """Let the hook inject nothing in a session until *until* (seconds since 1970). Raises OSError."""
    write_whole(os.path.join(folder, MUTE_FILE), dumps({"until": until, "session": session_id}).encode())


def unmute(folder: str) -> None:
    """Let the hook inject memories again. Raises OSError."""
    remove(os.path.join(folder, MUTE_FILE))


def muted_session(folder: str, now: float) -> str | None:
    """The id of the session that is muted, or EVERY_SESSION; None if none is. A file that is not ours mutes nothing."""
    try:
        row = loads(read_regular(os.path.join(folder, MUTE_FILE), MAX_BYTES).decode("utf-8"))
        return str(row["session"]) if now < float(row["until"]) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def is_muted(folder: str, session_id: str) -> bool:
    """Whether the hook injects nothing in this session now."""
    return muted_session(folder, time.time()) in (EVERY_SESSION, session_id)
